package io.firstclaim.processor.service.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeDefinition;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.BillingMode;
import software.amazon.awssdk.services.dynamodb.model.KeySchemaElement;
import software.amazon.awssdk.services.dynamodb.model.KeyType;
import software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType;

/** A table that removes nothing by itself. */
class TableWithoutTtlIT {
  /** So many that no machine stands still through all of their deletes. */
  private static final int PAST = 50;

  /** When they were to go. */
  private static final AttributeValue LONG_AGO = AttributeValue.fromN("1");

  @RegisterExtension final Scenario scenario = new Scenario(Backend.DYNAMODB, 1);

  @Test
  void claimsPastTheirRetention_areSweptByAnInstance() {
    try (DynamoDbClient client = DynamoDbClaims.client()) {
      create(client);
      Feed.ids("past", PAST).forEach(id -> put(client, id));
      Zone zone =
          scenario
              .zone("a")
              .set("FIRSTCLAIM_CLAIM_DYNAMODB_TABLE", table())
              .set("FIRSTCLAIM_CLAIM_CREATE", "false");

      scenario.start(zone);

      // A delete that had no answer in time is sent again, and refused where it was done by then;
      // it is given up if it has none for long, until the sweep of the next day.
      scenario.eventually(
          "each was deleted and counted, but for such deletes",
          () ->
              assertThat(removed(zone) + deletes(zone, "refused") + deletes(zone, "error"))
                  .isEqualTo(PAST));
      assertThat(removed(zone)).isPositive();
      assertThat(deletes(zone, "error"))
          .as("as many at least as are there still")
          .isGreaterThanOrEqualTo(left(client));
    }
  }

  private static double removed(Zone zone) {
    return zone.metric("firstclaim_sweep_removed_total");
  }

  private static double deletes(Zone zone, String result) {
    return zone.metric(
        "firstclaim_store_requests_total", "op=\"delete\"", "result=\"%s\"".formatted(result));
  }

  /** How many of the claims that are past are there still. */
  private int left(DynamoDbClient client) {
    return client
        .scan(
            scan ->
                scan.tableName(table())
                    .consistentRead(true)
                    .filterExpression("expiresAt = :past")
                    .expressionAttributeValues(Map.of(":past", LONG_AGO)))
        .count();
  }

  private void put(DynamoDbClient client, String id) {
    client.putItem(
        put ->
            put.tableName(table())
                .item(
                    Map.of(
                        "pk", AttributeValue.fromS(id),
                        "claimState", AttributeValue.fromS("DONE"),
                        "fencingToken", AttributeValue.fromN("1"),
                        "nonce", AttributeValue.fromS("a"),
                        "expiresAt", LONG_AGO)));
  }

  private String table() {
    return scenario.topic() + "-without-ttl";
  }

  private void create(DynamoDbClient client) {
    client.createTable(
        create ->
            create
                .tableName(table())
                .billingMode(BillingMode.PAY_PER_REQUEST)
                .keySchema(
                    KeySchemaElement.builder().attributeName("pk").keyType(KeyType.HASH).build())
                .attributeDefinitions(
                    AttributeDefinition.builder()
                        .attributeName("pk")
                        .attributeType(ScalarAttributeType.S)
                        .build()));
  }
}
