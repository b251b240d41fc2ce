package io.firstclaim.lock.dynamodb;

import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.aws.TimeLimits;
import io.firstclaim.lock.store.BoundIdentity;
import java.util.Map;
import java.util.Optional;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;

/**
 * The item that names a table: written once, by whoever is first, and bound to the place, which
 * that of an earlier build is later.
 *
 * @param place what names the table itself, which a backup does not take with it
 */
record Identity(DynamoDbClient client, String table, String place) {
  static final String ITEM = "firstclaim-identity";
  private static final String PLACE = "boundTo";
  private static final Map<String, AttributeValue> KEY = Map.of(Items.KEY, Items.text(ITEM));

  /** The identity, made if there is none. */
  String get() {
    Optional<BoundIdentity> made = read();
    if (made.isEmpty()) {
      make();
    }
    BoundIdentity found =
        made.or(this::read)
            .orElseThrow(
                () ->
                    new StoreRefusedException(
                        "item %s of DynamoDB table %s holds no identity: delete it, and restart all that use the table"
                            .formatted(ITEM, table)));
    if (found.place() == null) {
      bind(found.nonce());
    }
    return found.in(place);
  }

  private Optional<BoundIdentity> read() {
    Map<String, AttributeValue> item =
        client
            .getItem(
                get ->
                    get.tableName(table)
                        .overrideConfiguration(TimeLimits.SETUP)
                        .key(KEY)
                        .consistentRead(true))
            .item();
    AttributeValue bound = item.get(PLACE);
    return Optional.ofNullable(item.get(Items.NONCE))
        .map(AttributeValue::s)
        .map(nonce -> new BoundIdentity(nonce, bound == null ? null : bound.s()));
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
                              Items.text(Nonce.random().toString()),
                              PLACE,
                              Items.text(place)))
                      .conditionExpression("attribute_not_exists(pk)"));
    } catch (ConditionalCheckFailedException e) {
      // Another instance was faster, or the answer to this very request was lost: read it back.
      return;
    }
  }

  private void bind(String nonce) {
    try {
      var unused =
          client.updateItem(
              update ->
                  update
                      .tableName(table)
                      .overrideConfiguration(TimeLimits.SETUP)
                      .key(KEY)
                      .updateExpression("SET boundTo = :place")
                      .conditionExpression("nonce = :nonce AND attribute_not_exists(boundTo)")
                      .expressionAttributeValues(
                          Map.of(":place", Items.text(place), ":nonce", Items.text(nonce))));
    } catch (ConditionalCheckFailedException e) {
      // Another instance was faster, in the same place, or the answer was lost.
      return;
    }
  }
}
