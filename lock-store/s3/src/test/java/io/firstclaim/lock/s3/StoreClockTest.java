package io.firstclaim.lock.s3;

import static io.firstclaim.lock.testkit.Claimant.granted;
import static io.firstclaim.lock.testkit.Claimant.held;
import static io.firstclaim.lock.testkit.Claimant.settled;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult.Granted;
import io.firstclaim.lock.ClaimResult.Held;
import io.firstclaim.lock.ClaimResult.Later;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimState;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.StoreListener;
import io.firstclaim.lock.StoreOperation;
import io.firstclaim.lock.testkit.Claimant;
import io.firstclaim.lock.testkit.ManualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Leases are judged by the store's clock, cut to the second; nobody's own wall clock matters. */
class StoreClockTest {
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final RecordId ID = RecordId.of("order-4711");
  private static final Duration SECOND = Duration.ofSeconds(1);

  private final String namespace = "clock-" + Nonce.random();
  private final ManualTime time = ManualTime.start();

  private Claimant claimant(String holder, Duration skew) {
    ManualTime machine = time.machine(skew);
    return new Claimant(LocalS3.store(settings(holder), machine, time), machine);
  }

  private ClaimSettings settings(String holder) {
    return new ClaimSettings(namespace, holder, LEASE, SECOND, Duration.ofDays(8));
  }

  @ParameterizedTest
  @CsvSource({"PT1H, PT0S", "PT-1H, PT0S", "PT0S, PT1H", "PT0S, PT-1H", "PT1H, PT-1H"})
  void clocksAnHourWrong_changeNothing(Duration holdersSkew, Duration waitersSkew) {
    Claimant holder = claimant("holder", holdersSkew);
    Claimant waiter = claimant("waiter", waitersSkew);
    Lease lease = holder.acquire(ID);
    time.advance(LEASE.minusMillis(1));

    Held held = waiter.heldOff(ID);
    assertThat(held.remaining()).isBetween(Duration.ofMillis(1001), Duration.ofSeconds(3));

    time.advance(held.remaining());
    assertThat(lease.isOver(holder.time().now())).isTrue();
    lease = waiter.acquire(ID);
    assertThat(lease.token()).isEqualTo(2);

    Instant inTenSeconds = waiter.time().now().wall().plusSeconds(10);
    settled(waiter.store().release(lease, inTenSeconds, "again"));
    assertThat(holder.claim(ID))
        .isInstanceOfSatisfying(
            Later.class,
            later ->
                assertThat(Duration.between(holder.time().now().wall(), later.retryAt()))
                    .as("ten seconds from now on the asker's clock")
                    .isBetween(Duration.ofSeconds(10), Duration.ofSeconds(12)));
    time.advance(Duration.ofSeconds(12));
    assertThat(holder.acquire(ID).token()).isEqualTo(3);
  }

  /** Tries every part of a second on which the write may fall. */
  @ParameterizedTest
  @ValueSource(longs = {0, 1, 500, 999})
  void lease_isNeverTakenOverBeforeItsEnd_andHardlyLaterThanASecondAfterTheBound(long millis) {
    Claimant holder = claimant("holder", Duration.ZERO);
    time.advance(Duration.ofMillis(millis));
    Lease lease = holder.acquire(ID);
    while (claimant("waiter", Duration.ZERO).claim(ID) instanceof Held) {
      time.advance(Duration.ofMillis(100));
    }

    assertThat(holder.time().now().since(lease.start())).isBetween(LEASE, LEASE.plusMillis(3100));
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 1, 500, 999})
  void releasedRecord_isNeverGrantedBeforeRetryAt(long millis) {
    Claimant holder = claimant("holder", Duration.ZERO);
    time.advance(Duration.ofMillis(millis));
    Lease lease = holder.acquire(ID);
    Instant retryAt = holder.time().now().wall().plusMillis(700);
    settled(holder.store().release(lease, retryAt, "again"));
    while (holder.claim(ID) instanceof Later later) {
      assertThat(later.retryAt()).isAfterOrEqualTo(retryAt);
      time.advance(Duration.ofMillis(100));
    }

    assertThat(holder.time().now().wall()).isBetween(retryAt, retryAt.plus(SECOND.multipliedBy(2)));
  }

  @Test
  void waiterThatWaitsAsLongAsItIsTold_isGrantedAtItsSecondClaim() {
    claimant("holder", Duration.ZERO).acquire(ID);
    Claimant waiter = claimant("waiter", Duration.ofHours(1));
    time.advance(Duration.ofMillis(12_345));
    Held held = waiter.heldOff(ID);

    time.advance(held.remaining());

    assertThat(waiter.claimAfter(held, ID)).isInstanceOf(Granted.class);
  }

  @Test
  void holderThatRenews_isNotTakenOver_byAWaiterWithAnyClock() {
    Claimant holder = claimant("holder", Duration.ofHours(-1));
    Claimant waiter = claimant("waiter", Duration.ofHours(1));
    Lease lease = holder.acquire(ID);
    Held seen = waiter.heldOff(ID);
    for (int i = 0; i < 10; i++) {
      time.advance(Duration.ofSeconds(10));
      lease = settled(holder.store().renew(lease));
      seen = held(waiter.claimAfter(seen, ID));
    }

    settled(holder.store().complete(lease, null));
  }

  /** A sink that remembers it for years must not refuse the next, whoever gives that. */
  @ParameterizedTest
  @ValueSource(strings = {"PT1H", "PT0S", "PT-1H"})
  void firstTokenOfAMutex_isTheStoresTime_whateverTheMachinesClockSays(Duration skew) {
    Claimant wrong = claimant("wrong", skew);
    RecordId account = RecordId.of("account");
    Claim alone = Claim.ofMutex(RecordId.of("nightly"), wrong.time().now());
    Claim touching = wrong.newClaim(ID).withResources(List.of(account));

    Lease mutex = granted(wrong.store().claim(alone)).lease();
    Lease resource = granted(wrong.store().claim(touching)).lease().resources().getFirst();

    for (Lease each : List.of(mutex, resource)) {
      assertThat(Instant.ofEpochMilli(each.token()))
          .isBetween(time.right().minusSeconds(1), time.right().plusSeconds(1));
    }
  }

  @Test
  void foundLease_endsOnTheClockOfWhoeverAsks() {
    claimant("holder", Duration.ofHours(-1)).acquire(ID);
    Claimant asker = claimant("asker", Duration.ofHours(1));

    ClaimState state = asker.store().find(ID).orElseThrow().state();

    Instant end = asker.time().now().wall().plus(LEASE);
    assertThat(((ClaimState.Held) state).end()).isBetween(end, end.plus(SECOND));
  }

  @ParameterizedTest
  @CsvSource({"PT1H, PT-59M-59S, PT-1H", "PT-1H, PT1H, PT1H", "PT0S, PT0S, PT0S"})
  void clockThatIsWrong_isToldToTheListener(Duration skew, Duration most, Duration least) {
    List<Duration> told = new ArrayList<>();
    var listener =
        new StoreListener() {
          @Override
          public void called(StoreOperation op, StoreOperation.Result result, Duration took) {}

          @Override
          public void clockSkew(Duration proven) {
            told.add(proven);
          }
        };
    var machine = time.machine(skew);
    LocalS3.store(settings("any"), machine, time);
    var store =
        new S3ClaimStore(LocalS3.bucket(LocalS3.client()), settings("a"), machine, listener);

    new Claimant(store, machine).acquire(ID);

    assertThat(told).hasSize(1).first().satisfies(one -> assertThat(one).isBetween(least, most));
  }
}
