package io.firstclaim.lock.dynamodb;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.testkit.ManualTime;
import io.firstclaim.lock.testkit.RandomHistoryContract;

class DynamoDbHistoryTest extends RandomHistoryContract {
  @Override
  public ClaimStore store(ClaimSettings settings, ManualTime machine) {
    return LocalDynamoDb.store(settings, machine);
  }

  @Override
  protected int histories() {
    return 8;
  }
}
