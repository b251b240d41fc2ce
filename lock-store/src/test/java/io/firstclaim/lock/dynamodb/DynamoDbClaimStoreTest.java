package io.firstclaim.lock.dynamodb;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.ClaimStoreContract;
import io.firstclaim.lock.TimeSource;

class DynamoDbClaimStoreTest extends ClaimStoreContract {
  @Override
  protected ClaimStore store(ClaimSettings settings, TimeSource time) {
    return LocalDynamoDb.store(settings, time);
  }
}
