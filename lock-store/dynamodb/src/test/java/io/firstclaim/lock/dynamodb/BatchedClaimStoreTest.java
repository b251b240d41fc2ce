package io.firstclaim.lock.dynamodb;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.testkit.WallClockContract;

/** Each write in a batch, even where it is alone. */
class BatchedClaimStoreTest extends WallClockContract {
  @Override
  protected ClaimStore store(ClaimSettings settings, TimeSource time) {
    return LocalDynamoDb.batched(LocalDynamoDb.client(), settings, time);
  }
}
