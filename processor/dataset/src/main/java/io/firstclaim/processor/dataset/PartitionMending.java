package io.firstclaim.processor.dataset;

import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;

/** Makes the root list what is there in one partition, of which a manifest is none. */
@FunctionalInterface
interface PartitionMending {
  /**
   * Lists the partition's files anew where that is needed.
   *
   * @return what was done
   * @throws StoreUnavailableException if S3 does not answer
   * @throws StoreRefusedException if the bucket must not be read or written
   * @throws UnreadableException if the root is none
   */
  Repair mend(String partition) throws InterruptedException;
}
