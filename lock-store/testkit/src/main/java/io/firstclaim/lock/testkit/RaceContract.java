package io.firstclaim.lock.testkit;

import static io.firstclaim.lock.testkit.Claimant.settled;
import static java.util.stream.Collectors.counting;
import static java.util.stream.Collectors.groupingBy;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimResult.Granted;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.StoreUnavailableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The part of {@link ClaimStoreContract} that holds when many claim or end a record at once. */
public abstract class RaceContract extends StepContract {
  private static final int RACED = Soak.times(20, 200);
  private static final int TAKEN_OVER = Soak.times(10, 50);

  private record Grant(RecordId id, long token) {}

  @Test
  void manyClaimantsAtOnce_oneGrantPerIdAndToken() throws Exception {
    List<Claimant> claimants =
        IntStream.range(0, 4)
            .mapToObj(i -> claimant("racer-" + i, time.machine(Duration.ZERO)))
            .toList();
    List<RecordId> ids =
        IntStream.range(0, RACED).mapToObj(i -> RecordId.of("raced-" + i)).toList();

    assertThat(raceFor(ids, claimants)).containsExactlyInAnyOrderElementsOf(onceEach(ids, 1));

    time.advance(HOUR);
    List<RecordId> expired = ids.subList(0, TAKEN_OVER);
    assertThat(raceFor(expired, claimants))
        .as("takeover of expired leases")
        .containsExactlyInAnyOrderElementsOf(onceEach(expired, 2));
  }

  private static List<Grant> onceEach(List<RecordId> ids, long token) {
    return ids.stream().map(id -> new Grant(id, token)).toList();
  }

  private static Queue<Grant> raceFor(List<RecordId> ids, List<Claimant> claimants)
      throws Exception {
    Queue<Grant> grants = new ConcurrentLinkedQueue<>();
    concurrently(
        32,
        racer -> {
          List<RecordId> order = new ArrayList<>(ids);
          // Eight racers at a time take the IDs in the same order.
          Collections.shuffle(order, new Random(racer / 8));
          Claimant claimant = claimants.get(racer % claimants.size());
          for (RecordId id : order) {
            if (answerTo(claimant.newClaim(id), claimant)
                instanceof Granted(Lease lease, var unused)) {
              grants.add(new Grant(id, lease.token()));
            }
          }
          return order.size();
        });
    return grants;
  }

  /** Repeats the claim while the store does not answer, as where the machine is slow. */
  private static ClaimResult answerTo(Claim claim, Claimant claimant) {
    while (true) {
      try {
        return claimant.store().claim(claim);
      } catch (StoreUnavailableException unused) {
        Thread.onSpinWait();
      }
    }
  }

  @Test
  void manyStepsOfOneLeaseAtOnce_endItOnce() throws Exception {
    for (int round = 0; round < 10; round++) {
      RecordId id = RecordId.of("ended-" + round);
      Lease lease = a.acquire(id);

      List<SettleResult> results =
          concurrently(8, i -> (i % 2 == 0 ? Step.COMPLETE : Step.BURY).take(a.store(), lease));

      Map<Boolean, Long> settled =
          IntStream.range(0, 8)
              .filter(i -> results.get(i) instanceof SettleResult.Settled)
              .boxed()
              .collect(groupingBy(i -> i % 2 == 0, counting()));
      assertThat(settled)
          .as("all completions settled and all burials lost, or the reverse")
          .hasSize(1)
          .containsValue(4L);
    }
  }

  /** One of those that run at once. */
  interface Racer<T> {
    T run(int number) throws Exception;
  }

  static <T> List<T> concurrently(int count, Racer<T> racer) throws Exception {
    var start = new CountDownLatch(1);
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<T>> running = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        int number = i;
        Callable<T> task =
            () -> {
              start.await();
              return racer.run(number);
            };
        running.add(threads.submit(task));
      }
      start.countDown();
      List<T> results = new ArrayList<>();
      for (Future<T> one : running) {
        results.add(one.get());
      }
      return results;
    }
  }
}
