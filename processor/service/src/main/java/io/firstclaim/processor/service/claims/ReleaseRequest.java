package io.firstclaim.processor.service.claims;

import io.micronaut.core.annotation.Introspected;
import jakarta.validation.constraints.Size;
import org.jspecify.annotations.Nullable;

/**
 * The body of a release.
 *
 * @param retryAt when the next attempt is due, such as {@code 2026-11-23T12:00:00Z}; if missing, at
 *     once
 * @param cause why this one ended, for people
 */
@Introspected
record ReleaseRequest(
    @Nullable @Size(min = 1, max = 40, message = "give a time such as 2026-11-23T12:00:00Z")
        String retryAt,
    @Nullable @Size(max = 1000, message = "give 1000 characters at most") String cause) {
  static final ReleaseRequest PLAIN = new ReleaseRequest(null, null);
}
