package io.firstclaim.lock.dynamodb;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.testkit.ManualTime;
import io.firstclaim.lock.testkit.RandomHistoryContract;

/** Each write in a batch, even where it is alone. */
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
