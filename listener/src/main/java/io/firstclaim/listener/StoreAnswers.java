package io.firstclaim.listener;

import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.RecordId;

/** How an application's health finds out whether its claim store answers. */
public final class StoreAnswers {
  /** Nobody claims it, so nothing is there: what matters is that the store says so. */
  private static final RecordId NOBODYS = RecordId.of("firstclaim-health").asMutex();

  private StoreAnswers() {}

  /**
   * Reads from the store, and changes nothing there.
   *
   * @throws RuntimeException as {@link ClaimStore#find} does, if it does not answer
   */
  public static void require(ClaimStore store) {
    var unused = store.find(NOBODYS);
  }
}
