package io.firstclaim.processor.service.admin;

import io.firstclaim.processor.service.acts.ActMessage.Scope;
import io.micronaut.core.annotation.Introspected;
import jakarta.validation.constraints.NotBlank;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The body that pauses or resumes.
 *
 * @param reason why it is done
 * @param scope what is meant: {@code instance} (the one that is asked, if nothing is given), its
 *     {@code zone}, or the {@code application}
 */
@Introspected
record PauseRequest(@NotBlank(message = Reason.REMEDY) String reason, @Nullable String scope) {
  /** The reason, in one line. */
  String reasonInOneLine() {
    return Reason.of(reason);
  }

  /** The scope; empty for this instance. */
  Optional<Scope> wider() {
    return switch (scope) {
      case null -> Optional.empty();
      case "instance" -> Optional.empty();
      case "zone" -> Optional.of(Scope.ZONE);
      case "application" -> Optional.of(Scope.APPLICATION);
      default -> throw Problem.wrong("scope", scope, "give instance, zone or application");
    };
  }
}
