package io.firstclaim.lock.dynamodb;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.testkit.UnreadableClaimContract;
import java.util.Map;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

class DynamoDbUnreadableClaimTest extends UnreadableClaimContract {
  @Override
  protected ClaimStore store(ClaimSettings settings) {
    return LocalDynamoDb.store(settings, time);
  }

  private static Map<String, AttributeValue> item(String key) {
    return Map.of(Items.KEY, Items.text(key), "lockOwner", Items.text("somebody else"));
  }

  @Override
  protected void overwrite(String key) {
    LocalDynamoDb.client().putItem(put -> put.tableName(LocalDynamoDb.TABLE).item(item(key)));
  }

  @Override
  protected boolean isAsOverwritten(String key) {
    return LocalDynamoDb.client()
        .getItem(
            get ->
                get.tableName(LocalDynamoDb.TABLE)
                    .key(Map.of(Items.KEY, Items.text(key)))
                    .consistentRead(true))
        .item()
        .equals(item(key));
  }
}
