package io.firstclaim.stack.server;

import java.util.List;
import java.util.Map;
import java.util.stream.Gatherers;
import java.util.stream.Stream;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.WriteRequest;

/**
 * A DynamoDB table that was made for claims.
 *
 * @param client as the AWS SDK's settings have it
 */
public record AwsTable(String table, DynamoDbClient client) implements AwsPlace {
  /** The system property that names the table. */
  public static final String PROPERTY = "aws.table";

  private static final String KEY = "pk";
  private static final String IDENTITY = "firstclaim-identity";
  private static final int BATCH = 25;

  /** The table of this name, which must be empty. */
  public static AwsTable open(String table) {
    DynamoDbClient client =
        DynamoDbClient.builder()
            .httpClientBuilder(Apache5HttpClient.builder().maxConnections(64))
            .build();
    AwsTable opened = new AwsTable(table, client);
    opened.requireEmpty();
    return opened;
  }

  @Override
  public String name() {
    return PROPERTY + "=" + table;
  }

  /** Whoever makes the table with {@code probe} leaves the item that names it. */
  @Override
  public Stream<String> keys() {
    return allKeys().filter(key -> !key.equals(IDENTITY));
  }

  private Stream<String> allKeys() {
    return client
        .scanPaginator(
            scan ->
                scan.tableName(table)
                    .consistentRead(true)
                    .projectionExpression("#key")
                    .expressionAttributeNames(Map.of("#key", KEY)))
        .items()
        .stream()
        .flatMap(item -> Stream.ofNullable(item.get(KEY)))
        .map(AttributeValue::s);
  }

  @Override
  public void empty() {
    allKeys().map(AwsTable::delete).gather(Gatherers.windowFixed(BATCH)).forEach(this::write);
  }

  private static WriteRequest delete(String key) {
    return WriteRequest.builder()
        .deleteRequest(delete -> delete.key(Map.of(KEY, AttributeValue.fromS(key))))
        .build();
  }

  /** Writes all of them; what DynamoDB has left over is asked again. */
  private void write(List<WriteRequest> deletes) {
    Map<String, List<WriteRequest>> left = Map.of(table, deletes);
    while (!left.isEmpty()) {
      Map<String, List<WriteRequest>> items = left;
      left = client.batchWriteItem(write -> write.requestItems(items)).unprocessedItems();
    }
  }
}
