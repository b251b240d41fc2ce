package io.firstclaim.lock.dynamodb;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.TimeSource;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/** Bad clocks, on a store that sends each write in a batch, even a single one. */
class BatchedClockTortureTest extends DynamoDbClockTortureTest {
  @Override
  ClaimStore store(DynamoDbClient client, ClaimSettings settings, TimeSource machine) {
    return LocalDynamoDb.datedBatched(client, settings, machine);
  }
}
