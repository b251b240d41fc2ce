package io.firstclaim.lock.dynamodb;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimResult.Granted;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimState;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.SettleResult.Settled;
import io.firstclaim.lock.SettleResult.Unknown;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.TimeSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Two zones race for many records, while requests and single statements fail in every way. */
@Timeout(600)
class BatchChaosTest {
  private static final int RECORDS = Boolean.getBoolean("soak") ? 100_000 : 5_000;
  private static final int AT_ONCE = 64;
  private static final double SHARE = 0.01;

  private static final List<String> CODES =
      List.of(
          "ConditionalCheckFailed",
          "DuplicateItem",
          "ThrottlingError",
          "ProvisionedThroughputExceeded",
          "InternalServerError",
          "TransactionConflict",
          "AccessDenied",
          "ValidationError",
          "SomethingNew");

  private static final TimeSource TIME = TimeSource.system();

  private final String namespace = "chaos-" + Nonce.random();
  private final AtomicIntegerArray grants = new AtomicIntegerArray(RECORDS);
  private final AtomicIntegerArray completions = new AtomicIntegerArray(RECORDS);

  private record Zone(ClaimStore store, FaultyClient client, Queue<Integer> left) {}

  private Zone zone(String name) {
    FaultyClient client = new FaultyClient(LocalDynamoDb.client());
    client.requests(sent -> hits() ? any(List.of(FaultyClient.Request.values())) : sent);
    client.statements(
        _ ->
            !hits()
                ? FaultyClient.SENT
                : ThreadLocalRandom.current().nextBoolean()
                    ? new FaultyClient.Fate.Refused(any(CODES))
                    : new FaultyClient.Fate.AppliedBut(any(CODES)));
    ClaimSettings settings = ClaimSettings.of(namespace, name);
    Queue<Integer> left = new ConcurrentLinkedQueue<>(IntStream.range(0, RECORDS).boxed().toList());
    return new Zone(
        new DynamoDbClaimStore(LocalDynamoDb.items(client, settings, TIME), 25), client, left);
  }

  private static boolean hits() {
    return ThreadLocalRandom.current().nextDouble() < SHARE;
  }

  private static <T> T any(List<T> all) {
    return all.get(ThreadLocalRandom.current().nextInt(all.size()));
  }

  @Test
  void statementsThatFailInEveryWay_leaveEachRecordDoneOnce() throws Exception {
    List<Zone> zones = List.of(zone("a"), zone("b"));
    List<FutureTask<Void>> workers = new ArrayList<>();
    for (Zone zone : zones) {
      for (int i = 0; i < AT_ONCE; i++) {
        workers.add(new FutureTask<>(() -> work(zone), null));
      }
    }
    workers.forEach(worker -> Thread.ofVirtual().start(worker));
    for (FutureTask<Void> worker : workers) {
      worker.get();
    }

    for (int i = 0; i < RECORDS; i++) {
      assertThat(grants.get(i)).as("grants of %s", id(i)).isEqualTo(1);
      assertThat(completions.get(i)).as("completions of %s", id(i)).isEqualTo(1);
    }
    ClaimStore other = LocalDynamoDb.store(ClaimSettings.of(namespace, "c"), TIME);
    for (int i = 0; i < RECORDS; i += 97) {
      assertThat(other.find(id(i)))
          .get()
          .satisfies(
              record -> {
                assertThat(record.token()).isEqualTo(1);
                assertThat(record.state()).isInstanceOf(ClaimState.Done.class);
              });
    }
    int writes =
        zones.stream().mapToInt(z -> z.client.batches().stream().mapToInt(n -> n).sum()).sum();
    int batches = zones.stream().mapToInt(z -> z.client.batches().size()).sum();
    int singles = zones.stream().mapToInt(z -> z.client.singles().size()).sum();
    System.out.printf(
        "%d records: %d statements in %d requests, %d single requests%n",
        RECORDS, writes, batches, singles);
    assertThat(writes).as("most writes are in batches").isGreaterThan(RECORDS);
  }

  private static RecordId id(int record) {
    return RecordId.of("record-" + record);
  }

  private void work(Zone zone) {
    Integer next;
    while ((next = zone.left.poll()) != null) {
      Claim claim = Claim.of(id(next), Fingerprint.none(), TIME.now());
      switch (claimed(zone.store, claim)) {
        case Granted(Lease lease, var _) -> {
          grants.incrementAndGet(next);
          complete(zone.store, lease, next);
        }
        case ClaimResult.Held _ -> zone.left.add(next);
        case ClaimResult.Done _ -> {}
        case ClaimResult other -> throw new IllegalStateException(other.toString());
      }
    }
  }

  private static ClaimResult claimed(ClaimStore store, Claim claim) {
    while (true) {
      try {
        return store.claim(claim);
      } catch (StoreUnavailableException e) {
        // The same claim again.
      }
    }
  }

  private void complete(ClaimStore store, Lease lease, int record) {
    SettleResult answer;
    do {
      answer = store.complete(lease, null);
    } while (answer instanceof Unknown);
    assertThat(answer).isInstanceOf(Settled.class);
    completions.incrementAndGet(record);
  }
}
