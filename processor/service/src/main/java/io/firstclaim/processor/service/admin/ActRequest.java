package io.firstclaim.processor.service.admin;

import io.micronaut.core.annotation.Introspected;
import jakarta.validation.constraints.NotBlank;

/**
 * The body of an act that needs nothing but a reason.
 *
 * @param reason why it is done
 */
@Introspected
record ActRequest(@NotBlank(message = Reason.REMEDY) String reason) {
  /** The reason, in one line. */
  String reasonInOneLine() {
    return Reason.of(reason);
  }
}
