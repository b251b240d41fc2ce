package example.tables;

import io.firstclaim.lock.Effects;
import io.firstclaim.lock.dynamodb.DynamoDbEffects;
import jakarta.inject.Singleton;
import java.util.Map;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;

/** What is in the tables, a text each, in the DynamoDB table of the board. Thread-safe. */
@Singleton
final class Texts {
  private static final String TABLE = "firstclaim";

  private final DynamoDbClient client;

  Texts(DynamoDbClient client) {
    this.client = client;
  }

  /** The text of a table, as it was saved last. */
  String of(String table) {
    AttributeValue text =
        client
            .getItem(get -> get.tableName(TABLE).key(key(table)).consistentRead(true))
            .item()
            .get("tableText");
    return text == null ? "" : text.s();
  }

  /** That it is saved, with whatever transaction this is given to. */
  static Effects saved(String table, String text) {
    return DynamoDbEffects.of(
        TransactWriteItem.builder()
            .update(
                update ->
                    update
                        .tableName(TABLE)
                        .key(key(table))
                        .updateExpression("SET tableText = :text")
                        .expressionAttributeValues(Map.of(":text", AttributeValue.fromS(text))))
            .build());
  }

  private static Map<String, AttributeValue> key(String table) {
    return Map.of("pk", AttributeValue.fromS("table-text/" + table));
  }
}
