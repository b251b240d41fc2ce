package io.firstclaim.lock.dynamodb;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What claims that come too late cost in batches, compared with single requests. */
class RacingRequestsTest {
  private static final int RECORDS = 600;
  private static final int AT_ONCE = 40;
  private static final TimeSource TIME = TimeSource.system();

  /** Of those in line, while a busy machine stands still. */
  private static final Duration PATIENCE = Duration.ofMinutes(5);

  /** One zone, which claims each record once and completes those that it gets. */
  private static final class Zone {
    private final FaultyClient client = new FaultyClient(LocalDynamoDb.client());
    private final ClaimStore store;
    private final AtomicInteger next = new AtomicInteger();
    private final AtomicInteger lost = new AtomicInteger();

    Zone(String namespace, String name, int batch) {
      ClaimSettings settings = ClaimSettings.of(namespace, name);
      ClaimItems items = LocalDynamoDb.items(client, settings, TIME);
      store =
          new DynamoDbClaimStore(
              items, new BatchedItems(items, batch, 2, BatchedItems.SLOW, PATIENCE));
    }

    private void work() {
      int n;
      while ((n = next.getAndIncrement()) < RECORDS) {
        switch (store.claim(Claim.of(RecordId.of("r" + n), Fingerprint.none(), TIME.now()))) {
          case ClaimResult.Granted granted ->
              assertThat(store.complete(granted.lease(), null))
                  .isInstanceOf(SettleResult.Settled.class);
          case ClaimResult.Held _, ClaimResult.Done _ -> lost.incrementAndGet();
          case ClaimResult other -> throw new IllegalStateException(other.toString());
        }
      }
    }

    int requests() {
      return client.batches().size() + client.singles().size();
    }

    /** The writes that AWS bills, whether they were applied or refused. */
    int writes() {
      return client.batches().stream().mapToInt(n -> n).sum()
          + (int) client.singles().stream().filter(op -> !op.equals("GetItem")).count();
    }
  }

  private static void run(Zone... zones) throws Exception {
    List<FutureTask<Void>> workers = new ArrayList<>();
    for (Zone zone : zones) {
      for (int i = 0; i < AT_ONCE; i++) {
        workers.add(new FutureTask<>(zone::work, null));
      }
    }
    workers.forEach(worker -> Thread.ofVirtual().start(worker));
    for (FutureTask<Void> worker : workers) {
      worker.get();
    }
  }

  private static String namespace() {
    return "racing-" + Nonce.random();
  }

  @Test
  void zonesThatRace_sendFewerRequestsThanWithSingleWrites_andNoMoreWrites() throws Exception {
    run(new Zone(namespace(), "warm", DynamoDbClaimStore.BATCH));
    String namespace = namespace();
    Zone a = new Zone(namespace, "a", DynamoDbClaimStore.BATCH);
    Zone b = new Zone(namespace, "b", DynamoDbClaimStore.BATCH);

    run(a, b);

    int singles = 2 * RECORDS + a.lost.get() + b.lost.get(); // each claim, and each completion
    assertThat(a.lost.get() + b.lost.get()).isEqualTo(RECORDS);
    assertThat(a.writes() + b.writes()).isEqualTo(singles);
    assertThat(a.requests() + b.requests()).isLessThan(singles * 3 / 4);
  }

  @Test
  void zoneThatComesTooLateForEachRecord_soonSendsNoMoreThanSingleWritesWould() throws Exception {
    String namespace = namespace();
    run(new Zone(namespace, "first", DynamoDbClaimStore.BATCH));
    Zone late = new Zone(namespace, "late", DynamoDbClaimStore.BATCH);

    run(late);

    assertThat(late.lost.get()).isEqualTo(RECORDS);
    assertThat(late.writes()).isEqualTo(RECORDS);
    // A request of n claims that all come too late costs itself and n reads.
    assertThat(late.requests()).isBetween(RECORDS, RECORDS + late.client.batches().size());
    assertThat(late.client.batches().stream().mapToInt(n -> n).sum())
        .as("claims until the share of lost ones is known, and those under way by then")
        .isLessThan(50 + 2 * AT_ONCE);
  }
}
