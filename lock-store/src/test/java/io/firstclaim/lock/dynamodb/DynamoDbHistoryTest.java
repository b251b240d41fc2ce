package io.firstclaim.lock.dynamodb;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.RandomHistoryContract;
import io.firstclaim.lock.TimeSource;

class DynamoDbHistoryTest extends RandomHistoryContract {
  @Override
  protected ClaimStore store(ClaimSettings settings, TimeSource time) {
    return LocalDynamoDb.store(settings, time);
  }

  @Override
  protected int histories() {
    return 40;
  }
}
