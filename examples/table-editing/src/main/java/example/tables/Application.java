package example.tables;

import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.board.StatusBoard;
import io.firstclaim.lock.dynamodb.DynamoDbBoardStore;
import io.firstclaim.lock.dynamodb.DynamoDbTable;
import io.micronaut.context.annotation.Bean;
import io.micronaut.context.annotation.Context;
import io.micronaut.context.annotation.Factory;
import io.micronaut.runtime.Micronaut;
import jakarta.inject.Singleton;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/**
 * Serves the page on http://localhost:8080/. Region, credentials and endpoint are the AWS SDK's,
 * such as {@code AWS_REGION} and {@code AWS_ENDPOINT_URL_DYNAMODB}; run it as often as you like.
 */
@Factory
final class Application {
  /** Called by Java. */
  public static void main(String[] args) {
    Micronaut.run(Application.class, args);
  }

  @Bean(preDestroy = "close")
  @Singleton
  DynamoDbClient client() {
    return DynamoDbClient.create();
  }

  @Context // at the start, not at the first request
  StatusBoard<TableStatus> board(DynamoDbClient client) {
    new DynamoDbTable(client, "firstclaim").create();
    var time = TimeSource.system();
    var store = new DynamoDbBoardStore(client, "firstclaim", "tables", time);
    return new StatusBoard<>(store, Tables.TRANSITIONS, time);
  }
}
