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
  @RegisterExtension final Scenario scenario = new Scenario(Backend.DYNAMODB, 1);

  @Test
  void claimPastItsRetention_isSweptByAnInstance() {
    Map<String, AttributeValue> key = Map.of("pk", AttributeValue.fromS("long ago"));
    try (DynamoDbClient client = DynamoDbClaims.client()) {
      create(client);
      client.putItem(
          put ->
              put.tableName(table())
                  .item(
                      Map.of(
                          "pk", AttributeValue.fromS("long ago"),
                          "claimState", AttributeValue.fromS("DONE"),
                          "fencingToken", AttributeValue.fromN("1"),
                          "nonce", AttributeValue.fromS("a"),
                          "expiresAt", AttributeValue.fromN("1"))));
      Zone zone =
          scenario
              .zone("a")
              .set("FIRSTCLAIM_CLAIM_DYNAMODB_TABLE", table())
              .set("FIRSTCLAIM_CLAIM_CREATE", "false");

      scenario.start(zone);

      scenario.eventually(
          "it is gone",
          () ->
              assertThat(client.getItem(get -> get.tableName(table()).key(key)).hasItem())
                  .isFalse());
      scenario.eventually(
          "it is counted",
          () -> assertThat(zone.metric("firstclaim_sweep_removed_total")).isEqualTo(1));
    }
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
