package io.firstclaim.lock.dynamodb;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.testkit.WallClockContract;

/** The contract of a store that sends each write in a batch, even a single one. */
class BatchedClaimStoreTest extends WallClockContract {
  @Override
  protected ClaimStore store(ClaimSettings settings, TimeSource time) {
    return LocalDynamoDb.batched(LocalDynamoDb.client(), settings, time);
  }
}
