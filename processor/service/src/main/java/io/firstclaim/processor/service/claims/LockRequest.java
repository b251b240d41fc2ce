package io.firstclaim.processor.service.claims;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.micronaut.core.annotation.Introspected;
import jakarta.validation.constraints.Size;
import org.jspecify.annotations.Nullable;

/**
 * The body of a request for a lock.
 *
 * @param lease how long it is to last, such as {@code 30s}; if missing, {@code
 *     firstclaim.claim.lease}
 * @param waitsFor how long to wait for it, such as {@code 10s}; if missing, not at all. No request
 *     waits longer than 25 s: it is answered 409 then, and may be sent again.
 * @param holder who takes it, for people; if missing, the caller's name
 */
@Introspected
record LockRequest(
    @Nullable @Size(min = 1, max = 40, message = "give a length such as 30s") String lease,
    @Nullable @Size(min = 1, max = 40, message = "give a length such as 10s") @JsonProperty("wait")
        String waitsFor,
    @Nullable @Size(min = 1, max = 256, message = "give 1 to 256 characters") String holder) {
  static final LockRequest PLAIN = new LockRequest(null, null, null);
}
