package io.firstclaim.processor.service.store;

import io.firstclaim.lock.ClaimOperations;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ConformanceResult;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.StoreListener;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.board.BoardStore;
import io.firstclaim.lock.document.DocumentStore;
import io.firstclaim.lock.dynamodb.DynamoDbBoardStore;
import io.firstclaim.lock.dynamodb.DynamoDbClaimStore;
import io.firstclaim.lock.dynamodb.DynamoDbDocumentStore;
import io.firstclaim.lock.dynamodb.DynamoDbTable;
import io.firstclaim.lock.dynamodb.TableSweeper;
import io.firstclaim.lock.store.DrivenClaimStore;
import io.firstclaim.processor.service.config.Backend;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/** Claims in a DynamoDB table. */
final class DynamoDbStore implements LockStore {
  private final Backend.DynamoDb place;
  private final ClaimSettings claims;
  private final DynamoDbClient client;
  private final DynamoDbTable table;

  DynamoDbStore(Backend.DynamoDb place, ClaimSettings claims) {
    this.place = place;
    this.claims = claims;
    this.client =
        AwsClients.DYNAMODB.client(DynamoDbTable.configure(DynamoDbClient.builder(), claims));
    this.table = new DynamoDbTable(client, place.table());
  }

  @Override
  public String name() {
    return place.toString();
  }

  @Override
  public DrivenClaimStore open(TimeSource time, StoreMetrics metrics, Upkeep upkeep) {
    DrivenClaimStore store =
        ask(
            () -> {
              create();
              return DynamoDbClaimStore.open(
                  client, place.table(), claims, time, metrics, place.batch());
            });
    if (place.sweep().isPositive()) {
      var sweeper =
          new TableSweeper(client, place.table(), claims, place.sweep(), time, metrics, metrics);
      upkeep.start("sweep of the claims", sweeper::sweep);
    }
    return store;
  }

  @Override
  public DrivenClaimStore unverified(TimeSource time) {
    return new DynamoDbClaimStore(client, place.table(), claims, time, StoreListener.NONE, 1);
  }

  @Override
  public ClaimOperations operations(TimeSource time, StoreListener listener) {
    return new AskedClaims(
        new DynamoDbClaimStore(client, place.table(), claims, time, listener),
        AwsClients.DYNAMODB,
        client.serviceClientConfiguration().region());
  }

  @Override
  public <T> T onBoard(String board, TimeSource time, Function<BoardStore, T> asked) {
    return ask(() -> asked.apply(new DynamoDbBoardStore(client, place.table(), board, time)));
  }

  @Override
  public DocumentStore documents() {
    return new DynamoDbDocumentStore(client, place.table());
  }

  @Override
  public String documentsPrefix() {
    return "";
  }

  @Override
  public String key(RecordId id) {
    return id.key(claims.namespace());
  }

  @Override
  public List<ConformanceResult> probe() {
    return ask(
        () -> {
          create();
          return table.checks();
        });
  }

  private <T> T ask(Supplier<T> request) {
    return AwsClients.DYNAMODB.ask(client.serviceClientConfiguration().region(), request);
  }

  private void create() {
    if (place.create()) {
      table.create();
    }
  }

  @Override
  public void close() {
    client.close();
  }
}
