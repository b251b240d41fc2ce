package io.firstclaim.lock.dynamodb;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.testkit.deduplicator.DeduplicatorContract;

class DynamoDbDeduplicatorTest extends DeduplicatorContract {
  @Override
  protected ClaimStore store(ClaimSettings settings, TimeSource time) {
    return LocalDynamoDb.store(settings, time);
  }
}
