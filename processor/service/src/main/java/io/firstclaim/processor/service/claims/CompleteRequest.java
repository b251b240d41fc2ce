package io.firstclaim.processor.service.claims;

import io.micronaut.core.annotation.Introspected;
import org.jspecify.annotations.Nullable;

/**
 * The body of a completion.
 *
 * @param result what later claimants are told; a request has 64 KB at most
 */
@Introspected
record CompleteRequest(@Nullable String result) {
  static final CompleteRequest PLAIN = new CompleteRequest(null);
}
