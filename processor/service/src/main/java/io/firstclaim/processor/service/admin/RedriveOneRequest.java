package io.firstclaim.processor.service.admin;

import io.micronaut.core.annotation.Introspected;
import jakarta.validation.constraints.NotBlank;
import org.jspecify.annotations.Nullable;

/**
 * The body that begins a redrive of one record.
 *
 * @param reason why it is done
 * @param delay how long from now it is moved, such as {@code 10m}, at most 7 days; at once, if it
 *     is not given
 * @param mayBeDone whether it is moved although its claim is forgotten, as it is older than the
 *     retention: nobody knows whether it is done since
 */
@Introspected
record RedriveOneRequest(
    @NotBlank(message = Reason.REMEDY) String reason,
    @Nullable String delay,
    @Nullable Boolean mayBeDone) {
  /** The reason, in one line. */
  String reasonInOneLine() {
    return Reason.of(reason);
  }

  boolean isKnownNotToBeKnown() {
    return Boolean.TRUE.equals(mayBeDone);
  }
}
