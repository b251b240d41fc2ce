package io.firstclaim.lock.dynamodb;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.testkit.ManualTime;
import io.firstclaim.lock.testkit.RandomHistoryContract;

/** Random histories, on a store that sends each write in a batch, even a single one. */
class BatchedHistoryTest extends RandomHistoryContract {
  @Override
  public ClaimStore store(ClaimSettings settings, ManualTime machine) {
    return LocalDynamoDb.batched(LocalDynamoDb.client(), settings, machine);
  }

  @Override
  protected int histories() {
    return 8;
  }
}
