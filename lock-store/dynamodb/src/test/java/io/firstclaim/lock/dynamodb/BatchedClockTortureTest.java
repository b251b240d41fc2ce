package io.firstclaim.lock.dynamodb;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.TimeSource;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/** Each write in a batch, even where it is alone. */
class BatchedClockTortureTest extends DynamoDbClockTortureTest {
  @Override
  ClaimStore store(DynamoDbClient client, ClaimSettings settings, TimeSource machine) {
    return LocalDynamoDb.datedBatched(client, settings, machine);
  }
}
