package io.firstclaim.lock.dynamodb;

import static io.firstclaim.lock.testkit.Claimant.granted;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult.Granted;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimState;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.StoreException;
import io.firstclaim.lock.StoreListener;
import io.firstclaim.lock.StoreOperation;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.testkit.ManualTime;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/** Twenty writes that leave in one request. */
abstract class BatchFixture {
  static final int WRITES = 20;
  static final Duration PATIENCE = Duration.ofMinutes(5);

  final ManualTime world = ManualTime.start();

  /** The tests' time, in which a pause is over at once. */
  final TimeSource time =
      new TimeSource() {
        @Override
        public Moment now() {
          return world.now();
        }

        @Override
        public void sleep(Duration duration) {}
      };

  /** What the thread that sends the batch runs before it does. */
  Runnable during = () -> {};

  final DynamoDbClient server = real();
  final FaultyClient client = new FaultyClient(server);
  final ClaimSettings settings = ClaimSettings.of("batch-" + Nonce.random(), "a");
  final Queue<String> counted = new ConcurrentLinkedQueue<>();
  final ClaimItems items =
      LocalDynamoDb.items(
          client,
          settings,
          time,
          new StoreListener() {
            @Override
            public void called(StoreOperation op, StoreOperation.Result result, Duration took) {}

            @Override
            public void wrote(StoreOperation op, int writes) {
              counted.add(op + " " + writes);
            }

            @Override
            public void refused(StoreOperation op, int writes) {
              counted.add(op + " refused " + writes);
            }

            @Override
            public void clockSkew(Duration skew) {}
          });

  /** Nobody overtakes a request that a test holds, nor gives it up: none is held for so long. */
  final BatchedItems batched = new BatchedItems(items, 25, 2, PATIENCE, PATIENCE);

  final ClaimStore store = new DynamoDbClaimStore(items, batched);

  final ClaimStore other = LocalDynamoDb.store(ClaimSettings.of(settings.namespace(), "b"), time);

  final List<Claim> claims =
      IntStream.range(0, WRITES)
          .mapToObj(i -> Claim.of(RecordId.of("record-" + i), Fingerprint.none(), time.now()))
          .toList();

  /** The threads of those who write. */
  Thread.Builder writers = Thread.ofPlatform().daemon();

  /** The client by which the stores reach the server. */
  DynamoDbClient real() {
    return LocalDynamoDb.client();
  }

  /** Returns what is logged while this runs. */
  static String logOf(ThrowingCallable action) throws Exception {
    PrintStream before = System.err;
    var captured = new ByteArrayOutputStream();
    System.setErr(new PrintStream(captured, true, StandardCharsets.UTF_8));
    try {
      action.call();
    } catch (Error | Exception e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    } finally {
      System.setErr(before);
    }
    return captured.toString(StandardCharsets.UTF_8);
  }

  /** Runs this for all at once: one request occupies the sender until all of them wait. */
  <T, R> List<R> inOneBatch(List<T> all, Function<T, R> step, Supplier<R> holder)
      throws InterruptedException {
    CountDownLatch held = new CountDownLatch(1);
    CountDownLatch go = new CountDownLatch(1);
    client.before(
        () -> {
          held.countDown();
          try {
            go.await();
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
        });
    Thread holding = Thread.ofPlatform().daemon().start(new FutureTask<R>(holder::get));
    held.await();
    client.forget();
    List<FutureTask<R>> tasks = new ArrayList<>();
    List<Thread> threads = new ArrayList<>();
    for (T each : all) {
      FutureTask<R> task = new FutureTask<>(() -> step.apply(each));
      tasks.add(task);
      threads.add(writers.start(task));
    }
    await()
        .atMost(PATIENCE)
        .until(() -> threads.stream().allMatch(t -> t.getState() == Thread.State.TIMED_WAITING));
    client.before(during);
    go.countDown();
    List<R> results = new ArrayList<>();
    for (FutureTask<R> task : tasks) {
      try {
        results.add(task.get());
      } catch (ExecutionException e) {
        throw new IllegalStateException(e);
      }
    }
    holding.join();
    return results;
  }

  /** The result of a call, or the fault that it threw. */
  Object claim(Claim claim) {
    try {
      return store.claim(claim);
    } catch (StoreException e) {
      return e;
    }
  }

  List<Object> claimAll() throws InterruptedException {
    return inOneBatch(claims, this::claim, () -> claim(another()));
  }

  Claim another() {
    return claimsOf("holder " + Nonce.random()).getFirst();
  }

  List<Object> completeAll(List<Lease> leases) throws InterruptedException {
    Lease holder = granted(store.claim(another())).lease();
    return inOneBatch(leases, this::complete, () -> complete(holder));
  }

  Object complete(Lease lease) {
    try {
      return store.complete(lease, "result of " + lease.id());
    } catch (StoreException e) {
      return e;
    }
  }

  List<Lease> leases() throws InterruptedException {
    return claimAll().stream().map(result -> ((Granted) result).lease()).toList();
  }

  void assertEachCompletedOnce() {
    for (Claim claim : claims) {
      assertThat(other.find(claim.id()))
          .get()
          .satisfies(
              record -> {
                assertThat(record.state())
                    .isInstanceOfSatisfying(
                        ClaimState.Done.class,
                        done -> assertThat(done.result()).isEqualTo("result of " + claim.id()));
                assertThat(record.token()).isEqualTo(1);
                assertThat(record.attempts()).isEqualTo(1);
              });
    }
  }

  List<Claim> claimsOf(String name) {
    Fingerprint payload = Fingerprint.of(new byte[] {1, 2, 3});
    return IntStream.range(0, 6)
        .mapToObj(i -> Claim.of(RecordId.of(name + i), payload, time.now()))
        .toList();
  }
}
