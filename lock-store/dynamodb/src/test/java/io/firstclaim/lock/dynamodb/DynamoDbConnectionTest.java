package io.firstclaim.lock.dynamodb;

import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.document.DocumentStore;
import io.firstclaim.lock.testkit.ConnectionContract;
import io.firstclaim.lock.testkit.fault.FaultProxy;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

class DynamoDbConnectionTest extends ConnectionContract {
  private final FaultProxy proxy = FaultProxy.start(LocalDynamoDb.endpoint());
  private final DynamoDbClient client =
      DynamoDbTable.configure(
              LocalDynamoDb.intercepted(
                  LocalDynamoDb.builder(proxy.endpoint())
                      .httpClientBuilder(Apache5HttpClient.builder().maxConnections(1)),
                  faults),
              SETTINGS)
          .build();

  @AfterEach
  void close() {
    client.close();
  }

  @Override
  protected FaultProxy proxy() {
    return proxy;
  }

  @Override
  protected ClaimStore claims() {
    return LocalDynamoDb.store(client, SETTINGS, time);
  }

  @Override
  protected DocumentStore documents() {
    return new DynamoDbDocumentStore(client, LocalDynamoDb.TABLE);
  }

  @Override
  protected void askPatiently() {
    client.listTables(
        list ->
            list.overrideConfiguration(
                limit ->
                    limit
                        .apiCallTimeout(Duration.ofMinutes(1))
                        .apiCallAttemptTimeout(Duration.ofMinutes(1))));
  }
}
