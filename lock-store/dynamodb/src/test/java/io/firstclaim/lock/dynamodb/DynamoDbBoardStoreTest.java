package io.firstclaim.lock.dynamodb;

import io.firstclaim.lock.Effects;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.board.BoardStore;
import io.firstclaim.lock.testkit.board.StatusBoardContract;
import java.util.Map;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.ReturnValuesOnConditionCheckFailure;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;

class DynamoDbBoardStoreTest extends StatusBoardContract {
  @Override
  protected BoardStore store(String board) {
    return new DynamoDbBoardStore(
        LocalDynamoDb.client(), LocalDynamoDb.TABLE, board, TimeSource.system());
  }

  private static Map<String, AttributeValue> key(String counter) {
    return Map.of(Items.KEY, Items.text("counter/" + counter));
  }

  @Override
  protected Effects count(String counter, int most) {
    return DynamoDbEffects.of(
        TransactWriteItem.builder()
            .update(
                update ->
                    update
                        .tableName(LocalDynamoDb.TABLE)
                        .key(key(counter))
                        .updateExpression("ADD counted :one")
                        .conditionExpression(
                            most == 0
                                ? "attribute_exists(counted) AND counted < :most"
                                : "attribute_not_exists(counted) OR counted < :most")
                        .expressionAttributeValues(
                            Map.of(":one", Items.number(1), ":most", Items.number(most)))
                        .returnValuesOnConditionCheckFailure(
                            ReturnValuesOnConditionCheckFailure.ALL_OLD))
            .build());
  }

  @Override
  protected int counted(String counter) {
    AttributeValue found =
        LocalDynamoDb.client()
            .getItem(get -> get.tableName(LocalDynamoDb.TABLE).key(key(counter)))
            .item()
            .get("counted");
    return found == null ? 0 : Integer.parseInt(found.n());
  }
}
