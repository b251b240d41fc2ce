package io.firstclaim.lock.dynamodb;

import static io.firstclaim.lock.Claimant.granted;
import static io.firstclaim.lock.Claimant.settled;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimResult.Done;
import io.firstclaim.lock.ClaimResult.Held;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Claimant;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.ManualTime;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.SettleResult.Unknown;
import io.firstclaim.lock.Step;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.state.ClaimRecord;
import io.firstclaim.stack.fault.Fault;
import io.firstclaim.stack.fault.FaultProxy;
import io.firstclaim.stack.fault.Match;
import io.firstclaim.stack.fault.Rule;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbClientBuilder;

/**
 * What a holder is answered when its requests or their answers are lost, delayed, doubled or
 * refused on the way. {@code a} and {@code patient} are one holder, with and without the SDK's own
 * retries; {@code b} has a network of its own that works.
 */
class DynamoDbFaultsTest {
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final Duration MAX_SKEW = Duration.ofSeconds(1);
  private static final RecordId ID = RecordId.of("order-4711");

  private static final FaultProxy PROXY = FaultProxy.start(LocalDynamoDb.endpoint());
  private static final DynamoDbClient RETRYING = configured().build();
  private static final DynamoDbClient NOT_RETRYING =
      LocalDynamoDb.notRetrying(configured()).build();

  private final String namespace = "faults-" + Nonce.random();
  private final ManualTime time = ManualTime.start();
  private final Claimant b = new Claimant(LocalDynamoDb.store(settings("b"), time), time);

  @AfterAll
  static void stop() {
    RETRYING.close();
    NOT_RETRYING.close();
    PROXY.close();
  }

  @BeforeEach
  void countFromHere() {
    PROXY.reset();
  }

  @AfterEach
  void mend() {
    PROXY.clear();
    PROXY.restore();
  }

  /** As an application would configure it, for a lease of this length. */
  private static DynamoDbClientBuilder configured() {
    var settings =
        new ClaimSettings("any", "any", Duration.ofSeconds(9), MAX_SKEW, Duration.ofDays(8));
    return LocalDynamoDb.timeless(
        DynamoDbTable.configure(LocalDynamoDb.builder(PROXY.endpoint()), settings));
  }

  private ClaimSettings settings(String holder) {
    return new ClaimSettings(namespace, holder, LEASE, MAX_SKEW, Duration.ofDays(8));
  }

  private Claimant claimant(DynamoDbClient client) {
    return new Claimant(LocalDynamoDb.store(client, settings("a"), time), time);
  }

  private Claimant retrying() {
    return claimant(RETRYING);
  }

  private Claimant notRetrying() {
    return claimant(NOT_RETRYING);
  }

  private Optional<ClaimRecord> stored() {
    return b.store().find(ID);
  }

  // The answer is lost after the write was applied

  @Test
  void claimWhoseAnswerIsLost_isGranted_byTheSdksOwnRetry() {
    Claimant a = retrying();
    PROXY.add(Rule.once(Match.operation("UpdateItem"), new Fault.ResetAfterApply()));

    Lease lease = a.acquire(ID);

    assertThat(PROXY.requests("UpdateItem")).as("the SDK sent it twice").isEqualTo(2);
    assertThat(lease.token()).isEqualTo(1);
    assertThat(lease.attempt()).isEqualTo(1);
    assertThat(b.heldOff(ID).by()).isEqualTo("a");
    settled(a.store().complete(lease, null));
  }

  @Test
  void claimWhoseAnswerNeverComes_isGranted_byTheSdksOwnRetry() {
    Claimant a = retrying();
    PROXY.add(Rule.once(Match.operation("UpdateItem"), new Fault.LoseResponse()));

    Lease lease = a.acquire(ID);

    assertThat(lease.attempt()).isEqualTo(1);
    assertThat(stored()).get().extracting(ClaimRecord::token).isEqualTo(1L);
  }

  @Test
  void claimWhoseAnswerIsLost_withoutRetries_isUnavailable_andItsRepetitionGranted() {
    Claimant a = notRetrying();
    Claim claim = a.newClaim(ID);
    PROXY.add(Rule.once(Match.operation("UpdateItem"), new Fault.ResetAfterApply()));

    assertThatThrownBy(() -> a.store().claim(claim))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageStartingWith("DynamoDB table claims did not answer claim: ");
    assertThat(b.heldOff(ID).by()).as("it took").isEqualTo("a");

    time.advance(Duration.ofSeconds(1));
    Lease lease = granted(a.store().claim(claim)).lease();
    assertThat(lease.token()).isEqualTo(1);
    assertThat(lease.attempt()).isEqualTo(1);
    assertThat(lease.remaining(time.now()))
        .as("counted from before the first send")
        .isEqualTo(Duration.ofSeconds(29));
  }

  @Test
  void takeoverWhoseAnswerIsLost_isGranted_withOneTokenMore() {
    b.acquire(ID);
    time.advance(Duration.ofHours(1));
    PROXY.add(Rule.once(Match.operation("UpdateItem"), new Fault.ResetAfterApply()));

    Lease lease = retrying().acquire(ID);

    assertThat(lease.token()).isEqualTo(2);
    assertThat(stored()).get().extracting(ClaimRecord::token).isEqualTo(2L);
  }

  @ParameterizedTest
  @EnumSource
  void stepWhoseAnswerIsLost_isSettled_byTheSdksOwnRetry(Step step) {
    Claimant a = retrying();
    Lease lease = a.acquire(ID);
    PROXY.add(Rule.once(Match.operation("PutItem"), new Fault.ResetAfterApply()));

    settled(step.take(a.store(), lease));

    assertThat(PROXY.requests("PutItem")).as("the SDK sent it twice").isEqualTo(2);
    assertRecordedOnce(lease, step);
  }

  @ParameterizedTest
  @EnumSource
  void stepWhoseAnswerIsLost_withoutRetries_isUnknown_andItsRepetitionSettled(Step step) {
    Claimant a = notRetrying();
    Lease lease = a.acquire(ID);
    PROXY.add(Rule.once(Match.operation("PutItem"), new Fault.ResetAfterApply()));

    assertThat(step.take(a.store(), lease))
        .isInstanceOfSatisfying(
            Unknown.class,
            unknown ->
                assertThat(unknown.why())
                    .startsWith("DynamoDB table claims did not answer ")
                    .doesNotContain("\n"));

    settled(step.take(a.store(), lease));
    assertRecordedOnce(lease, step);
  }

  private void assertRecordedOnce(Lease lease, Step step) {
    ClaimRecord record = stored().orElseThrow();
    assertThat(record.token()).isEqualTo(1);
    assertThat(record.nonce()).as("one write after the grant").isEqualTo(lease.nonce().next());
    Class<? extends ClaimResult> toOthers =
        switch (step) {
          case RENEW -> Held.class;
          case COMPLETE -> Done.class;
          case RELEASE -> ClaimResult.Later.class;
          case BURY -> ClaimResult.Dead.class;
        };
    assertThat(b.claim(ID)).isInstanceOf(toOthers);
  }

  @ParameterizedTest
  @EnumSource
  void stepAfterARenewalWhoseAnswerIsLost_isSettled(Step step) {
    Claimant a = notRetrying();
    Lease lease = a.acquire(ID);
    PROXY.add(Rule.once(Match.operation("PutItem"), new Fault.ResetAfterApply()));
    assertThat(a.store().renew(lease)).isInstanceOf(Unknown.class);

    Lease after = settled(step.take(a.store(), lease));

    assertThat(stored()).get().extracting(ClaimRecord::nonce).isEqualTo(after.nonce());
  }

  @Test
  void requestThatNeverArrived_leavesNothing_andItsRepetitionIsTheFirst() {
    Claimant a = notRetrying();
    Claim claim = a.newClaim(ID);
    PROXY.add(Rule.once(Match.operation("UpdateItem"), new Fault.Refuse()));
    assertThatThrownBy(() -> a.store().claim(claim)).isInstanceOf(StoreUnavailableException.class);
    assertThat(stored()).isEmpty();

    Lease lease = granted(a.store().claim(claim)).lease();
    PROXY.add(Rule.once(Match.operation("PutItem"), new Fault.Refuse()));
    assertThat(a.store().complete(lease, null)).isInstanceOf(Unknown.class);
    assertThat(b.claim(ID)).isInstanceOf(Held.class);

    settled(a.store().complete(lease, null));
    assertThat(b.claim(ID)).isInstanceOf(Done.class);
  }

  @Test
  void claimRepeatedAfterAnotherTookOver_isNotGranted() {
    Claimant a = notRetrying();
    Claim claim = a.newClaim(ID);
    PROXY.add(Rule.once(Match.operation("UpdateItem"), new Fault.ResetAfterApply()));
    assertThatThrownBy(() -> a.store().claim(claim)).isInstanceOf(StoreUnavailableException.class);
    time.advance(Duration.ofHours(1));
    b.acquire(ID);

    assertThat(a.store().claim(claim)).isInstanceOf(Held.class);
  }

  // One request

  @Test
  void claim_isOneRequest_whateverTheState() {
    Claimant a = retrying();
    Claim claim = a.newClaim(ID);
    assertOneRequest(() -> a.store().claim(claim), ClaimResult.Granted.class);
    assertOneRequest(() -> a.store().claim(claim), ClaimResult.Granted.class);
    assertOneRequest(() -> a.claim(ID), Held.class);
    time.advance(Duration.ofHours(1));
    assertOneRequest(() -> a.store().claim(otherPayload()), ClaimResult.Mismatch.class);
    assertOneRequest(() -> a.claim(ID), ClaimResult.Granted.class);
    time.advance(Duration.ofHours(1));
    settled(b.store().release(b.acquire(ID), time.now().wall().plusSeconds(1), "again"));
    assertOneRequest(() -> a.claim(ID), ClaimResult.Later.class);
    time.advance(Duration.ofSeconds(1));
    assertOneRequest(() -> a.claim(ID), ClaimResult.Granted.class);
    time.advance(Duration.ofHours(1));
    settled(b.store().complete(b.acquire(ID), null));
    assertOneRequest(() -> a.claim(ID), Done.class);
    assertOneRequest(() -> a.store().claim(otherPayload()), ClaimResult.Mismatch.class);

    RecordId buried = RecordId.of("buried");
    settled(b.store().bury(b.acquire(buried), "poison"));
    assertOneRequest(() -> a.claim(buried), ClaimResult.Dead.class);
  }

  private Claim otherPayload() {
    return Claim.of(ID, Claimant.OTHER_PAYLOAD, time.now());
  }

  @Test
  void claimThatHasWatchedLongEnough_isOneRequest() {
    Claimant ahead =
        new Claimant(
            LocalDynamoDb.store(settings("ahead"), time.machine(Duration.ofHours(1))), time);
    ahead.acquire(ID);
    Claimant a = retrying();
    Held seen = a.heldOff(ID);
    time.advance(LEASE);

    assertOneRequest(() -> a.claimAfter(seen, ID), ClaimResult.Granted.class);
  }

  private static void assertOneRequest(
      Supplier<ClaimResult> claim, Class<? extends ClaimResult> answer) {
    PROXY.reset();
    assertThat(claim.get()).isInstanceOf(answer);
    assertThat(PROXY.requestsByOperation()).containsExactly(Map.entry("UpdateItem", 1L));
  }

  @ParameterizedTest
  @EnumSource
  void step_isOneRequest(Step step) {
    Claimant a = retrying();
    Lease lease = a.acquire(ID);
    PROXY.reset();

    settled(step.take(a.store(), lease));

    assertThat(PROXY.requestsByOperation()).containsExactly(Map.entry("PutItem", 1L));
  }

  @Test
  void find_isOneRequest_readStronglyConsistent() {
    Claimant a = retrying();
    a.acquire(ID);
    Rule consistent =
        PROXY.add(
            Rule.always(
                Match.operation("GetItem").and(Match.bodyContains("\"ConsistentRead\":true")),
                new Fault.DelayRequest(Duration.ZERO)));
    PROXY.reset();

    assertThat(a.store().find(ID)).isPresent();

    assertThat(consistent.hits()).isEqualTo(1);
    assertThat(PROXY.requests()).isEqualTo(1);
  }

  // Doubled requests

  @Test
  void doubledClaim_isOneGrant() {
    PROXY.add(Rule.once(Match.operation("UpdateItem"), new Fault.Duplicate()));

    Lease lease = retrying().acquire(ID);

    assertThat(lease.token()).isEqualTo(1);
    assertThat(stored()).get().extracting(ClaimRecord::attempts).isEqualTo(1);
  }

  @ParameterizedTest
  @EnumSource
  void doubledStep_isRecordedOnce(Step step) {
    Claimant a = retrying();
    Lease lease = a.acquire(ID);
    PROXY.add(Rule.once(Match.operation("PutItem"), new Fault.Duplicate()));

    settled(step.take(a.store(), lease));

    assertRecordedOnce(lease, step);
  }

  // The store refuses for a while

  @Test
  void throttledOrFailing_isUnavailableOrUnknown_andRepetitionResolvesIt() {
    for (Fault fault :
        List.of(
            Fault.Answer.dynamoDbThrottling(),
            Fault.Answer.dynamoDb(500, "InternalServerError"),
            Fault.Answer.dynamoDb(400, "ReplicatedWriteConflictException"),
            Fault.Answer.dynamoDb(400, "RequestLimitExceeded"),
            Fault.Answer.status(503),
            new Fault.Refuse())) {
      RecordId id = RecordId.of("refused by " + fault);
      Claimant a = notRetrying();
      Claim claim = a.newClaim(id);

      Rule refusing = PROXY.add(Rule.always(Match.any(), fault));
      assertThatThrownBy(() -> a.store().claim(claim))
          .as("%s", fault)
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageStartingWith("DynamoDB table claims did not answer claim: ");
      assertThatThrownBy(() -> a.store().find(id))
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageStartingWith("DynamoDB table claims did not answer find: ");
      PROXY.remove(refusing);
      Lease lease = granted(a.store().claim(claim)).lease();
      assertThat(lease.attempt()).isEqualTo(1);

      for (Step step : List.of(Step.RENEW, Step.RELEASE, Step.BURY, Step.COMPLETE)) {
        PROXY.add(refusing);
        assertThat(step.take(a.store(), lease)).as("%s", fault).isInstanceOf(Unknown.class);
        PROXY.remove(refusing);
      }
      settled(a.store().complete(lease, null));
    }
  }

  @ParameterizedTest
  @EnumSource
  void briefRefusal_isRetriedByTheSdk_andNeverTakenForALostRace(Step step) {
    Claimant a = retrying();
    Lease lease = a.acquire(ID);
    for (Fault fault :
        List.of(
            Fault.Answer.dynamoDb(500, "InternalServerError"),
            Fault.Answer.dynamoDb(400, "ReplicatedWriteConflictException"))) {
      PROXY.add(Rule.once(Match.any(), fault));
      assertThat(a.claim(RecordId.of("claimed despite " + fault)))
          .isInstanceOf(ClaimResult.Granted.class);
    }
    PROXY.add(Rule.once(Match.any(), Fault.Answer.dynamoDb(500, "InternalServerError")));

    settled(step.take(a.store(), lease));

    assertRecordedOnce(lease, step);
  }

  @Test
  void unreachableStore_isUnavailableOrUnknown_andComesBack() {
    Claimant a = notRetrying();
    Lease lease = a.acquire(ID);
    PROXY.cut();

    assertThatThrownBy(() -> a.claim(RecordId.of("other")))
        .isInstanceOf(StoreUnavailableException.class);
    assertThat(a.store().renew(lease)).isInstanceOf(Unknown.class);

    PROXY.restore();
    settled(a.store().renew(lease));
  }

  @Test
  void silentStore_isGivenUpWithinTheStoreTimeout_retriesIncluded() {
    var settings =
        new ClaimSettings("any", "any", Duration.ofMillis(1500), Duration.ZERO, Duration.ofDays(8));
    PROXY.blackhole();
    try (DynamoDbClient client =
        DynamoDbTable.configure(LocalDynamoDb.builder(PROXY.endpoint()), settings).build()) {
      ClaimStore store = LocalDynamoDb.store(client, settings("a"), time);
      long start = System.nanoTime();

      assertThatThrownBy(() -> store.claim(b.newClaim(ID)))
          .isInstanceOf(StoreUnavailableException.class);

      assertThat(Duration.ofNanos(System.nanoTime() - start))
          .isBetween(Duration.ofMillis(300), Duration.ofSeconds(5));
    }
  }
}
