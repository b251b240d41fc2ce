package io.firstclaim.lock.dynamodb;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;

/** Items that are no claims, on a store that sends each write in a batch, even a single one. */
class BatchedUnreadableClaimTest extends DynamoDbUnreadableClaimTest {
  @Override
  protected ClaimStore store(ClaimSettings settings) {
    return LocalDynamoDb.batched(LocalDynamoDb.client(), settings, time);
  }
}
