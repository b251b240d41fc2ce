package io.firstclaim.processor.service.admin;

import io.micronaut.core.annotation.Introspected;
import jakarta.validation.constraints.NotBlank;
import org.jspecify.annotations.Nullable;

/**
 * The body of a release.
 *
 * @param reason why it is done
 * @param token the grant that is meant; null for whichever there is
 */
@Introspected
record ReleaseRequest(@NotBlank(message = Reason.REMEDY) String reason, @Nullable Long token) {}
