package io.firstclaim.lock.dynamodb;

import static io.firstclaim.lock.testkit.Claimant.granted;
import static io.firstclaim.lock.testkit.Claimant.settled;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult.Granted;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.SettleResult.Lost;
import io.firstclaim.lock.SettleResult.Settled;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** Leases that end while the writes under them wait to leave, and who waits for whom. */
class BatchWaitsTest extends BatchFixture {
  /** Runs this once, before the batch leaves. */
  private void beforeItLeaves(Runnable action) {
    AtomicBoolean done = new AtomicBoolean();
    during =
        () -> {
          if (!done.getAndSet(true)) {
            action.run();
          }
        };
  }

  private void leasesEnd() {
    world.advance(settings.lease().plus(settings.maxSkew()).plusMillis(1));
  }

  private Lease takenOver(Claim claim) {
    return granted(other.claim(Claim.of(claim.id(), Fingerprint.none(), time.now()))).lease();
  }

  @Test
  void completionsThatLeaveLate_areLostWhereOthersTookOver_andSettledElsewhere() throws Exception {
    assertLostWhereTakenOver(this::complete);
  }

  @Test
  void renewalsThatLeaveLate_areLostWhereOthersTookOver_andSettledElsewhere() throws Exception {
    assertLostWhereTakenOver(store::renew);
  }

  private void assertLostWhereTakenOver(Function<Lease, Object> step) throws InterruptedException {
    List<Lease> leases = leases();
    Lease holder = granted(store.claim(another())).lease();
    List<Lease> others = new ArrayList<>();
    beforeItLeaves(
        () -> {
          leasesEnd();
          claims.subList(0, 10).forEach(claim -> others.add(takenOver(claim)));
        });

    List<Object> results = inOneBatch(leases, step, () -> step.apply(holder));

    assertThat(client.batches()).containsExactly(WRITES);
    assertThat(results.subList(0, 10)).allMatch(result -> result instanceof Lost);
    assertThat(results.subList(10, WRITES)).allMatch(result -> result instanceof Settled);
    assertThat(others)
        .allSatisfy(
            lease -> {
              assertThat(lease.token()).isEqualTo(2);
              settled(other.complete(lease, null));
            });
  }

  @Test
  void claimsThatLeaveLate_areGrantedForWhatIsLeft_andTakenOverAsIfTheyHadNot() throws Exception {
    beforeItLeaves(this::leasesEnd);

    List<Lease> leases = leases();

    assertThat(leases).allMatch(lease -> lease.isOver(time.now()));
    assertThat(takenOver(claims.getFirst()).token()).isEqualTo(2);
    assertThat(store.renew(leases.getFirst())).isInstanceOf(Lost.class);
  }

  @Test
  void renewalsAndSettlements_waitForNoClaims() throws Exception {
    Lease one = granted(store.claim(another())).lease();
    Lease two = granted(store.claim(another())).lease();
    Thread test = Thread.currentThread();
    CountDownLatch go = new CountDownLatch(1);
    client.before(
        () -> {
          if (!Thread.currentThread().equals(test)) {
            try {
              go.await();
            } catch (InterruptedException e) {
              throw new IllegalStateException(e);
            }
          }
        });
    List<Thread> waiting = new ArrayList<>();
    for (Claim claim : claims) {
      Thread thread = writers.start(() -> claim(claim));
      waiting.add(thread);
      await()
          .atMost(PATIENCE)
          .until(
              () ->
                  thread.getState() == Thread.State.WAITING
                      || thread.getState() == Thread.State.TIMED_WAITING);
    }

    SettleResult renewed = store.renew(one);
    SettleResult completed = store.complete(two, null);

    assertThat(renewed).isInstanceOf(Settled.class);
    assertThat(completed).isInstanceOf(Settled.class);
    assertThat(waiting).as("the claims still wait").allMatch(Thread::isAlive);
    go.countDown();
    for (Thread each : waiting) {
      each.join();
    }
    assertThat(claims).allMatch(claim -> store.claim(claim) instanceof Granted);
  }
}
