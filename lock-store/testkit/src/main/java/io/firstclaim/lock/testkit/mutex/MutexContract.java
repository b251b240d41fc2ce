package io.firstclaim.lock.testkit.mutex;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.mutex.Acquisition;
import io.firstclaim.lock.mutex.HeldMutex;
import io.firstclaim.lock.mutex.Mutex;
import io.firstclaim.lock.mutex.Mutexes;
import io.firstclaim.lock.testkit.fault.FaultyStore.Fault;
import io.firstclaim.lock.testkit.fault.FaultyStore.Op;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The contract of a mutex over a claim store: how it is waited for, kept, lost and given back. */
@SuppressWarnings("try") // mutexes are held here without a look at the variable
public abstract class MutexContract extends KeptMutexContract {
  // Waiting

  @Test
  void freeMutex_isAcquiredAtOnce_withAToken() throws Exception {
    try (HeldMutex held = acquired(a)) {
      assertThat(held.token()).isPositive();
      assertThat(held.isHeld()).isTrue();
      held.ensureHeld();
    }
    assertThat(time.elapsed()).isZero();
  }

  @Test
  void closedMutex_isFreeAtOnce_andTheNextTokenIsHigher() throws Exception {
    HeldMutex first = acquired(a);
    first.close();

    try (HeldMutex held = acquired(b)) {
      assertThat(held.token()).isEqualTo(first.token() + 1);
    }
  }

  @Test
  void mutexClosedByAnyClock_isFreeAtOnce() throws Exception {
    for (Duration skew : List.of(MAX_SKEW, LONG, LONG.negated())) {
      acquired(mutex("other", time.machine(skew))).close();

      acquired(b).close();
    }
    assertThat(time.elapsed()).isZero();
  }

  /** A sink that remembers the highest token it has seen must not refuse a monthly job. */
  @Test
  void tokensRise_evenAfterTheStoreHasForgottenTheLast() throws Exception {
    long last = 0;
    for (int i = 0; i < 20; i++) {
      HeldMutex held = acquired(a);
      assertThat(held.token()).isGreaterThan(last);
      last = held.token();
      held.close();
    }
    time.advance(RETENTION);

    try (HeldMutex held = acquired(forgotten())) {
      assertThat(held.token()).isGreaterThan(last);
    }
  }

  @Test
  void heldMutex_isNotAcquired_andTheWaitEndsWithItsTime() throws Exception {
    try (HeldMutex held = acquired(a)) {
      Optional<HeldMutex> answer = passWhileWaiting(b, Duration.ofSeconds(10));

      assertThat(answer).isEmpty();
      assertThat(time.elapsed()).isEqualTo(Duration.ofSeconds(10));
      assertThat(held.isHeld()).isTrue();
    }
  }

  @Test
  void zeroTime_isOneAttempt() throws Exception {
    try (HeldMutex unused = acquired(b)) {
      assertHeldByAnother(a);
    }
    assertThat(faulty.calls()).isEqualTo(1);
  }

  @Test
  void longWait_asksTheStoreAboutOnceASecond() throws Exception {
    try (HeldMutex unused = acquired(b)) {
      assertThat(passWhileWaiting(a, Duration.ofMinutes(1))).isEmpty();
    }
    assertThat(faulty.calls()).as("pauses are random, of a second on average").isLessThan(120);
  }

  @Test
  void deadHolder_thatAWaiterReadOf_isWatchedFromItsLastRenewalOn() throws Exception {
    TimeSource ahead = time.machine(Duration.ofHours(1));
    Lease dying = holdAndDie(storeOf("b", ahead), ahead);
    Waiter waiter = Waiter.of(() -> a.acquire(LONG));
    time.awaitSleeper("waiter");
    time.advance(Duration.ofSeconds(5));
    SettleResult renewed = storeOf("b", ahead).renew(dying);
    assertThat(renewed).isInstanceOf(SettleResult.Settled.class);
    Duration died = time.elapsed();

    try (HeldMutex next = passUntilAnswered(waiter).orElseThrow()) {
      assertThat(next.token()).isEqualTo(dying.token() + 1);
      assertThat(time.elapsed().minus(died)).isLessThanOrEqualTo(soonAfter(WATCH.plusSeconds(4)));
    }
  }

  @Test
  void mutexHeldForTooLong_isLostToItsHolder_andOneLeaseLaterToOthers() throws Exception {
    var told = new AtomicInteger();
    try (HeldMutex held = acquired(a.atMost(SIXTH))) {
      held.whenLost(told::incrementAndGet);
      passForKeeper(SIXTH);
      eventually(() -> told.get() == 1);
      assertThatThrownBy(held::ensureHeld)
          .hasMessageContaining("is held for longer than was agreed");
      assertHeldByAnother(b);
      passForKeeper(THIRD);
      eventually(() -> faulty.calls(Op.RENEW) == 1);
      assertHeldByAnother(b);
      passForKeeper(LEASE);
      passForKeeper(LEASE);

      acquired(b).close();
    }
    assertThat(told).hasValue(1);
  }

  @Test
  void holder_knowsWhenAnotherMayTakeTheMutexOver() throws Exception {
    try (HeldMutex held = acquired(a)) {
      assertThat(held.untilTakeover()).isEqualTo(LEASE);
      time.advance(SIXTH);
      assertThat(held.untilTakeover()).isEqualTo(LEASE.minus(SIXTH));
    }
  }

  @Test
  void mutexHeldForEver_isGivenBackAsAnyOther() throws Exception {
    acquired(a.atMost(ChronoUnit.FOREVER.getDuration())).close();

    acquired(b).close();
  }

  @Test
  void mutexOfAShortJob_isNotFreeToOthers_beforeItsLeastTime() throws Exception {
    acquired(a.atLeast(Duration.ofSeconds(20))).close();
    Duration closed = time.elapsed();

    assertHeldByAnother(b);
    try (HeldMutex next = passWhileWaiting(b, LONG).orElseThrow()) {
      assertThat(next.isHeld()).isTrue();
      assertThat(time.elapsed().minus(closed))
          .isBetween(Duration.ofSeconds(20).minus(tick()), soonAfter(Duration.ofSeconds(20)));
    }
    assertThatThrownBy(() -> a.atMost(THIRD).atLeast(LEASE))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("at most PT10S and at least PT30S");
  }

  @Test
  void closing_tellsTheHolder_andLeavesToItsLeaseWhatIsNotGivenBack() throws Exception {
    Mutex other = new Mutex(faulty, RecordId.of("other"), time);
    HeldMutex left = acquired(other);
    HeldMutex heeding = acquired(a);
    heeding.whenLost(heeding::close);

    close(a);
    close(other);

    acquired(b).close();
    assertThat(left.isHeld()).isFalse();
    time.advance(LEASE.multipliedBy(2));
    acquired(new Mutex(storeOf("b", time), RecordId.of("other"), time)).close();
  }

  @Test
  void closingMutexes_givesBackThoseOfAllNames_andClosingOneOnlyItsOwn() throws Exception {
    Mutexes mutexes = new Mutexes(faulty, time);
    HeldMutex one = acquired(mutexes.of("one"));
    HeldMutex two = acquired(mutexes.of("two"));
    Mutex three = mutexes.of("three");
    HeldMutex left = acquired(three);

    close(three);
    assertThat(left.isHeld()).isFalse();
    assertThat(one.isHeld()).isTrue();
    one.whenLost(one::close);
    two.whenLost(two::close);
    Mutex four = mutexes.of("four");
    left = acquired(four); // nobody closes it
    time.awaitSleeper("firstclaim-leases");
    eventually(MutexFixture::nothingIsRenewed); // else a renewal tells of a loss, and gives back
    close(mutexes);

    assertThat(left.isHeld()).isFalse();
    Instant now = time.now().wall();
    close(four);
    assertThat(time.now().wall()).as("nothing is held of it, so nothing is awaited").isEqualTo(now);
    Mutexes others = new Mutexes(storeOf("b", time), time);
    acquired(others.of("one")).close();
    acquired(others.of("two")).close();
    assertHeldByAnother(others.of("three"));
  }

  @Test
  void closingMutexes_isOverInTime_thoughAHolderThatIsToldNeverReturns() throws Exception {
    Mutexes mutexes = new Mutexes(faulty, time);
    var never = new CountDownLatch(1);
    List<HeldMutex> held = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      HeldMutex hanging = acquired(mutexes.of("mutex-" + i));
      hanging.whenLost(() -> hang(never));
      held.add(hanging);
    }
    try {
      Thread closing = Thread.ofVirtual().name("closing").start(mutexes::close);

      eventually(
          () -> {
            time.passToTheNext(Duration.ofSeconds(10));
            return !closing.isAlive();
          });

      assertThat(held).noneMatch(HeldMutex::isHeld);
    } finally {
      never.countDown();
    }
  }

  @Test
  void mutexThatAWaiterGetsWhileMutexesAreClosed_isNotHeld_andTheWaiterIsTold() throws Exception {
    Mutexes mutexes = new Mutexes(faulty, time);
    HeldMutex first = acquired(mutexes.of("first"));
    Mutex second = mutexes.of("second");
    Thread closing = Thread.ofVirtual().name("closing").start(mutexes::close);
    time.awaitSleeper("closing");

    HeldMutex late = acquired(second);
    var told = new AtomicInteger();
    late.whenLost(told::incrementAndGet);

    assertThat(late.isHeld()).isFalse();
    assertThat(told).hasValue(1);
    late.close();
    first.close();
    time.passFor(closing, MutexFixture::nothingIsRenewed);
  }

  private static void hang(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException("nobody interrupts it", e);
    }
  }

  private void close(AutoCloseable held) throws Exception {
    Thread closing =
        Thread.ofVirtual()
            .name("closing")
            .start(() -> assertThatCode(held::close).doesNotThrowAnyException());
    time.passFor(closing, MutexFixture::nothingIsRenewed);
  }

  @Test
  void waiter_getsItSoonAfterItIsClosed() throws Exception {
    HeldMutex held = acquired(a);
    Waiter waiter = Waiter.of(() -> b.acquire(LONG));
    time.awaitSleeper("waiter");
    held.close();
    Duration closed = time.elapsed();

    try (HeldMutex next = passUntilAnswered(waiter).orElseThrow()) {
      assertThat(time.elapsed().minus(closed)).isLessThanOrEqualTo(Duration.ofSeconds(2));
      assertThat(next.token()).isEqualTo(held.token() + 1);
    }
  }

  @Test
  void holderItself_waitsLikeEverybodyElse() throws Exception {
    try (HeldMutex unused = acquired(a)) {
      assertHeldByAnother(a);
    }
  }

  // A holder that dies

  /** Does as a process that dies: holds it, and neither renews nor releases. */
  private Lease holdAndDie(ClaimStore store, TimeSource machine) {
    ClaimResult answer = store.claim(Claim.ofMutex(ID, machine.now()));
    return ((ClaimResult.Granted) answer).lease();
  }

  @Test
  void holderThatDied_delaysWhoComesLaterByItsLeaseAndTheSkewBound() throws Exception {
    Lease dead = holdAndDie(faulty, time);
    time.advance(LEASE.dividedBy(2));

    try (HeldMutex next = passWhileWaiting(b, LONG).orElseThrow()) {
      assertThat(time.elapsed())
          .isGreaterThan(LEASE.plus(MAX_SKEW))
          .isLessThan(soonAfter(LEASE.plus(MAX_SKEW)));
      assertThat(next.token()).isEqualTo(dead.token() + 1);
    }
  }

  @Test
  void holderThatDied_itsClockAnHourAhead_delaysWhoWatchedItBySixFifthsOfItsLeaseAtMost()
      throws Exception {
    TimeSource ahead = time.machine(LONG);
    holdAndDie(storeOf("ahead", ahead), ahead);

    try (HeldMutex unused = passWhileWaiting(b, LONG.multipliedBy(2)).orElseThrow()) {
      assertThat(time.elapsed()).isBetween(LEASE, soonAfter(WATCH));
    }
  }

  // A store that does not answer

  @Test
  void claimWhoseAnswerIsLost_isSentAgain_andIsOneGrant() throws Exception {
    faulty.next(Fault.LOST_ANSWER, Fault.LOST_REQUEST, Fault.LOST_ANSWER);

    try (HeldMutex held = passWhileWaiting(a, LONG).orElseThrow()) {
      assertThat(held.token()).isEqualTo(storedToken());
      assertThat(storedAttempts()).isEqualTo(1);
    }
  }

  @Test
  void grantThatCameLate_andIsNotKnownToBeRenewed_isRenewedAgain_andBlocksNobody()
      throws Exception {
    faulty.next(Fault.LOST_ANSWER);
    faulty.downWhile(
        () -> time.elapsed().isPositive() && time.elapsed().compareTo(LEASE.multipliedBy(2)) < 0);
    faulty.next(Op.RENEW, Fault.LOST_REQUEST, Fault.LOST_ANSWER);

    try (HeldMutex held = passWhileWaiting(a, LONG).orElseThrow()) {
      assertThat(held.isHeld()).isTrue();
      assertThat(faulty.calls(Op.RENEW)).isGreaterThan(2);
    }
  }

  @Test
  void grantThatIsLongerInComingThanItsLease_isRenewedFirst() throws Exception {
    faulty.next(Fault.LOST_ANSWER);
    faulty.downWhile(
        () -> time.elapsed().isPositive() && time.elapsed().compareTo(LEASE.multipliedBy(2)) < 0);

    try (HeldMutex held = passWhileWaiting(a, LONG).orElseThrow()) {
      assertThat(storedAttempts()).isEqualTo(1);
      assertThat(held.isHeld()).isTrue();
      assertHeldByAnother(b);
    }
  }

  @Test
  void grantThatWasTakenOverWhileItCame_isNone() throws Exception {
    faulty.next(Fault.LOST_ANSWER);
    faulty.downWhile(() -> time.elapsed().isPositive());
    Duration twoLeases = LEASE.multipliedBy(2);
    Waiter waiter = Waiter.of(() -> a.acquire(twoLeases.plusSeconds(5)));
    time.awaitSleeper("waiter");
    time.advance(twoLeases);

    try (HeldMutex other = acquired(b)) {
      faulty.downWhile(() -> false);
      assertThat(passUntilAnswered(waiter)).isEmpty();
      assertThat(other.isHeld()).isTrue();
    }
  }

  @Test
  void storeThatDoesNotAnswerAtAll_isReported_whenTheTimeIsUp() {
    faulty.downWhile(() -> true);

    assertThatThrownBy(() -> passWhileWaiting(a, Duration.ofSeconds(10)))
        .hasCauseInstanceOf(StoreUnavailableException.class);
    assertThat(time.elapsed()).isEqualTo(Duration.ofSeconds(10));
  }

  // Interruption

  @Test
  void interruptedThread_doesNotBegin() throws Exception {
    Thread.currentThread().interrupt();

    assertThatThrownBy(() -> a.acquire(LONG)).isInstanceOf(InterruptedException.class);
    assertThat(faulty.calls()).isZero();
  }

  @Test
  void interruptedWaiter_waitsNoLonger() throws Exception {
    try (HeldMutex unused = acquired(b)) {
      Waiter waiter = Waiter.of(() -> a.acquire(LONG));
      time.awaitSleeper("waiter");
      waiter.thread().interrupt();

      assertThatThrownBy(() -> waiter.answer().get())
          .hasCauseInstanceOf(InterruptedException.class);
    }
  }

  @Test
  void interruptedRequest_leavesNothingHeld() throws Exception {
    faulty.next(Fault.INTERRUPTED);

    assertThatThrownBy(() -> a.acquire(LONG)).isInstanceOf(InterruptedException.class);

    acquired(b).close();
    assertThat(faulty.calls(Op.RELEASE)).isOne();
  }

  @Test
  void interruptedRequest_leavesNothingHeld_ifTheStoreAnswersSoon() throws Exception {
    faulty.next(Fault.INTERRUPTED, Fault.LOST_REQUEST, Fault.LOST_ANSWER, Fault.LOST_REQUEST);

    assertThatThrownBy(() -> passUntilAnswered(waitOf(LONG)))
        .hasCauseInstanceOf(InterruptedException.class);

    acquired(b).close();
  }

  @Test
  void interruptedPause_afterAnAnswerThatWasLost_leavesNothingHeld() throws Exception {
    faulty.next(Fault.LOST_ANSWER);
    Waiter waiter = waitOf(LONG);
    time.awaitSleeper("waiter");
    waiter.thread().interrupt();

    assertThatThrownBy(() -> waiter.answer().get()).hasCauseInstanceOf(InterruptedException.class);

    acquired(b).close();
  }

  @Test
  void interruptedRequest_toAStoreThatIsGone_keepsNobodyForLong() {
    faulty.next(Fault.INTERRUPTED);
    faulty.downWhile(() -> faulty.calls() > 1);

    assertThatThrownBy(() -> passUntilAnswered(waitOf(LONG)))
        .hasCauseInstanceOf(InterruptedException.class);

    assertThat(faulty.calls()).as("it was asked again").isGreaterThan(2);
    assertThat(time.elapsed()).isLessThanOrEqualTo(Duration.ofSeconds(10));
  }

  @Test
  void interruptedRequest_keepsNobodyLongerThanTheTimeGiven() {
    faulty.next(Fault.INTERRUPTED);
    faulty.downWhile(() -> faulty.calls() > 1);

    assertThatThrownBy(() -> passUntilAnswered(waitOf(Duration.ofSeconds(2))))
        .hasCauseInstanceOf(InterruptedException.class);

    assertThat(time.elapsed()).isLessThanOrEqualTo(Duration.ofSeconds(2));
  }

  private Waiter waitOf(Duration atMost) {
    return Waiter.of(() -> a.acquire(atMost));
  }

  // Not a mutex

  @Test
  void recordOfTheSameName_isAnother_evenOnceItIsDone() throws Exception {
    ClaimStore client = storeOf("client", time);
    ClaimResult granted = client.claim(Claim.of(ID, Fingerprint.none(), time.now()));
    try (HeldMutex held = acquired(a)) {
      Lease lease = ((ClaimResult.Granted) granted).lease();
      assertThat(client.complete(lease, null)).isInstanceOf(SettleResult.Settled.class);
      held.ensureHeld();
    }
    acquired(b).close();
  }

  @Test
  void mutex_isNeverDoneOrDead() throws Exception {
    Lease lease = holdAndDie(faulty, time);

    assertThatThrownBy(() -> faulty.complete(lease, null))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("billing-run is a mutex, which is given back, and never done or dead");
    assertThatThrownBy(() -> faulty.bury(lease, "poison"))
        .isInstanceOf(IllegalArgumentException.class);

    assertThat(faulty.release(lease, ClaimStore.AT_ONCE, "given back"))
        .isInstanceOf(SettleResult.Settled.class);
    acquired(b).close();
  }

  @Test
  void mutexOfAResource_keepsOutTheRecordsThatTouchIt() throws Exception {
    RecordId account = RecordId.of("account-x").asResource();
    Claim transfer =
        Claim.of(RecordId.of("transfer"), Fingerprint.none(), time.now())
            .withResources(List.of(account));
    ClaimStore client = storeOf("client", time);

    try (HeldMutex unused = acquired(new Mutex(faulty, account, time))) {
      assertThat(client.claim(transfer)).isInstanceOf(ClaimResult.Blocked.class);
    }
  }

  // Several keys

  private static final RecordId ONE = RecordId.of("table-1").asMutex();
  private static final RecordId TWO = RecordId.of("table-2").asMutex();
  private static final RecordId THREE = RecordId.of("table-3").asMutex();

  @Test
  void plainIds_areThoseOfMutexes() throws Exception {
    RecordId plain = RecordId.of("table-1");

    HeldMutex held = acquired(of("a", null, plain, ONE, TWO).acquireOrSay(Duration.ZERO));

    assertThat(held.tokens()).containsOnlyKeys(ONE, TWO);
    assertHeldByAnother(of("b", null, plain));
    held.close();
  }

  private Mutex of(String holder, @Nullable String onBehalfOf, RecordId... keys) {
    return new Mutex(storeOf(holder, time), List.of(keys), onBehalfOf, time);
  }

  private static HeldMutex acquired(Acquisition answer) {
    assertThat(answer).isInstanceOf(Acquisition.Acquired.class);
    return ((Acquisition.Acquired) answer).held();
  }

  @Test
  void severalKeys_areAcquired_withATokenEach_thatRisesWithEveryHolder() throws Exception {
    HeldMutex first = acquired(of("a", null, TWO, ONE).acquireOrSay(Duration.ZERO));
    var tokens = first.tokens();
    first.close();

    HeldMutex next = acquired(of("b", null, ONE, TWO, THREE).acquireOrSay(Duration.ZERO));

    assertThat(tokens).containsOnlyKeys(ONE, TWO);
    assertThat(next.tokens()).containsOnlyKeys(ONE, TWO, THREE);
    assertThat(next.tokens().get(ONE)).isGreaterThan(tokens.get(ONE));
    assertThat(next.tokens().get(TWO)).isGreaterThan(tokens.get(TWO));
    next.close();
  }

  @Test
  void severalKeys_ofWhichOneIsHeld_areRefused_andSaidByWhomAndOnBehalfOfWhat() throws Exception {
    HeldMutex held = acquired(of("a", "editing table 2", TWO).acquireOrSay(Duration.ZERO));

    Acquisition answer = of("b", "night job", ONE, TWO, THREE).acquireOrSay(Duration.ZERO);

    assertThat(answer)
        .isInstanceOfSatisfying(
            Acquisition.NotAcquired.class,
            refused ->
                assertThat(refused.inTheWay())
                    .singleElement()
                    .satisfies(
                        way -> {
                          assertThat(way.id()).isEqualTo(TWO);
                          assertThat(way.by()).isEqualTo("a");
                          assertThat(way.onBehalfOf()).isEqualTo("editing table 2");
                        }));
    acquired(of("c", null, ONE, THREE).acquireOrSay(Duration.ZERO)).close();
    held.close();
  }

  @Test
  void waiterForSeveralKeys_hasThem_onceTheyAreGivenBack() throws Exception {
    HeldMutex held = acquired(of("a", null, ONE, THREE).acquireOrSay(Duration.ZERO));
    Mutex wanted = of("b", null, THREE, TWO, ONE);
    Waiter waiter = Waiter.of(() -> wanted.acquire(LONG));
    time.awaitSleeper("waiter");

    held.close();

    try (HeldMutex next = passUntilAnswered(waiter).orElseThrow()) {
      assertThat(next.tokens()).containsOnlyKeys(ONE, TWO, THREE);
    }
  }

  @Test
  void lossOfOneKey_isTheLossOfAll() throws Exception {
    HeldMutex held = acquired(of("a", null, ONE, TWO).acquireOrSay(Duration.ZERO));
    assertThat(held.isHeld()).isTrue();

    time.advance(LEASE.multipliedBy(2));

    assertThat(held.isHeld()).isFalse();
    HeldMutex taken = acquired(of("b", null, TWO).acquireOrSay(LONG));
    assertThat(taken.token()).isGreaterThan(held.tokens().get(TWO));
  }

  @Test
  void noKey_isNoMutex() {
    assertThatThrownBy(() -> of("a", null))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("this one 0");
  }
}
