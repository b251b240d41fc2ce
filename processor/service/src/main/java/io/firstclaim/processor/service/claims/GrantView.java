package io.firstclaim.processor.service.claims;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.RecordId;
import io.micronaut.core.annotation.Introspected;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A grant.
 *
 * @param handle to be shown with each step; opaque, and good for as long as the claim is held
 * @param token rises with every grant: a sink that remembers the highest can refuse a stale holder
 * @param lease how long it lasts: count nine tenths of it from before the request was sent
 * @param attempt how many attempts there have been, this one included; a lock has none
 * @param resourceTokens the token of each thing that was claimed with it
 */
@Introspected
@JsonInclude(JsonInclude.Include.NON_NULL)
record GrantView(
    @Nullable String handle,
    long token,
    String lease,
    @Nullable Integer attempt,
    @Nullable Map<String, Long> resourceTokens) {
  static GrantView of(Lease lease, Nonce grant) {
    return of(lease, Handle.of(lease, grant).text());
  }

  /** The view of a step after which the same handle is good. */
  static GrantView of(Lease lease, String handle) {
    Map<String, Long> tokens = new LinkedHashMap<>();
    lease.resources().forEach(each -> tokens.put(each.id().text(), each.token()));
    return new GrantView(
        handle,
        lease.token(),
        Terms.text(lease.length()),
        lease.id().space() == RecordId.Space.RECORD ? lease.attempt() : null,
        tokens.isEmpty() ? null : tokens);
  }
}
