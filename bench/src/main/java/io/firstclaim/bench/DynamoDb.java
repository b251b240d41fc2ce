package io.firstclaim.bench;

import io.firstclaim.bench.Instance.Plan;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.StoreListener;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.dynamodb.DynamoDbClaimStore;
import io.firstclaim.lock.dynamodb.DynamoDbTable;
import io.firstclaim.stack.server.DynamoDbServer;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.http.SdkHttpClient;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.http.async.SdkAsyncHttpClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClientBuilder;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.BatchExecuteStatementResponse;
import software.amazon.awssdk.services.dynamodb.model.BatchStatementRequest;
import software.amazon.awssdk.services.dynamodb.model.BatchStatementResponse;
import software.amazon.awssdk.services.dynamodb.model.PutItemRequest;
import software.amazon.awssdk.services.dynamodb.model.UpdateItemRequest;

/** A server of DynamoDB's protocol. */
final class DynamoDb implements Backend, AutoCloseable {
  private final Stack stack;
  private final String name;
  private final URI endpoint;
  private final Runnable end;

  private DynamoDb(Stack stack, String name, URI endpoint, Runnable end) {
    this.stack = stack;
    this.name = name;
    this.endpoint = endpoint;
    this.end = end;
  }

  /** DynamoDB Local, which takes some 2,600 writes a second and no more. */
  static DynamoDb local(Stack stack) {
    DynamoDbServer server = DynamoDbServer.start();
    return new DynamoDb(stack, "DynamoDB Local", server.endpoint(), server::close);
  }

  /** A server that is no wall, whose answers take so much longer. */
  static DynamoDb standIn(Stack stack, Duration latency) {
    return of(stack, StandInProcess.start(latency));
  }

  /** A stand-in that was started before. */
  static DynamoDb of(Stack stack, StandInProcess server) {
    return new DynamoDb(stack, "the stand-in for DynamoDB", server.endpoint(), server::close);
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public URI endpoint() {
    return endpoint;
  }

  @Override
  public boolean joinsWrites() {
    return true;
  }

  @Override
  public String newPlace() {
    String table = stack.name("claims");
    try (DynamoDbClient client = client(endpoint())) {
      new DynamoDbTable(client, table).create();
    }
    return table;
  }

  /** Forgets a table and what is in it. */
  void drop(String table) {
    try (DynamoDbClient client = client(endpoint())) {
      var _ = client.deleteTable(delete -> delete.tableName(table));
    }
  }

  @Override
  public Session open(URI endpoint, String table, StoreListener listener) {
    DynamoDbClient client = client(endpoint);
    Sender sender = Sender.of(client);
    return new Session() {
      @Override
      public ClaimStore store(Plan plan) {
        return new DynamoDbClaimStore(client, table, plan.store(), TimeSource.system(), listener);
      }

      @Override
      public ClaimStore singly(Plan plan) {
        return new DynamoDbClaimStore(
            client, table, plan.store(), TimeSource.system(), listener, 1);
      }

      @Override
      public void writeTwice(String id) {
        write(sender, table, id);
      }

      @Override
      public Optional<Figure> batches(int records, int atOnce)
          throws InterruptedException, ExecutionException {
        String run = "batches-" + ThreadLocalRandom.current().nextLong() + "-";
        Figure figure =
            Session.atOnce(
                records / DynamoDbClaimStore.BATCH,
                atOnce,
                n -> writeBatches(client, table, run + n + "-"));
        return Optional.of(figure.times(DynamoDbClaimStore.BATCH));
      }

      @Override
      public void close() {
        client.close();
      }
    };
  }

  /** Writes through any of the SDK's clients. */
  Session bare(Sender sender, String table) {
    return new Session() {
      @Override
      public ClaimStore store(Plan plan) {
        throw new UnsupportedOperationException();
      }

      @Override
      public void writeTwice(String id) {
        write(sender, table, id);
      }

      @Override
      public void close() {}
    };
  }

  @Override
  public void close() {
    end.run();
  }

  static DynamoDbClient client(URI endpoint) {
    return client(endpoint, Apache5HttpClient.builder().maxConnections(Stack.CONNECTIONS));
  }

  /** A client as the service has it, to this endpoint. */
  static DynamoDbClient client(URI endpoint, SdkHttpClient.Builder<?> http) {
    return Stack.at(endpoint, DynamoDbTable.configure(DynamoDbClient.builder(), Stack.SETTINGS))
        .httpClientBuilder(http)
        .build();
  }

  /** The same, asynchronous. */
  static DynamoDbAsyncClient asyncClient(URI endpoint, SdkAsyncHttpClient.Builder<?> http) {
    return asyncBuilder(endpoint, http).build();
  }

  static DynamoDbAsyncClientBuilder asyncBuilder(URI endpoint, SdkAsyncHttpClient.Builder<?> http) {
    var limits = DynamoDbTable.configure(DynamoDbClient.builder(), Stack.SETTINGS);
    return Stack.at(endpoint, DynamoDbAsyncClient.builder())
        .overrideConfiguration(limits.overrideConfiguration())
        .httpClientBuilder(http);
  }

  /** Sends requests and waits for their answers. */
  interface Sender {
    void send(UpdateItemRequest claim);

    void send(PutItemRequest completion);

    static Sender of(DynamoDbClient client) {
      return new Sender() {
        @Override
        public void send(UpdateItemRequest claim) {
          var _ = client.updateItem(claim);
        }

        @Override
        public void send(PutItemRequest completion) {
          var _ = client.putItem(completion);
        }
      };
    }

    static Sender of(DynamoDbAsyncClient client) {
      return new Sender() {
        @Override
        public void send(UpdateItemRequest claim) {
          var _ = client.updateItem(claim).join();
        }

        @Override
        public void send(PutItemRequest completion) {
          var _ = client.putItem(completion).join();
        }
      };
    }
  }

  /** So many records as fit, in two requests. */
  private static void writeBatches(DynamoDbClient client, String table, String name) {
    Instant now = TimeSource.system().now().wall();
    List<BatchStatementRequest> inserts = new ArrayList<>();
    List<BatchStatementRequest> updates = new ArrayList<>();
    for (int i = 0; i < DynamoDbClaimStore.BATCH; i++) {
      byte[] raw = (name + i).getBytes(StandardCharsets.UTF_8);
      AttributeValue key = AttributeValue.fromS(RecordId.of(raw).key("bench"));
      AttributeValue expires = number(now.plus(Duration.ofDays(15)).getEpochSecond());
      AttributeValue nonce = AttributeValue.fromS("0123456789abcdef0123456789abcdef");
      inserts.add(
          statement(
              "INSERT INTO \"%s\" VALUE {'pk':?,'recordId':?,'claimState':?,'holder':?,'leaseMillis':?,'leaseEnd':?,'nonce':?,'payloadHash':?,'expiresAt':?,'fencingToken':?,'attempts':?}"
                  .formatted(table),
              key,
              AttributeValue.fromB(SdkBytes.fromByteArrayUnsafe(raw)),
              AttributeValue.fromS("HELD"),
              AttributeValue.fromS("a/bench"),
              AttributeValue.fromN("30000"),
              number(now.plusSeconds(30).toEpochMilli()),
              nonce,
              AttributeValue.fromB(SdkBytes.fromByteArray(new byte[32])),
              expires,
              AttributeValue.fromN("1"),
              AttributeValue.fromN("1")));
      updates.add(
          statement(
              "UPDATE \"%s\" SET claimState=? SET endedAt=? SET nonce=? SET expiresAt=? REMOVE leaseMillis REMOVE leaseEnd WHERE pk=? AND fencingToken=? AND nonce=?"
                  .formatted(table),
              AttributeValue.fromS("DONE"),
              number(now.toEpochMilli()),
              AttributeValue.fromS("0123456789abcdef0123456789abcdee"),
              expires,
              key,
              AttributeValue.fromN("1"),
              nonce));
    }
    requireTaken(client.batchExecuteStatement(batch -> batch.statements(inserts)));
    requireTaken(client.batchExecuteStatement(batch -> batch.statements(updates)));
  }

  private static BatchStatementRequest statement(String text, AttributeValue... values) {
    return BatchStatementRequest.builder().statement(text).parameters(values).build();
  }

  private static void requireTaken(BatchExecuteStatementResponse answer) {
    for (BatchStatementResponse each : answer.responses()) {
      if (each.error() != null) {
        throw new IllegalStateException(each.error().toString());
      }
    }
  }

  private static void write(Sender sender, String table, String id) {
    sender.send(claimOf(table, id));
    sender.send(completionOf(table, id));
  }

  /** The request of a claim: it is one, even where the claim takes over. */
  static UpdateItemRequest claimOf(String table, String id) {
    Instant now = TimeSource.system().now().wall();
    Map<String, AttributeValue> values = new HashMap<>();
    byte[] raw = id.getBytes(StandardCharsets.UTF_8);
    values.put(":id", AttributeValue.fromB(SdkBytes.fromByteArrayUnsafe(raw)));
    values.put(":held", AttributeValue.fromS("HELD"));
    values.put(":holder", AttributeValue.fromS("a/bench"));
    values.put(":lease", AttributeValue.fromN("30000"));
    values.put(":end", number(now.plusSeconds(30).toEpochMilli()));
    values.put(":nonce", AttributeValue.fromS("0123456789abcdef0123456789abcdef"));
    values.put(":hash", AttributeValue.fromB(SdkBytes.fromByteArray(new byte[32])));
    values.put(":expires", expiryOf(now));
    values.put(":over", number(now.toEpochMilli()));
    values.put(":zero", AttributeValue.fromN("0"));
    values.put(":one", AttributeValue.fromN("1"));
    return UpdateItemRequest.builder()
        .tableName(table)
        .key(Map.of("pk", AttributeValue.fromS(RecordId.of(raw).key("bench"))))
        .updateExpression(
            "SET recordId = :id, claimState = :held, holder = :holder, leaseMillis ="
                + " :lease, leaseEnd = :end, nonce = :nonce, payloadHash = :hash,"
                + " expiresAt = :expires, fencingToken = if_not_exists(fencingToken,"
                + " :zero) + :one, attempts = if_not_exists(attempts, :zero) + :one")
        .conditionExpression("attribute_not_exists(pk) OR leaseEnd < :over")
        .expressionAttributeValues(values)
        .build();
  }

  /** The request that completes that claim. */
  static PutItemRequest completionOf(String table, String id) {
    Instant now = TimeSource.system().now().wall();
    byte[] raw = id.getBytes(StandardCharsets.UTF_8);
    Map<String, AttributeValue> item = new HashMap<>();
    item.put("pk", AttributeValue.fromS(RecordId.of(raw).key("bench")));
    item.put("recordId", AttributeValue.fromB(SdkBytes.fromByteArrayUnsafe(raw)));
    item.put("claimState", AttributeValue.fromS("DONE"));
    item.put("holder", AttributeValue.fromS("a/bench"));
    item.put("fencingToken", AttributeValue.fromN("1"));
    item.put("attempts", AttributeValue.fromN("1"));
    item.put("endedAt", number(now.toEpochMilli()));
    item.put("nonce", AttributeValue.fromS("0123456789abcdef0123456789abcdee"));
    item.put("payloadHash", AttributeValue.fromB(SdkBytes.fromByteArray(new byte[32])));
    item.put("expiresAt", expiryOf(now));
    return PutItemRequest.builder()
        .tableName(table)
        .item(item)
        .conditionExpression("fencingToken = :token AND nonce = :nonce")
        .expressionAttributeValues(
            Map.of(
                ":token",
                AttributeValue.fromN("1"),
                ":nonce",
                AttributeValue.fromS("0123456789abcdef0123456789abcdef")))
        .build();
  }

  /** Not in the past: the table's TTL would delete the item between the two writes. */
  private static AttributeValue expiryOf(Instant now) {
    return number(now.plus(Duration.ofDays(15)).getEpochSecond());
  }

  private static AttributeValue number(long value) {
    return AttributeValue.fromN(Long.toString(value));
  }
}
