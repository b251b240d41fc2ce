package io.firstclaim.lock.mutex;

import io.firstclaim.lock.ClaimResult;
import java.util.List;

/** What came of waiting for a mutex. */
public sealed interface Acquisition {
  /** It is the caller's. */
  record Acquired(HeldMutex held) implements Acquisition {}

  /**
   * Others held it, or some of its keys, to the end; nothing is held.
   *
   * @param inTheWay the keys that were held when last asked, by whom and on behalf of what: all of
   *     them if the first key was free and the store has transactions, else the first that was met
   */
  record NotAcquired(List<ClaimResult.InTheWay> inTheWay) implements Acquisition {
    /** Keeps a copy. */
    public NotAcquired {
      inTheWay = List.copyOf(inTheWay);
    }
  }
}
