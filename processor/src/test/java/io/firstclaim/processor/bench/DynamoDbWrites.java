package io.firstclaim.processor.bench;

import com.sun.management.OperatingSystemMXBean;
import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.TimeSource;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.PutItemRequest;
import software.amazon.awssdk.services.dynamodb.model.UpdateItemRequest;

/**
 * The baseline: the same two conditional writes a record, of the same size, by the bare SDK;
 * nothing else.
 */
final class DynamoDbWrites {
  /** What a run took. */
  record Figure(Duration wall, Duration cpu, int records) {
    double perSecond() {
      return records / (wall.toNanos() / 1e9);
    }

    double cpuMicros() {
      return cpu.toNanos() / 1e3 / records;
    }

    @Override
    public String toString() {
      return "%,.0f records/s, %.0f µs CPU each".formatted(perSecond(), cpuMicros());
    }
  }

  private static final OperatingSystemMXBean OS =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  private DynamoDbWrites() {}

  static Duration cpu() {
    return Duration.ofNanos(OS.getProcessCpuTime());
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

  /** So many records, two writes each, so many at once on virtual threads. */
  static Figure raw(Sender sender, String table, int records, int atOnce)
      throws InterruptedException, ExecutionException {
    AtomicInteger next = new AtomicInteger();
    String run = "raw-" + ThreadLocalRandom.current().nextLong() + "-";
    Duration cpu = cpu();
    long start = System.nanoTime();
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> writers = new ArrayList<>();
      for (int i = 0; i < atOnce; i++) {
        writers.add(
            threads.submit(
                () -> {
                  int n;
                  while ((n = next.getAndIncrement()) < records) {
                    write(sender, table, run + n);
                  }
                }));
      }
      for (Future<?> writer : writers) {
        writer.get();
      }
    }
    return new Figure(Duration.ofNanos(System.nanoTime() - start), cpu().minus(cpu), records);
  }

  private static void write(Sender sender, String table, String id) {
    // Not in the past: the table's TTL would delete the item between the two writes.
    Instant now = TimeSource.system().now().wall();
    AttributeValue expires = number(now.plus(Duration.ofDays(8)).getEpochSecond());
    Map<String, AttributeValue> values = new HashMap<>();
    byte[] raw = id.getBytes(StandardCharsets.UTF_8);
    values.put(":id", AttributeValue.fromB(SdkBytes.fromByteArrayUnsafe(raw)));
    values.put(":held", AttributeValue.fromS("HELD"));
    values.put(":holder", AttributeValue.fromS("a/bench"));
    values.put(":lease", AttributeValue.fromN("30000"));
    values.put(":end", number(now.plusSeconds(30).toEpochMilli()));
    values.put(":nonce", AttributeValue.fromS("0123456789abcdef0123456789abcdef"));
    values.put(":hash", AttributeValue.fromB(SdkBytes.fromByteArray(new byte[32])));
    values.put(":expires", expires);
    values.put(":over", number(now.toEpochMilli()));
    values.put(":zero", AttributeValue.fromN("0"));
    values.put(":one", AttributeValue.fromN("1"));
    AttributeValue key = AttributeValue.fromS(RecordId.of(raw).key("bench"));
    sender.send(
        UpdateItemRequest.builder()
            .tableName(table)
            .key(Map.of("pk", key))
            .updateExpression(
                "SET recordId = :id, claimState = :held, holder = :holder, leaseMillis ="
                    + " :lease, leaseEnd = :end, nonce = :nonce, payloadHash = :hash,"
                    + " expiresAt = :expires, fencingToken = if_not_exists(fencingToken,"
                    + " :zero) + :one, attempts = if_not_exists(attempts, :zero) + :one")
            .conditionExpression("attribute_not_exists(pk) OR leaseEnd < :over")
            .expressionAttributeValues(values)
            .build());
    Map<String, AttributeValue> item = new HashMap<>();
    item.put("pk", key);
    item.put("recordId", AttributeValue.fromB(SdkBytes.fromByteArrayUnsafe(raw)));
    item.put("claimState", AttributeValue.fromS("DONE"));
    item.put("holder", AttributeValue.fromS("a/bench"));
    item.put("fencingToken", AttributeValue.fromN("1"));
    item.put("attempts", AttributeValue.fromN("1"));
    item.put("endedAt", number(now.toEpochMilli()));
    item.put("nonce", AttributeValue.fromS("0123456789abcdef0123456789abcdee"));
    item.put("payloadHash", AttributeValue.fromB(SdkBytes.fromByteArray(new byte[32])));
    item.put("expiresAt", expires);
    sender.send(
        PutItemRequest.builder()
            .tableName(table)
            .item(item)
            .conditionExpression("fencingToken = :token AND nonce = :nonce")
            .expressionAttributeValues(
                Map.of(
                    ":token",
                    AttributeValue.fromN("1"),
                    ":nonce",
                    AttributeValue.fromS("0123456789abcdef0123456789abcdef")))
            .build());
  }

  private static AttributeValue number(long value) {
    return AttributeValue.fromN(Long.toString(value));
  }

  /** Claim, handle, complete, one after the other, as the articles do. */
  static Figure naive(ClaimStore store, int records) {
    TimeSource time = TimeSource.system();
    String run = "naive-" + ThreadLocalRandom.current().nextLong();
    Duration cpu = cpu();
    Instant start = time.now().wall();
    for (int i = 0; i < records; i++) {
      Claim claim = Claim.of(RecordId.of(run + i), Fingerprint.none(), time.now());
      if (store.claim(claim) instanceof ClaimResult.Granted granted) {
        var _ = store.complete(granted.lease(), null);
      }
    }
    return new Figure(Duration.between(start, time.now().wall()), cpu().minus(cpu), records);
  }
}
