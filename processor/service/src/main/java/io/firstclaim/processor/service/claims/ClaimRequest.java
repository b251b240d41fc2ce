package io.firstclaim.processor.service.claims;

import io.micronaut.core.annotation.Introspected;
import jakarta.validation.constraints.NotEmpty;
import jakarta.validation.constraints.Size;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The body of a claim.
 *
 * @param lease how long it is to last, such as {@code 30s}; if missing, {@code
 *     firstclaim.claim.lease}
 * @param fingerprint of the payload, by which a duplicate is told from another of the same ID: the
 *     SHA-256 in 64 hex digits, or any other text
 * @param resources what is to be claimed with it, all or nothing
 * @param holder who claims, for people; if missing, the caller's name
 */
@Introspected
record ClaimRequest(
    @Nullable @Size(min = 1, max = 40, message = "give a length such as 30s") String lease,
    @Nullable
        @Size(min = 1, max = 256, message = "give 1 to 256 characters, such as a SHA-256 in hex")
        String fingerprint,
    @Nullable @Size(max = Handle.MAX_RESOURCES, message = "give 20 at most")
        List<@NotEmpty(message = "give names of 1 to 1024 bytes") String> resources,
    @Nullable @Size(min = 1, max = 256, message = "give 1 to 256 characters") String holder) {
  static final ClaimRequest PLAIN = new ClaimRequest(null, null, null, null);
}
