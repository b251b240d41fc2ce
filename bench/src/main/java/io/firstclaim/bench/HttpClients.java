package io.firstclaim.bench;

import io.firstclaim.bench.DynamoDb.Sender;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.http.crt.AwsCrtHttpClient;
import software.amazon.awssdk.http.nio.netty.NettyNioAsyncHttpClient;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;

/** The SDK's HTTP clients, side by side: two writes a record on DynamoDB Local. */
final class HttpClients {
  private static final int RECORDS = 10_000;
  private static final int AT_ONCE = 48;
  private static final int ROUNDS = 4;

  private final DynamoDb dynamoDb;

  HttpClients(DynamoDb dynamoDb) {
    this.dynamoDb = dynamoDb;
  }

  /** Prints what each of them does, in turn, the best round of each. */
  void compare() throws Exception {
    try (var apache =
            DynamoDb.client(
                dynamoDb.endpoint(),
                Apache5HttpClient.builder().maxConnections(Stack.CONNECTIONS));
        var crt =
            DynamoDb.client(
                dynamoDb.endpoint(), AwsCrtHttpClient.builder().maxConcurrency(Stack.CONNECTIONS));
        var url = DynamoDb.client(dynamoDb.endpoint(), UrlConnectionHttpClient.builder());
        var netty =
            DynamoDb.asyncClient(
                dynamoDb.endpoint(),
                NettyNioAsyncHttpClient.builder().maxConcurrency(Stack.CONNECTIONS))) {
      Map<String, Sender> senders = new LinkedHashMap<>();
      senders.put("apache5", Sender.of(apache));
      senders.put("crt", Sender.of(crt));
      senders.put("url-connection", Sender.of(url));
      senders.put("netty", Sender.of(netty));
      Map<String, List<Figure>> figures = new TreeMap<>();
      for (int round = 0; round < ROUNDS; round++) {
        for (var sender : senders.entrySet()) {
          Figure figure =
              dynamoDb.bare(sender.getValue(), dynamoDb.newPlace()).bare(RECORDS, AT_ONCE);
          figures.computeIfAbsent(sender.getKey(), _ -> new ArrayList<>()).add(figure);
          System.out.printf("  round %d, %s: %s%n", round, sender.getKey(), figure);
        }
      }
      figures.forEach(
          (name, all) ->
              System.out.printf(
                  "%-15s %s%n",
                  name, all.stream().min(Comparator.comparing(Figure::cpu)).orElseThrow()));
    }
  }
}
