package io.firstclaim.lock.dynamodb;

import static io.firstclaim.lock.dynamodb.Items.text;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ConformanceResult;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.aws.TimeLimits;
import io.firstclaim.lock.store.HttpDates;
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
 * Tests whether a table keeps conditional writes, and whether the role may do all that claims need.
 * It does so on an item of its own; if it may not delete that, its TTL does. For one run.
 */
final class TableConformanceCheck {
  private static final Logger LOG = LoggerFactory.getLogger(TableConformanceCheck.class);

  private static final String FIRST = "attribute_not_exists(pk)";
  private static final String NEXT = "nonce = :nonce";
  private static final String DATES = "Date of the answers";

  private final DynamoDbTable table;
  private final DynamoDbClient client;
  private final AttributeValue key = text("self-test/" + Nonce.random());
  private final List<Instant> dates = new ArrayList<>();
  private String stored = "nothing";

  TableConformanceCheck(DynamoDbTable table) {
    this.table = table;
    this.client = table.client();
  }

  /**
   * All checks, each regardless of how those before it went.
   *
   * @throws io.firstclaim.lock.StoreRefusedException if the role lacks a permission, which it names
   * @throws io.firstclaim.lock.StoreUnavailableException if DynamoDB does not answer
   */
  List<ConformanceResult> run() {
    try {
      return List.of(
          taken("attribute_not_exists where no item is", put("a", FIRST, null)),
          refused("attribute_not_exists where one is", put("b", FIRST, null)),
          refused("condition on a wrong nonce", put("c", NEXT, "x")),
          taken("condition on the right nonce", put("d", NEXT, stored)),
          refused("update on a wrong nonce", update("e", "x")),
          taken("update on the right nonce", update("f", stored)),
          readBack(),
          dated());
    } finally {
      remove();
    }
  }

  /** Leases are judged by the dates of the answers; to the second, as HTTP has them. */
  private ConformanceResult dated() {
    if (dates.isEmpty()) {
      return new ConformanceResult(DATES, "missing, and leases are judged by it", false);
    }
    Instant latest = dates.getFirst();
    for (Instant date : dates) {
      if (date.plusSeconds(1).plus(ClaimSettings.LEAST_SKEW).isBefore(latest)) {
        String seen = "%s after %s: does a gateway set it?".formatted(date, latest);
        return new ConformanceResult(DATES, seen, false);
      }
      latest = date.isAfter(latest) ? date : latest;
    }
    return new ConformanceResult(DATES, "told, and never back", true);
  }

  private void date(SdkHttpResponse answer) {
    answer.firstMatchingHeader("Date").flatMap(HttpDates::parsed).ifPresent(dates::add);
  }

  private static ConformanceResult taken(String name, Reaction reaction) {
    boolean took = reaction == Reaction.TAKEN;
    return new ConformanceResult(name, took ? "taken" : "refused", took);
  }

  private static ConformanceResult refused(String name, Reaction reaction) {
    return switch (reaction) {
      case TAKEN -> new ConformanceResult(name, "taken", false);
      case REFUSED_WITH_ITEM -> new ConformanceResult(name, "refused, the item told", true);
      case REFUSED_WITHOUT_ITEM ->
          new ConformanceResult(name, "refused, but the item not told", false);
    };
  }

  /** What the table did with a conditional write. */
  private enum Reaction {
    TAKEN,
    /** The answer shows the item on which the condition failed. */
    REFUSED_WITH_ITEM,
    REFUSED_WITHOUT_ITEM
  }

  private Reaction put(String nonce, String condition, @Nullable String on) {
    return write("dynamodb:PutItem", nonce, () -> sendPut(nonce, condition, on));
  }

  /** Writes by an update, as claims do. */
  private Reaction update(String nonce, String on) {
    return write("dynamodb:UpdateItem", nonce, () -> sendUpdate(nonce, on));
  }

  /** Makes a conditional write. */
  private Reaction write(String permission, String nonce, Runnable request) {
    return table.ask(
        permission,
        () -> {
          try {
            request.run();
          } catch (ConditionalCheckFailedException e) {
            date(e.awsErrorDetails().sdkHttpResponse());
            AttributeValue held = e.item().get(Items.NONCE);
            if (held == null || !nonce.equals(held.s())) {
              return held != null && stored.equals(held.s())
                  ? Reaction.REFUSED_WITH_ITEM
                  : Reaction.REFUSED_WITHOUT_ITEM;
            }
            // The answer was lost, and the SDK's retry failed on what its first try had written.
          }
          stored = nonce;
          return Reaction.TAKEN;
        });
  }

  private ConformanceResult readBack() {
    AttributeValue found =
        table
            .ask(
                "dynamodb:GetItem",
                () ->
                    client.getItem(
                        get ->
                            get.tableName(table.name())
                                .overrideConfiguration(TimeLimits.SETUP)
                                .key(Map.of(Items.KEY, key))
                                .consistentRead(true)))
            .item()
            .get(Items.NONCE);
    boolean right = found != null && stored.equals(found.s());
    return new ConformanceResult(
        "read", right ? "the last write" : "another than the last write", right);
  }

  private void sendUpdate(String nonce, String on) {
    client.updateItem(
        update ->
            update
                .tableName(table.name())
                .overrideConfiguration(TimeLimits.SETUP)
                .key(Map.of(Items.KEY, key))
                .updateExpression("SET nonce = :next")
                .conditionExpression(NEXT)
                .expressionAttributeValues(Map.of(":next", text(nonce), ":nonce", text(on)))
                .returnValuesOnConditionCheckFailure(ReturnValuesOnConditionCheckFailure.ALL_OLD));
  }

  private void sendPut(String nonce, String condition, @Nullable String on) {
    Instant tomorrow = TimeSource.system().now().wall().plus(Duration.ofDays(1));
    PutItemResponse answer =
        client.putItem(
            put -> {
              put.tableName(table.name())
                  .overrideConfiguration(TimeLimits.SETUP)
                  .item(
                      Map.of(
                          Items.KEY,
                          key,
                          Items.NONCE,
                          text(nonce),
                          Items.EXPIRES_AT,
                          Items.number(tomorrow.getEpochSecond())))
                  .conditionExpression(condition)
                  .returnValuesOnConditionCheckFailure(ReturnValuesOnConditionCheckFailure.ALL_OLD);
              if (on != null) {
                put.expressionAttributeValues(Map.of(":nonce", text(on)));
              }
            });
    date(answer.sdkHttpResponse());
  }

  private void remove() {
    try {
      client.deleteItem(
          delete ->
              delete
                  .tableName(table.name())
                  .overrideConfiguration(TimeLimits.SETUP)
                  .key(Map.of(Items.KEY, key))
                  .conditionExpression(NEXT)
                  .expressionAttributeValues(Map.of(":nonce", text(stored))));
    } catch (SdkException e) {
      // Claims delete nothing, so the role may not be allowed to.
      LOG.debug(
          "Item {} of a conformance check of DynamoDB table {} is left to its TTL",
          key.s(),
          table.name(),
          e);
    }
  }
}
