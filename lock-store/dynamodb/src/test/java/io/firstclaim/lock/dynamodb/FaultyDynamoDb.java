package io.firstclaim.lock.dynamodb;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.testkit.FaultContract;
import io.firstclaim.lock.testkit.fault.Fault;
import io.firstclaim.lock.testkit.fault.FaultProxy;
import io.firstclaim.lock.testkit.fault.FaultyRoute;
import io.firstclaim.lock.testkit.fault.FaultyRoute.Way;
import java.time.Duration;
import java.util.List;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbClientBuilder;

/** Faults on the way to DynamoDB; each class has a way of its own, as they run side by side. */
abstract class FaultyDynamoDb extends FaultContract {
  private final FaultyRoute<DynamoDbClient> route;

  FaultyDynamoDb(FaultyRoute<DynamoDbClient> route) {
    this.route = route;
  }

  static FaultyRoute<DynamoDbClient> newRoute() {
    return FaultyRoute.to(
        LocalDynamoDb.endpoint(),
        LocalDynamoDb.client(),
        proxy -> LocalDynamoDb.patient(configured(proxy), proxy).build(),
        proxy ->
            LocalDynamoDb.patient(LocalDynamoDb.notRetrying(configured(proxy)), proxy).build());
  }

  /** As an application would configure it, for a lease of this length. */
  private static DynamoDbClientBuilder configured(FaultProxy proxy) {
    var settings =
        new ClaimSettings("any", "any", Duration.ofSeconds(15), MAX_SKEW, Duration.ofDays(8));
    return DynamoDbTable.configure(LocalDynamoDb.builder(proxy.endpoint()), settings);
  }

  @Override
  protected FaultProxy proxy() {
    return route.proxy();
  }

  @Override
  protected ClaimStore store(Way way, ClaimSettings settings) {
    return store(route.by(way), settings);
  }

  /** A store by this client. */
  abstract ClaimStore store(DynamoDbClient client, ClaimSettings settings);

  @Override
  protected String name() {
    return "DynamoDB table claims";
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
