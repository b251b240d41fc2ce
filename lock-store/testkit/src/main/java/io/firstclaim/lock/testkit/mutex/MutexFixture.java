package io.firstclaim.lock.testkit.mutex;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.mutex.HeldMutex;
import io.firstclaim.lock.mutex.Mutex;
import io.firstclaim.lock.testkit.ManualTime;
import io.firstclaim.lock.testkit.fault.FaultyStore;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;

/**
 * What the mutex's tests start from: one mutex and two that want it, {@code a} through a faulty
 * store; the test drives the time.
 */
@Timeout(600)
public abstract class MutexFixture {
  static final Duration LEASE = Duration.ofSeconds(30);
  static final Duration WATCH = LEASE.multipliedBy(6).dividedBy(5);
  static final Duration HOLD = LEASE.multipliedBy(9).dividedBy(10);
  static final Duration MAX_SKEW = Duration.ofSeconds(1);
  static final Duration LONG = Duration.ofHours(1);
  static final Duration RETENTION = Duration.ofDays(8);
  static final RecordId ID = RecordId.of("billing-run");

  final String namespace = "mutexes-" + Nonce.random();
  protected final ManualTime time = ManualTime.start();
  FaultyStore faulty;
  Mutex a;
  Mutex b;

  /** A store of this holder; all stores that one test asks for share what they keep. */
  protected abstract ClaimStore store(ClaimSettings settings, TimeSource time);

  /** How late a waiter may learn from the store that a lease is over. */
  protected Duration tick() {
    return Duration.ZERO;
  }

  /**
   * When a waiter has it at the latest that may have it from {@code due} on: it asks again within
   * 20 ms or so.
   */
  Duration soonAfter(Duration due) {
    return due.plus(tick()).plusMillis(500);
  }

  @BeforeEach
  void twoWhoWantIt() {
    faulty = new FaultyStore(storeOf("a", time));
    a = new Mutex(faulty, ID, time);
    b = mutex("b", time.machine(Duration.ZERO));
  }

  @AfterEach
  void endSilence() {
    faulty.wake();
  }

  ClaimStore storeOf(String holder, TimeSource machine) {
    return storeOf(namespace, holder, machine);
  }

  private ClaimStore storeOf(String space, String holder, TimeSource machine) {
    return store(new ClaimSettings(space, holder, LEASE, MAX_SKEW, RETENTION), machine);
  }

  Mutex mutex(String holder, TimeSource machine) {
    return new Mutex(storeOf(holder, machine), ID, machine);
  }

  /** A mutex of another namespace, as this one is once the store has forgotten it. */
  Mutex forgotten() {
    return new Mutex(storeOf(namespace + "-forgotten", "a", time), ID, time);
  }

  /** Acquires the mutex, which must be free. */
  static HeldMutex acquired(Mutex mutex) throws Exception {
    return mutex.acquire(Duration.ZERO).orElseThrow();
  }

  static void assertHeldByAnother(Mutex mutex) throws Exception {
    assertThat(mutex.acquire(Duration.ZERO)).isEmpty();
  }

  /** Somebody who waits, on a thread of its own. */
  record Waiter(FutureTask<Optional<HeldMutex>> answer, Thread thread) {
    static Waiter of(Callable<Optional<HeldMutex>> acquire) {
      var answer = new FutureTask<>(acquire);
      return new Waiter(answer, Thread.ofVirtual().name("waiter").start(answer));
    }
  }

  /** Lets time pass until the wait has ended. */
  Optional<HeldMutex> passUntilAnswered(Waiter waiter) throws Exception {
    time.passFor(waiter.thread(), MutexFixture::nothingIsRenewed);
    return waiter.answer().get();
  }

  Optional<HeldMutex> passWhileWaiting(Mutex mutex, Duration atMost) throws Exception {
    return passUntilAnswered(Waiter.of(() -> mutex.acquire(atMost)));
  }

  /**
   * Time passes for the one keeper there is, whose next look follows, and no renewal is under way.
   */
  void passForKeeper(Duration by) throws InterruptedException {
    eventually(MutexFixture::nothingIsRenewed);
    time.awaitSleeper("firstclaim-leases");
    time.advance(by);
  }

  static boolean nothingIsRenewed() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .noneMatch(name -> name.equals("firstclaim-renewal") || name.equals("firstclaim-lost"));
  }

  static void eventually(Callable<Boolean> holds) {
    Awaitility.await()
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(2))
        .atMost(Duration.ofMinutes(5))
        .until(holds);
  }

  Nonce storedNonce() {
    return stored().nonce();
  }

  long storedToken() {
    return stored().token();
  }

  /** The number of times that the mutex was granted. */
  int storedAttempts() {
    return stored().attempts();
  }

  private ClaimRecord stored() {
    return storeOf("reader", time).find(ID.asMutex()).orElseThrow();
  }
}
