package io.firstclaim.processor.service.admin;

import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.RecordId;
import java.util.Optional;

/** What the lock store has. Thread-safe; blocks for the store's time limit. */
interface Claims {
  /**
   * What is stored for an ID now.
   *
   * @throws Problem if no store is open yet
   * @throws io.firstclaim.lock.StoreException if the store does not answer, or has no claim there
   */
  Optional<ClaimRecord> find(RecordId id);
}
