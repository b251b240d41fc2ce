package io.firstclaim.lock.dynamodb;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.testkit.WallClockContract;

/**
 * The contract of resources, on a table without transactions: the claim of each is sent in a batch.
 */
class BatchedOneByOneTest extends WallClockContract {
  @Override
  protected ClaimStore store(ClaimSettings settings, TimeSource time) {
    return LocalDynamoDb.batchedOneByOne(settings, time);
  }
}
