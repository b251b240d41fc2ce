package io.firstclaim.lock.dynamodb;

import static java.util.stream.Collectors.joining;
import static software.amazon.awssdk.services.dynamodb.model.BatchStatementErrorCodeEnum.CONDITIONAL_CHECK_FAILED;
import static software.amazon.awssdk.services.dynamodb.model.BatchStatementErrorCodeEnum.DUPLICATE_ITEM;

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
import io.firstclaim.lock.aws.Faults;
import io.firstclaim.lock.aws.TimeLimits;
import io.firstclaim.lock.dynamodb.StatementConformance.Conforms;
import io.firstclaim.lock.dynamodb.StatementConformance.Unsafe;
import io.firstclaim.lock.dynamodb.StatementConformance.Unusable;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.BatchStatementError;
import software.amazon.awssdk.services.dynamodb.model.BatchStatementErrorCodeEnum;
import software.amazon.awssdk.services.dynamodb.model.BatchStatementRequest;
import software.amazon.awssdk.services.dynamodb.model.BatchStatementResponse;
import software.amazon.awssdk.services.dynamodb.model.DynamoDbException;

/**
 * Tries whether a table keeps the conditions of statements, and whether the role may send them. It
 * does so on two items of its own; if it may not delete them, their TTL does. For one run.
 */
final class StatementConformanceCheck {
  private static final Logger LOG = LoggerFactory.getLogger(StatementConformanceCheck.class);
  private static final String HOLDER = "self-test";

  private final ClaimItems items;
  private final List<String> keys =
      List.of("self-test/" + Nonce.random(), "self-test/" + Nonce.random());
  private final AttributeValue expiresAt;
  private final ClaimRecord held;
  private final ClaimRecord done;

  StatementConformanceCheck(ClaimItems items) {
    this.items = items;
    Instant now = items.time().now().wall();
    Duration lease = items.settings().lease();
    this.expiresAt = Items.number(now.plus(Duration.ofDays(1)).getEpochSecond());
    this.held = record(new Held(HOLDER, lease, now.plus(lease), null));
    this.done = record(new Done(HOLDER, now, null));
  }

  private static ClaimRecord record(ClaimState state) {
    return new ClaimRecord(1, 1, Nonce.random(), Fingerprint.none(), state);
  }

  /** How a statement was answered. */
  private sealed interface Seen {
    /** The statement was applied. */
    record Applied() implements Seen {}

    /** The statement was not applied, for this reason. */
    record Failed(BatchStatementErrorCodeEnum code) implements Seen {}
  }

  private static final Seen APPLIED = new Seen.Applied();
  private static final Seen DUPLICATE = new Seen.Failed(DUPLICATE_ITEM);
  private static final Seen CONDITION_FAILED = new Seen.Failed(CONDITIONAL_CHECK_FAILED);

  /**
   * Makes the check; ends at the first thing that is wrong.
   *
   * @throws io.firstclaim.lock.StoreUnavailableException if DynamoDB does not answer
   */
  StatementConformance run() {
    try {
      return fault("INSERT where no item is", List.of(APPLIED, APPLIED), insert(0), insert(1))
          .or(
              () ->
                  fault(
                      "INSERT where one is, and UPDATE on a wrong nonce",
                      List.of(DUPLICATE, CONDITION_FAILED),
                      insert(0),
                      update(1, done)))
          .or(
              () ->
                  fault(
                      "UPDATE on the right nonce",
                      List.of(APPLIED, APPLIED),
                      update(0, held),
                      update(1, held)))
          .or(this::wrongItem)
          .orElseGet(Conforms::new);
    } catch (StoreRefusedException e) {
      return new Unusable(String.valueOf(e.getMessage()));
    } catch (StoreUnavailableException e) {
      if (e.getCause() instanceof DynamoDbException answer && knowsNone(answer)) {
        return new Unusable(Faults.inOneLine(answer));
      }
      throw e;
    } finally {
      keys.forEach(this::remove);
    }
  }

  /** Some stores that only look like DynamoDB have no statements. */
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

  /** Sends these statements; empty if they were answered as expected. */
  private Optional<StatementConformance> fault(
      String what, List<Seen> expected, BatchStatementRequest... statements) {
    List<BatchStatementResponse> answers =
        items
            .call(
                StoreOperation.TRY,
                () ->
                    items
                        .client()
                        .batchExecuteStatement(
                            batch ->
                                batch
                                    .statements(statements)
                                    .overrideConfiguration(TimeLimits.SETUP)))
            .responses();
    List<Seen> seen = answers.stream().map(StatementConformanceCheck::seen).toList();
    if (seen.equals(expected)) {
      return Optional.empty();
    }
    String why =
        answers.stream()
            .map(StatementConformanceCheck::inWords)
            .collect(joining(", ", what + ": ", ""));
    boolean conditionIgnored = seen.contains(APPLIED) && !expected.contains(APPLIED);
    return Optional.of(conditionIgnored ? new Unsafe(why) : new Unusable(why));
  }

  private static Seen seen(BatchStatementResponse answer) {
    return answer.error() == null ? APPLIED : new Seen.Failed(Statements.code(answer.error()));
  }

  private static String inWords(BatchStatementResponse answer) {
    BatchStatementError error = answer.error();
    return error == null ? "taken" : "%s (%s)".formatted(error.codeAsString(), error.message());
  }

  /** Empty if an UPDATE leaves what a PutItem would leave. */
  private Optional<StatementConformance> wrongItem() {
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
                                    .overrideConfiguration(TimeLimits.SETUP)))
            .item();
    return found.equals(item(0, done))
        ? Optional.empty()
        : Optional.of(new Unsafe("UPDATE left another item than it was to"));
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
                      .expressionAttributeValues(Map.of(":holder", Items.text(HOLDER)))
                      .overrideConfiguration(TimeLimits.SETUP));
    } catch (SdkException e) {
      LOG.debug(
          "Item {} of a conformance check of DynamoDB table {} is left to its TTL",
          key,
          items.table(),
          e);
    }
  }
}
