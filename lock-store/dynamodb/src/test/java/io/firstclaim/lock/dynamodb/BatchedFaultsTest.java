package io.firstclaim.lock.dynamodb;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.testkit.fault.FaultyRoute;
import io.firstclaim.lock.testkit.fault.Match;
import io.firstclaim.lock.testkit.fault.Request;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/** Faults of the network, on a store that sends each write in a batch, even a single one. */
@Order(1)
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(Resources.SYSTEM_ERR)
class BatchedFaultsTest extends FaultyDynamoDb {
  private static final FaultyRoute<DynamoDbClient> ROUTE = newRoute();

  BatchedFaultsTest() {
    super(ROUTE);
  }

  @AfterAll
  static void stop() {
    ROUTE.close();
  }

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

  /** Writes of an operator are never sent in batches. */
  @Override
  protected Predicate<Request> step() {
    return Match.operation("BatchExecuteStatement", "PutItem");
  }
}
