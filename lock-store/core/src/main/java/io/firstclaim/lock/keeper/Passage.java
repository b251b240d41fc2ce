package io.firstclaim.lock.keeper;

import io.firstclaim.lock.SettleResult;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The way that the steps under a lease, its renewals and the last one, take to the store, for
 * callers that limit how many requests go at once.
 */
@FunctionalInterface
public interface Passage {
  /**
   * Makes the step once there is room for it.
   *
   * @return its answer; null if it found that the store need not be asked any more
   */
  @Nullable SettleResult pass(Supplier<@Nullable SettleResult> step) throws InterruptedException;
}
