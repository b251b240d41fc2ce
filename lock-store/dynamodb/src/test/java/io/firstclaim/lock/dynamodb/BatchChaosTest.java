package io.firstclaim.lock.dynamodb;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.toMap;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimResult.Granted;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimState.Done;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.RedriveId;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.SettleResult.Settled;
import io.firstclaim.lock.SettleResult.Unknown;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.dynamodb.FaultyClient.Fate;
import io.firstclaim.lock.dynamodb.FaultyClient.Request;
import io.firstclaim.lock.testkit.ManualTime;
import io.firstclaim.lock.testkit.Soak;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/**
 * Two zones, each with a client of its own, race for many records, while one in a hundred requests
 * and statements fails in every way. Some holders renew, some give their record back, some bury it,
 * and it is redriven, some hang until their lease is over and complete it while others take it
 * over. What each holder was told is written down, and compared with what is stored in the end.
 */
@Timeout(1200)
class BatchChaosTest {
  private static final int RECORDS = Integer.getInteger("records", Soak.times(1_000, 100_000));

  private static final int AT_ONCE = 64;
  private static final double SHARE = 0.01;

  private static final List<String> CODES =
      List.of(
          "ConditionalCheckFailed",
          "DuplicateItem",
          "ThrottlingError",
          "RequestLimitExceeded",
          "ProvisionedThroughputExceeded",
          "ItemCollectionSizeLimitExceeded",
          "InternalServerError",
          "TransactionConflict",
          "AccessDenied",
          "ResourceNotFound",
          "ValidationError",
          "SomethingNew");

  private final ManualTime world = ManualTime.start();

  /** The test says when leases end; who pauses goes on at once. */
  private final TimeSource time =
      new TimeSource() {
        @Override
        public Moment now() {
          return world.now();
        }

        @Override
        public void sleep(Duration duration) {}
      };

  private final String namespace = "chaos-" + Nonce.random();
  private final List<Zone> zones = new ArrayList<>();
  private final Queue<Told> grants = new ConcurrentLinkedQueue<>();
  private final Queue<Told> completions = new ConcurrentLinkedQueue<>();
  private final Set<Integer> redriven = ConcurrentHashMap.newKeySet();

  /** What a holder was told. */
  private record Told(int record, long token, String zone) {}

  /** A holder that hangs until its lease is over. */
  private record Hung(int record, Lease lease) {}

  private record Zone(
      String name,
      DynamoDbClient own,
      FaultyClient client,
      DynamoDbClaimStore store,
      Queue<Integer> left,
      Queue<Integer> later,
      Queue<Hung> hung) {}

  /**
   * A zone with all records before it.
   *
   * @param lies the share of statements that are answered as if they were applied, and are not: no
   *     store of any use does that
   */
  private Zone zone(String name, int records, double lies) {
    DynamoDbClient own = LocalDynamoDb.builder(LocalDynamoDb.endpoint()).build();
    FaultyClient client = new FaultyClient(own);
    client.requests(sent -> hits(SHARE) ? any(List.of(Request.values())) : sent);
    client.singleRequests(sent -> hits(SHARE) ? any(List.of(Request.values())) : sent);
    client.statements(
        _ -> hits(lies) ? new Fate.Ignored() : hits(SHARE) ? wrong() : FaultyClient.SENT);
    var items = LocalDynamoDb.items(client, ClaimSettings.of(namespace, name), time);
    return new Zone(
        name,
        own,
        client,
        new DynamoDbClaimStore(items, DynamoDbClaimStore.BATCH),
        new ConcurrentLinkedQueue<>(IntStream.range(0, records).boxed().toList()),
        new ConcurrentLinkedQueue<>(),
        new ConcurrentLinkedQueue<>());
  }

  @AfterEach
  void close() {
    zones.forEach(zone -> zone.own.close());
  }

  private static boolean hits(double share) {
    return ThreadLocalRandom.current().nextDouble() < share;
  }

  private static Fate wrong() {
    return hits(0.5) ? new Fate.Failed(any(CODES)) : new Fate.AppliedBut(any(CODES));
  }

  private static <T> T any(List<T> all) {
    return all.get(ThreadLocalRandom.current().nextInt(all.size()));
  }

  @Test
  void statementsThatFailInEveryWay_leaveEachRecordDoneOnce() throws Exception {
    long start = System.nanoTime();
    Rounds rounds = untilNoneIsLeft(RECORDS, 0);
    Duration took = Duration.ofNanos(System.nanoTime() - start);

    assertToldOnce(RECORDS);
    assertStoredAsTold(RECORDS);
    report(rounds, took);
  }

  /** Shows that the other test notices such lies, or it would prove nothing. */
  @Test
  void secondCompletion_isNoticed() throws Exception {
    var _ = untilNoneIsLeft(500, 0.05);

    assertThatThrownBy(() -> assertToldOnce(500)).isInstanceOf(AssertionError.class);
    assertThat(completions.stream().collect(groupingBy(Told::record)).values())
        .as("records completed twice")
        .anyMatch(each -> each.size() > 1);
  }

  private record Rounds(int rounds, int hung) {}

  private Rounds untilNoneIsLeft(int records, double lies) throws Exception {
    zones.addAll(List.of(zone("a", records, lies), zone("b", records, lies)));
    int rounds = 0;
    int hung = 0;
    do {
      hung += run(rounds == 0);
      world.advance(Duration.ofMinutes(2));
      rounds++;
    } while (zones.stream().anyMatch(zone -> !zone.later.isEmpty()));
    return new Rounds(rounds, hung);
  }

  /** All records that are left, by both zones at once; meanwhile, who hung wakes. */
  private int run(boolean first) throws Exception {
    List<FutureTask<Void>> workers = new ArrayList<>();
    int woken = 0;
    for (Zone zone : zones) {
      Hung late;
      while ((late = zone.hung.poll()) != null) {
        Hung wakes = late;
        workers.add(new FutureTask<>(() -> complete(zone, wakes.record, wakes.lease), null));
        woken++;
      }
      if (!first) {
        zone.left.addAll(zone.later);
        zone.later.clear();
      }
      for (int i = 0; i < AT_ONCE; i++) {
        workers.add(new FutureTask<>(() -> work(zone, first), null));
      }
    }
    workers.forEach(worker -> Thread.ofVirtual().start(worker));
    for (FutureTask<Void> worker : workers) {
      worker.get();
    }
    return woken;
  }

  private void work(Zone zone, boolean first) {
    Integer next;
    while ((next = zone.left.poll()) != null) {
      int record = next;
      switch (claimed(zone.store, Claim.of(id(record), Fingerprint.none(), time.now()))) {
        case Granted(Lease lease, var _) -> {
          grants.add(new Told(record, lease.token(), zone.name));
          hold(zone, record, lease, first);
        }
        case ClaimResult.Held _, ClaimResult.Later _, ClaimResult.Dead _ -> zone.later.add(record);
        case ClaimResult.Done _ -> {}
        case ClaimResult other -> throw new IllegalStateException(other.toString());
      }
    }
  }

  private void hold(Zone zone, int record, Lease lease, boolean first) {
    if (first && hits(0.01)) {
      zone.hung.add(new Hung(record, lease));
      zone.later.add(record);
    } else if (first && hits(0.05)) {
      var _ = answered(() -> zone.store.release(lease, ClaimStore.AT_ONCE, "again"));
      zone.left.add(record);
    } else if (first && hits(0.02)) {
      var _ = answered(() -> zone.store.bury(lease, "poison"));
      redriven.add(record);
      redrive(zone.store, record);
      zone.left.add(record);
    } else if (hits(0.05)) {
      switch (answered(() -> zone.store.renew(lease))) {
        case Settled(Lease renewed) -> complete(zone, record, renewed);
        case SettleResult _ -> zone.later.add(record);
      }
    } else {
      complete(zone, record, lease);
    }
  }

  private void complete(Zone zone, int record, Lease lease) {
    if (answered(() -> zone.store.complete(lease, null)) instanceof Settled) {
      completions.add(new Told(record, lease.token(), zone.name));
    }
  }

  private static void redrive(DynamoDbClaimStore store, int record) {
    RedriveId by = RedriveId.random();
    while (true) {
      try {
        var _ = store.redrive(id(record), Fingerprint.none(), by);
        return;
      } catch (StoreUnavailableException e) {
        // The same redrive again.
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

  private static SettleResult answered(Supplier<SettleResult> step) {
    SettleResult answer;
    do {
      answer = step.get();
    } while (answer instanceof Unknown);
    return answer;
  }

  private void assertToldOnce(int records) {
    Map<Integer, List<Told>> granted = grants.stream().collect(groupingBy(Told::record));
    Map<Integer, List<Told>> completed = completions.stream().collect(groupingBy(Told::record));
    for (int i = 0; i < records; i++) {
      List<Told> all = granted.getOrDefault(i, List.of());
      List<Long> tokens = all.stream().map(Told::token).sorted().toList();
      assertThat(tokens).as("tokens of %s", id(i)).doesNotHaveDuplicates();
      assertThat(redriven.contains(i) || tokens.getLast() == tokens.size())
          .as("rises by one at each grant of %s: %s", id(i), tokens)
          .isTrue();
      List<Told> ends = completed.getOrDefault(i, List.of());
      assertThat(ends).as("completions of %s", id(i)).hasSize(1);
      assertThat(all).contains(ends.getFirst());
      assertThat(ends.getFirst().token).isEqualTo(tokens.getLast());
    }
  }

  /** As what a client without faults reads. */
  private void assertStoredAsTold(int records) {
    Map<String, Integer> keys = new HashMap<>();
    IntStream.range(0, records).forEach(i -> keys.put(id(i).key(namespace), i));
    Map<Integer, Told> told = completions.stream().collect(toMap(Told::record, each -> each));
    int found = 0;
    for (var item :
        LocalDynamoDb.client().scanPaginator(scan -> scan.tableName(LocalDynamoDb.TABLE)).items()) {
      Integer record = keys.get(Items.textOf(item, Items.KEY));
      if (record != null) {
        ClaimRecord stored = Items.decode(item);
        Told completion = Objects.requireNonNull(told.get(record));
        assertThat(stored.state())
            .isInstanceOfSatisfying(
                Done.class, done -> assertThat(done.by()).isEqualTo(completion.zone));
        assertThat(stored.token()).isEqualTo(completion.token);
        found++;
      }
    }
    assertThat(found).isEqualTo(records);
  }

  private void report(Rounds of, Duration took) {
    int statements = 0;
    int batches = 0;
    int singles = 0;
    for (Zone zone : zones) {
      statements += zone.client.batches().stream().mapToInt(n -> n).sum();
      batches += zone.client.batches().size();
      singles += zone.client.singles().size();
    }
    System.out.printf(
        "%d records in %d s and %d rounds: %d grants, %d of them repeated, %d redriven, %d"
            + " holders hung;"
            + " %d statements in %d requests, %d single requests%n",
        RECORDS,
        took.toSeconds(),
        of.rounds,
        grants.size(),
        grants.size() - RECORDS,
        redriven.size(),
        of.hung,
        statements,
        batches,
        singles);
    assertThat(statements).as("most writes are in batches").isGreaterThan(RECORDS);
    assertThat(of.hung).isPositive();
  }

  private static RecordId id(int record) {
    return RecordId.of("record-" + record);
  }
}
