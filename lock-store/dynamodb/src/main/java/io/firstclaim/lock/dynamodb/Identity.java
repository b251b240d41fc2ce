package io.firstclaim.lock.dynamodb;

import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.aws.TimeLimits;
import java.util.Map;
import java.util.Optional;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;

/** The item that names a table: written once, by whoever is first, and never changed. */
record Identity(DynamoDbClient client, String table) {
  static final String ITEM = "firstclaim-identity";
  private static final Map<String, AttributeValue> KEY = Map.of(Items.KEY, Items.text(ITEM));

  /** The identity, made if there is none. */
  String get() {
    Optional<String> made = read();
    if (made.isEmpty()) {
      make();
    }
    return made.or(this::read)
        .orElseThrow(
            () ->
                new StoreRefusedException(
                    "item %s of DynamoDB table %s holds no identity: delete it, and restart all that use the table"
                        .formatted(ITEM, table)));
  }

  private Optional<String> read() {
    AttributeValue nonce =
        client
            .getItem(
                get ->
                    get.tableName(table)
                        .overrideConfiguration(TimeLimits.SETUP)
                        .key(KEY)
                        .consistentRead(true))
            .item()
            .get(Items.NONCE);
    return Optional.ofNullable(nonce).map(AttributeValue::s);
  }

  private void make() {
    try {
      var unused =
          client.putItem(
              put ->
                  put.tableName(table)
                      .overrideConfiguration(TimeLimits.SETUP)
                      .item(
                          Map.of(
                              Items.KEY,
                              Items.text(ITEM),
                              Items.NONCE,
                              Items.text(Nonce.random().toString())))
                      .conditionExpression("attribute_not_exists(pk)"));
    } catch (ConditionalCheckFailedException e) {
      // Another instance was faster, or the answer to this very request was lost: read it back.
      return;
    }
  }
}
