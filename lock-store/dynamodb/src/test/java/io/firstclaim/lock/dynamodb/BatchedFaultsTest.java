package io.firstclaim.lock.dynamodb;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.testkit.fault.Match;
import io.firstclaim.lock.testkit.fault.Request;
import java.util.function.Predicate;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/** Each write in a batch, even where it is alone. */
class BatchedFaultsTest extends FaultyDynamoDb {
  @Override
  ClaimStore store(DynamoDbClient client, ClaimSettings settings) {
    return LocalDynamoDb.batched(client, settings, time);
  }

  @Override
  protected Predicate<Request> firstClaim() {
    return Match.operation("BatchExecuteStatement");
  }

  @Override
  protected Predicate<Request> takeover() {
    return Match.operation("PutItem");
  }

  /** An operator's are not in batches. */
  @Override
  protected Predicate<Request> step() {
    return Match.operation("BatchExecuteStatement", "PutItem");
  }
}
