package io.firstclaim.lock.dynamodb;

import io.firstclaim.lock.Check;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.aws.TimeLimits;
import io.firstclaim.lock.store.DatedClock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.http.SdkHttpResponse;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;
import software.amazon.awssdk.services.dynamodb.model.PutItemResponse;
import software.amazon.awssdk.services.dynamodb.model.ReturnValuesOnConditionCheckFailure;

/**
 * Tests whether a table keeps conditional writes, on an item of its own, which it leaves to the TTL
 * if it may not delete it. For one run.
 */
final class SelfTest {
  private static final Logger LOG = LoggerFactory.getLogger(SelfTest.class);

  private static final String FIRST = "attribute_not_exists(pk)";
  private static final String NEXT = "nonce = :nonce";
  private static final String DATES = "Date of the answers";

  private final DynamoDbClient client;
  private final String table;
  private final String key = "self-test/" + Nonce.random();
  private final List<Instant> dates = new ArrayList<>();
  private String stored = "nothing";

  SelfTest(DynamoDbClient client, String table) {
    this.client = client;
    this.table = table;
  }

  /**
   * All checks, each regardless of how those before it went.
   *
   * @throws SdkException if DynamoDB does not answer
   */
  List<Check> run() {
    try {
      return List.of(
          taken("attribute_not_exists where no item is", "a", FIRST, null),
          refused("attribute_not_exists where one is", "b", FIRST, null),
          refused("condition on a wrong nonce", "c", NEXT, "x"),
          taken("condition on the right nonce", "d", NEXT, stored),
          dated());
    } finally {
      remove();
    }
  }

  /** Leases are judged by the dates of the answers; to the second, as HTTP has them. */
  private Check dated() {
    if (dates.isEmpty()) {
      return new Check(DATES, "missing, and leases are judged by it", false);
    }
    Instant latest = dates.getFirst();
    for (Instant date : dates) {
      if (date.plusSeconds(1).plus(ClaimSettings.LEAST_SKEW).isBefore(latest)) {
        String seen = "%s after %s: does a gateway set it?".formatted(date, latest);
        return new Check(DATES, seen, false);
      }
      latest = date.isAfter(latest) ? date : latest;
    }
    return new Check(DATES, "told, and never back", true);
  }

  private void date(SdkHttpResponse answer) {
    answer.firstMatchingHeader("Date").flatMap(DatedClock::parsed).ifPresent(dates::add);
  }

  private Check taken(String name, String nonce, String condition, @Nullable String on) {
    boolean took = put(nonce, condition, on) instanceof Put.Taken;
    return new Check(name, took ? "taken" : "refused", took);
  }

  private Check refused(String name, String nonce, String condition, @Nullable String on) {
    return switch (put(nonce, condition, on)) {
      case Put.Taken() -> new Check(name, "taken", false);
      case Put.Refused(boolean shown) ->
          new Check(
              name, shown ? "refused, the item told" : "refused, but the item not told", shown);
    };
  }

  private sealed interface Put {
    record Taken() implements Put {}

    /** The condition failed; the answer may have shown the item that it failed on. */
    record Refused(boolean shown) implements Put {}
  }

  /** One conditional write. */
  private Put put(String nonce, String condition, @Nullable String on) {
    Instant tomorrow = TimeSource.system().now().wall().plus(Duration.ofDays(1));
    try {
      PutItemResponse answer =
          client.putItem(
              put -> {
                put.tableName(table)
                    .overrideConfiguration(TimeLimits.SETUP)
                    .item(
                        Map.of(
                            Items.KEY,
                            Items.text(key),
                            Items.NONCE,
                            Items.text(nonce),
                            Items.EXPIRES_AT,
                            Items.number(tomorrow.getEpochSecond())))
                    .conditionExpression(condition)
                    .returnValuesOnConditionCheckFailure(
                        ReturnValuesOnConditionCheckFailure.ALL_OLD);
                if (on != null) {
                  put.expressionAttributeValues(Map.of(":nonce", Items.text(on)));
                }
              });
      date(answer.sdkHttpResponse());
      stored = nonce;
      return new Put.Taken();
    } catch (ConditionalCheckFailedException e) {
      date(e.awsErrorDetails().sdkHttpResponse());
      AttributeValue held = e.item().get(Items.NONCE);
      if (held != null && nonce.equals(held.s())) {
        // Its answer was lost, and the SDK's retry failed on what it had written itself.
        stored = nonce;
        return new Put.Taken();
      }
      return new Put.Refused(held != null && stored.equals(held.s()));
    }
  }

  private void remove() {
    try {
      client.deleteItem(
          delete ->
              delete
                  .tableName(table)
                  .overrideConfiguration(TimeLimits.SETUP)
                  .key(Map.of(Items.KEY, Items.text(key)))
                  .conditionExpression(NEXT)
                  .expressionAttributeValues(Map.of(":nonce", Items.text(stored))));
    } catch (SdkException e) {
      // Claims delete nothing, so the role may not be allowed to.
      LOG.debug("Self-test item {} of DynamoDB table {} is left to its TTL", key, table, e);
    }
  }
}
