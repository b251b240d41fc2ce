package io.firstclaim.lock.dynamodb;

import static io.firstclaim.lock.testkit.Claimant.granted;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult.Granted;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.SettleResult.Settled;
import io.firstclaim.lock.StoreException;
import io.firstclaim.lock.testkit.fault.Fault;
import io.firstclaim.lock.testkit.fault.FaultProxy;
import io.firstclaim.lock.testkit.fault.Match;
import io.firstclaim.lock.testkit.fault.Rule;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/** The thread that sends for twenty, by a client of its own, and what may befall both. */
class BatchSendersTest extends BatchFixture {
  private static final FaultProxy PROXY = FaultProxy.start(LocalDynamoDb.endpoint());

  @Override
  DynamoDbClient real() {
    return LocalDynamoDb.unhurried(LocalDynamoDb.builder(PROXY.endpoint())).build();
  }

  @AfterEach
  void close() {
    PROXY.clear();
    server.close();
  }

  /** Interrupts a thread whose request is on its way here. */
  private static boolean interrupt(Thread sender) {
    sender.interrupt();
    return true;
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void senderThatIsInterrupted_underWay_breaksOffNobodyElses(boolean virtual) throws Exception {
    writers = virtual ? Thread.ofVirtual() : writers;
    AtomicReference<Thread> sender = new AtomicReference<>();
    during = () -> sender.compareAndSet(null, Thread.currentThread());
    PROXY.add(
        Rule.once(
            Match.operation("BatchExecuteStatement").and(_ -> interrupt(sender.get())),
            new Fault.DelayResponse(Duration.ofSeconds(1))));

    List<Object> results = claimAll();

    assertThat(results.stream().filter(result -> result instanceof Granted)).hasSize(WRITES - 1);
    assertThat(results.stream().filter(result -> result instanceof StoreException)).hasSize(1);
    for (Claim claim : claims) {
      Lease lease = granted(store.claim(claim)).lease();
      assertThat(lease.token()).isEqualTo(1);
      assertThat(lease.attempt()).isEqualTo(1);
    }
  }

  /** A virtual thread that sends a batch may stand still, while others occupy every carrier. */
  @Test
  void renewalOfAPlatformThread_waitsForNoVirtualOne() throws Exception {
    List<Lease> leases = leases();
    CountDownLatch starved = new CountDownLatch(1);
    CountDownLatch carrier = new CountDownLatch(1);
    client.before(
        () -> {
          if (Thread.currentThread().isVirtual()) {
            starved.countDown();
            awaitUninterruptibly(carrier);
          }
        });
    var virtual = new FutureTask<>(() -> store.renew(leases.getFirst()));
    Thread.ofVirtual().start(virtual);
    starved.await();

    for (Lease lease : leases.subList(1, 4)) {
      assertThat(store.renew(lease)).isInstanceOf(Settled.class);
    }

    carrier.countDown();
    assertThat(virtual.get()).isInstanceOf(Settled.class);
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void senderThatDies_underWay_leavesNobodyWaiting() throws Exception {
    List<Lease> leases = leases();
    AtomicBoolean hit = new AtomicBoolean();
    during =
        () -> {
          if (!hit.getAndSet(true)) {
            throw new OutOfMemoryError("by the test");
          }
        };

    List<Object> results = completeAllButDying(leases);

    assertThat(results.stream().filter(result -> result instanceof Settled)).hasSize(WRITES - 1);
    assertThat(results.stream().filter(result -> result instanceof OutOfMemoryError)).hasSize(1);
    during = () -> {};
    assertThat(completeAll(leases)).allMatch(result -> result instanceof Settled);
    assertEachCompletedOnce();
  }

  private List<Object> completeAllButDying(List<Lease> leases) throws InterruptedException {
    Lease holder = ((Granted) store.claim(another())).lease();
    return inOneBatch(
        leases,
        lease -> {
          try {
            return complete(lease);
          } catch (OutOfMemoryError e) {
            return e;
          }
        },
        () -> complete(holder));
  }

  @Test
  void clientThatIsClosed_whileTheyWait_leavesNobodyWaiting() throws Exception {
    List<Lease> leases = leases();
    Lease holder = ((Granted) store.claim(another())).lease();
    during = server::close;

    List<Object> results =
        inOneBatch(
            leases,
            lease -> {
              try {
                return store.complete(lease, "result of " + lease.id());
              } catch (RuntimeException e) {
                return e;
              }
            },
            () -> complete(holder));

    assertThat(results)
        .allMatch(
            result -> result instanceof SettleResult.Unknown || result instanceof RuntimeException);
  }
}
