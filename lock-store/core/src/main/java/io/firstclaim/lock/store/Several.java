package io.firstclaim.lock.store;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.Effects;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.StoreOperation;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** How a store claims several IDs at once: all or none. */
sealed interface Several permits InOneTransaction, OneByOne {
  /** Claims a record and its resources. */
  ClaimResult claim(Claim claim);

  /**
   * Makes this step with the record; its resources are renewed with it, or free after it. Unknown
   * as long as one of them is not known to be.
   */
  SettleResult settle(StoreOperation op, Lease lease, Function<StoreMoment, Command.Settle> step);

  /** Completes a record, and makes these effects with that. */
  SettleResult complete(Lease lease, @Nullable String result, Effects effects);
}
