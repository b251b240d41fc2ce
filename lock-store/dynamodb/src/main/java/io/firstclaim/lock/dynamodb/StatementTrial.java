package io.firstclaim.lock.dynamodb;

import static java.util.stream.Collectors.joining;

import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.ClaimState;
import io.firstclaim.lock.ClaimState.Done;
import io.firstclaim.lock.ClaimState.Held;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.StoreOperation;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.aws.Faults;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.BatchStatementRequest;
import software.amazon.awssdk.services.dynamodb.model.BatchStatementResponse;
import software.amazon.awssdk.services.dynamodb.model.DynamoDbException;

/**
 * Tries whether a table keeps the conditions of statements, and whether the role may send them, on
 * two items of its own, which it leaves to the TTL if it may not delete them. For one run.
 */
final class StatementTrial {
  private static final Logger LOG = LoggerFactory.getLogger(StatementTrial.class);
  private static final String TOOK = "taken";
  private static final String DUPLICATE = "DuplicateItem";
  private static final String FAILED = "ConditionalCheckFailed";

  private final ClaimItems items;
  private final List<String> keys =
      List.of("self-test/" + Nonce.random(), "self-test/" + Nonce.random());
  private final AttributeValue expiresAt;
  private final ClaimRecord held;
  private final ClaimRecord done;
  private boolean brokeConditions;

  StatementTrial(ClaimItems items) {
    this.items = items;
    Instant now = TimeSource.system().now().wall();
    Duration lease = items.settings().lease();
    this.expiresAt = Items.number(now.plus(Duration.ofDays(1)).getEpochSecond());
    this.held = record(new Held("self-test", lease, now.plus(lease), null));
    this.done = record(new Done("self-test", now, null));
  }

  private static ClaimRecord record(ClaimState state) {
    return new ClaimRecord(1, 1, Nonce.random(), Fingerprint.none(), state);
  }

  /**
   * What is wrong with statements here, if anything is.
   *
   * @throws io.firstclaim.lock.StoreUnavailableException if DynamoDB does not answer
   */
  Optional<String> fault() {
    try {
      return wrong("INSERT where no item is", List.of(TOOK, TOOK), insert(0), insert(1))
          .or(
              () ->
                  wrong(
                      "INSERT where one is, and UPDATE on a wrong nonce",
                      List.of(DUPLICATE, FAILED),
                      insert(0),
                      update(1, done)))
          .or(
              () ->
                  wrong(
                      "UPDATE on the right nonce",
                      List.of(TOOK, TOOK),
                      update(0, held),
                      update(1, held)))
          .or(this::wrongItem);
    } catch (StoreRefusedException e) {
      return Optional.of(String.valueOf(e.getMessage()));
    } catch (StoreUnavailableException e) {
      if (e.getCause() instanceof DynamoDbException answer && knowsNone(answer)) {
        return Optional.of(Faults.inOneLine(answer));
      }
      throw e;
    } finally {
      keys.forEach(this::remove);
    }
  }

  /** Whether what had to be refused was taken, or something else written: not to be tried again. */
  boolean brokeConditions() {
    return brokeConditions;
  }

  /** Some stores of their own have no statements. */
  private static boolean knowsNone(DynamoDbException answer) {
    return Faults.code(answer).equals("UnknownOperationException") || answer.statusCode() == 501;
  }

  private BatchStatementRequest insert(int key) {
    return Statements.insert(items.table(), item(key, held));
  }

  private BatchStatementRequest update(int key, ClaimRecord on) {
    return Statements.update(items.table(), item(key, done), on);
  }

  private Map<String, AttributeValue> item(int key, ClaimRecord claim) {
    String name = keys.get(key);
    return Items.encode(Items.text(name), RecordId.of(name), claim, expiresAt);
  }

  private Optional<String> wrong(
      String what, List<String> wanted, BatchStatementRequest... statements) {
    List<BatchStatementResponse> answers =
        items
            .call(
                StoreOperation.TRY,
                () ->
                    items
                        .client()
                        .batchExecuteStatement(
                            batch ->
                                batch.statements(statements).overrideConfiguration(items.limits())))
            .responses();
    List<String> seen =
        answers.stream()
            .map(each -> each.error() == null ? TOOK : BatchedItems.code(each.error()))
            .toList();
    brokeConditions |= seen.contains(TOOK) && !wanted.contains(TOOK);
    return seen.equals(wanted)
        ? Optional.empty()
        : Optional.of(
            "%s: %s"
                .formatted(
                    what,
                    answers.stream()
                        .map(
                            each ->
                                each.error() == null
                                    ? TOOK
                                    : "%s (%s)"
                                        .formatted(
                                            each.error().codeAsString(), each.error().message()))
                        .collect(joining(", "))));
  }

  /** Whether an UPDATE leaves what a PutItem would leave. */
  private Optional<String> wrongItem() {
    Map<String, AttributeValue> found =
        items
            .call(
                StoreOperation.TRY,
                () ->
                    items
                        .client()
                        .getItem(
                            get ->
                                get.tableName(items.table())
                                    .key(Map.of(Items.KEY, Items.text(keys.getFirst())))
                                    .consistentRead(true)
                                    .overrideConfiguration(items.limits())))
            .item();
    brokeConditions = !found.equals(item(0, done));
    return !brokeConditions
        ? Optional.empty()
        : Optional.of("UPDATE left another item than it was to");
  }

  private void remove(String key) {
    try {
      items
          .client()
          .deleteItem(
              delete ->
                  delete
                      .tableName(items.table())
                      .key(Map.of(Items.KEY, Items.text(key)))
                      .conditionExpression(Items.HOLDER + " = :holder")
                      .expressionAttributeValues(Map.of(":holder", Items.text("self-test")))
                      .overrideConfiguration(items.limits()));
    } catch (SdkException e) {
      LOG.debug("Self-test item {} of DynamoDB table {} is left to its TTL", key, items.table(), e);
    }
  }
}
