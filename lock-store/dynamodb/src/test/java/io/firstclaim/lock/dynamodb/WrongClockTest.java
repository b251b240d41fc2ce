package io.firstclaim.lock.dynamodb;

import static io.firstclaim.lock.testkit.Claimant.settled;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimResult.Held;
import io.firstclaim.lock.ClaimResult.Later;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.testkit.Claimant;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/** Machines whose clocks are hours wrong, on a server that tells them so. */
class WrongClockTest {
  private static final Duration WAIT = Duration.ofMinutes(5);

  /** The store's date is cut to the second; from one answer follows the time to that. */
  private static final Duration NEAR = Duration.ofSeconds(1);

  private final long begin = System.nanoTime();
  private final RecordId id = RecordId.of("order-" + Nonce.random());
  private final DynamoDbClient client =
      LocalDynamoDb.unhurried(LocalDynamoDb.builder(LocalDynamoDb.endpoint())).build();
  private final Claimant right = claimant("right", 0);

  /** How much later it may be by now: the clocks run on, and the machine may stand still. */
  private Duration elapsed() {
    return Duration.ofNanos(System.nanoTime() - begin);
  }

  private Claimant claimant(String holder, long hours) {
    TimeSource machine =
        () -> new Moment(Instant.now().plus(Duration.ofHours(hours)), System.nanoTime());
    LocalDynamoDb.client(); // makes the table
    return new Claimant(
        DynamoDbClaimStore.open(
            client, LocalDynamoDb.TABLE, ClaimSettings.of("clocks", holder), machine),
        machine);
  }

  @AfterEach
  void close() {
    client.close();
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, 1})
  void firstClaimAfterTheStart_respectsALease(long hours) {
    right.acquire(id);

    assertThat(claimant("wrong", hours).claim(id)).isInstanceOf(Held.class);
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, 1})
  void leaseFromAWrongClock_isRespected_forItsLengthAndNoLonger(long hours) {
    claimant("wrong", hours).acquire(id);

    assertThat(right.heldOff(id).remaining())
        .isLessThanOrEqualTo(Duration.ofSeconds(33))
        .isGreaterThan(Duration.ofSeconds(29).minus(elapsed()));
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, 1})
  void releasedRecord_isDueAfterTheWait_byEveryClock(long hours) {
    Claimant wrong = claimant("wrong", hours);
    Lease lease = wrong.acquire(id);

    settled(wrong.store().release(lease, wrong.time().now().wall().plus(WAIT), "HTTP 503"));

    for (Claimant each : new Claimant[] {wrong, right}) {
      assertThat(each.claim(id))
          .isInstanceOfSatisfying(
              Later.class,
              later ->
                  assertThat(Duration.between(each.time().now().wall(), later.retryAt()))
                      .isBetween(WAIT.minus(NEAR).minus(elapsed()), WAIT.plus(NEAR).plus(NEAR)));
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, 1})
  void end_isToldByTheClockOfWhoAsks(long hours) {
    settled(right.store().complete(right.acquire(id), null));
    Claimant wrong = claimant("wrong", hours);

    assertThat(wrong.claim(id))
        .isInstanceOfSatisfying(
            ClaimResult.Done.class,
            done ->
                assertThat(Duration.between(done.ending().at(), wrong.time().now().wall()))
                    .isBetween(NEAR.negated(), NEAR.plus(elapsed())));
  }
}
