package io.firstclaim.lock.dynamodb;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;

/** Each write in a batch, even where it is alone. */
class BatchedUnreadableClaimTest extends DynamoDbUnreadableClaimTest {
  @Override
  protected ClaimStore store(ClaimSettings settings) {
    return LocalDynamoDb.batched(LocalDynamoDb.client(), settings, time);
  }
}
