package io.firstclaim.lock.dynamodb;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.testkit.WallClockContract;

/** Each write in a batch, those of what a record touches too, as the table has no transactions. */
class BatchedOneByOneTest extends WallClockContract {
  @Override
  protected ClaimStore store(ClaimSettings settings, TimeSource time) {
    return LocalDynamoDb.batchedOneByOne(settings, time);
  }
}
