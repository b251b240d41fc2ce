package io.firstclaim.bench;

import java.net.URI;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import software.amazon.awssdk.core.client.config.SdkAdvancedAsyncClientOption;
import software.amazon.awssdk.http.async.SdkAsyncHttpClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;

/**
 * Two conditional writes a record on one asynchronous client, many under way and no thread waiting:
 * the answer to one is what sends the next, on the HTTP client's own threads. DynamoDB speaks
 * HTTP/1.1, so each write under way has a connection.
 */
final class AsyncSdkPeer implements Peer {
  private final DynamoDbAsyncClient client;

  AsyncSdkPeer(URI endpoint, SdkAsyncHttpClient.Builder<?> http) {
    client =
        DynamoDb.asyncBuilder(endpoint, http)
            .asyncConfiguration(
                threads ->
                    threads.advancedOption(
                        SdkAdvancedAsyncClientOption.FUTURE_COMPLETION_EXECUTOR, Runnable::run))
            .build();
  }

  @Override
  public Figure run(Work work) {
    AtomicInteger next = new AtomicInteger();
    Figure.Start start = Figure.start();
    CompletableFuture<?>[] lines =
        Stream.generate(() -> new CompletableFuture<Void>())
            .limit(work.atOnce())
            .toArray(CompletableFuture<?>[]::new);
    for (CompletableFuture<?> line : lines) {
      goOn(work, next, line);
    }
    CompletableFuture.allOf(lines).join();
    return start.end(work.records());
  }

  /** Writes what is next, and so on. */
  private void goOn(Work work, AtomicInteger next, CompletableFuture<?> line) {
    int n = next.getAndIncrement();
    if (n >= work.records()) {
      line.complete(null);
      return;
    }
    var _ =
        client
            .updateItem(DynamoDb.claimOf(work.table(), work.id(n)))
            .thenCompose(_ -> client.putItem(DynamoDb.completionOf(work.table(), work.id(n))))
            .whenComplete(
                (_, fault) -> {
                  if (fault == null) {
                    goOn(work, next, line);
                  } else {
                    line.completeExceptionally(fault);
                  }
                });
  }

  @Override
  public void close() {
    client.close();
  }
}
