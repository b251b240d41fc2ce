package io.firstclaim.processor.service.claims;

import io.micronaut.core.annotation.Introspected;
import jakarta.validation.constraints.Size;
import org.jspecify.annotations.Nullable;

/**
 * The body of giving something up.
 *
 * @param cause why, for people
 */
@Introspected
record BuryRequest(
    @Nullable @Size(max = 1000, message = "give 1000 characters at most") String cause) {
  static final BuryRequest PLAIN = new BuryRequest(null);
}
