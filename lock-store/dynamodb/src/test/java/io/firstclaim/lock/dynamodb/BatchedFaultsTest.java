package io.firstclaim.lock.dynamodb;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.testkit.FaultContract;
import io.firstclaim.lock.testkit.fault.Fault;
import io.firstclaim.lock.testkit.fault.FaultProxy;
import io.firstclaim.lock.testkit.fault.Match;
import io.firstclaim.lock.testkit.fault.Request;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterAll;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbClientBuilder;

/** Each write in a batch, even where it is alone. */
class BatchedFaultsTest extends FaultContract {
  private static final FaultProxy PROXY = FaultProxy.start(LocalDynamoDb.endpoint());
  private static final DynamoDbClient RETRYING = configured().build();
  private static final DynamoDbClient NOT_RETRYING =
      LocalDynamoDb.notRetrying(configured()).build();

  @AfterAll
  static void stop() {
    RETRYING.close();
    NOT_RETRYING.close();
    PROXY.close();
  }

  private static DynamoDbClientBuilder configured() {
    var settings =
        new ClaimSettings("any", "any", Duration.ofSeconds(9), MAX_SKEW, Duration.ofDays(8));
    return DynamoDbTable.configure(LocalDynamoDb.builder(PROXY.endpoint()), settings);
  }

  @Override
  protected FaultProxy proxy() {
    return PROXY;
  }

  @Override
  protected ClaimStore store(Way way, ClaimSettings settings) {
    DynamoDbClient client =
        switch (way) {
          case DIRECT -> LocalDynamoDb.client();
          case RETRYING -> RETRYING;
          case NOT_RETRYING -> NOT_RETRYING;
        };
    return LocalDynamoDb.batched(client, settings, time);
  }

  @Override
  protected String name() {
    return "DynamoDB table claims";
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

  @Override
  protected List<Fault> refusals() {
    return List.of(
        Fault.Answer.dynamoDbThrottling(),
        Fault.Answer.dynamoDb(500, "InternalServerError"),
        Fault.Answer.dynamoDb(400, "ReplicatedWriteConflictException"),
        Fault.Answer.dynamoDb(400, "RequestLimitExceeded"),
        Fault.Answer.status(503),
        new Fault.Refuse());
  }

  @Override
  protected List<Fault> passingRefusals() {
    return List.of(
        Fault.Answer.dynamoDb(500, "InternalServerError"),
        Fault.Answer.dynamoDb(400, "ReplicatedWriteConflictException"));
  }

  @Override
  protected List<Fault> denials() {
    return List.of(
        Fault.Answer.dynamoDb(400, "AccessDeniedException"),
        Fault.Answer.dynamoDb(400, "ResourceNotFoundException"),
        Fault.Answer.dynamoDb(400, "ValidationException"));
  }
}
