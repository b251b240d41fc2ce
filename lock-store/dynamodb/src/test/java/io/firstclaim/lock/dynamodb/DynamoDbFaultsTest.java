package io.firstclaim.lock.dynamodb;

import static io.firstclaim.lock.testkit.Claimant.settled;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimResult.Done;
import io.firstclaim.lock.ClaimResult.Held;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.testkit.Claimant;
import io.firstclaim.lock.testkit.Step;
import io.firstclaim.lock.testkit.fault.Fault;
import io.firstclaim.lock.testkit.fault.FaultProxy;
import io.firstclaim.lock.testkit.fault.FaultyRoute;
import io.firstclaim.lock.testkit.fault.Match;
import io.firstclaim.lock.testkit.fault.Request;
import io.firstclaim.lock.testkit.fault.Rule;
import java.time.Duration;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

@Order(1)
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock("DynamoDbFaultsTest")
class DynamoDbFaultsTest extends FaultyDynamoDb {
  private static final FaultyRoute<DynamoDbClient> ROUTE = newRoute();
  private static final FaultProxy PROXY = ROUTE.proxy();

  DynamoDbFaultsTest() {
    super(ROUTE);
  }

  @AfterAll
  static void stop() {
    ROUTE.close();
  }

  @Override
  ClaimStore store(DynamoDbClient client, ClaimSettings settings) {
    return LocalDynamoDb.store(client, settings, time);
  }

  @Override
  protected Predicate<Request> firstClaim() {
    return Match.operation("UpdateItem");
  }

  @Override
  protected Predicate<Request> takeover() {
    return Match.operation("UpdateItem");
  }

  @Override
  protected Predicate<Request> step() {
    return Match.operation("PutItem");
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
    time.advance(Duration.ofMillis(1001)); // past it: at that very moment it takes another request
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
    time.advance(seen.remaining());

    assertOneRequest(() -> a.claimAfter(seen, ID), ClaimResult.Granted.class);
  }

  private static void assertOneRequest(
      Supplier<ClaimResult> claim, Class<? extends ClaimResult> answer) {
    PROXY.reset();
    assertThat(claim.get()).isInstanceOf(answer);
    assertThat(PROXY.requestsByOperation()).containsExactly(Map.entry("UpdateItem", 1L));
  }

  @Test
  void mutex_isReadFirst_soThatNoClaimIsRefusedWhereNobodyElseClaims() {
    Claimant a = retrying();
    RecordId mutex = RecordId.of("mutex");
    Map<String, Long> taken = Map.of("GetItem", 1L, "PutItem", 1L);
    Lease lease = assertRequests(taken, a, mutex, ClaimResult.Granted.class).lease();
    assertRequests(Map.of("GetItem", 1L), a, mutex, Held.class);
    settled(a.store().release(lease, ClaimStore.AT_ONCE, "done"));
    assertRequests(taken, a, mutex, ClaimResult.Granted.class);
    time.advance(Duration.ofHours(1));
    assertRequests(taken, a, mutex, ClaimResult.Granted.class);
  }

  private <T extends ClaimResult> T assertRequests(
      Map<String, Long> requests, Claimant by, RecordId mutex, Class<T> answer) {
    PROXY.reset();
    ClaimResult result = by.store().claim(Claim.ofMutex(mutex, time.now()));
    assertThat(PROXY.requestsByOperation()).isEqualTo(requests);
    assertThat(result).isInstanceOf(answer);
    return answer.cast(result);
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

  // A result that is too large

  @Test
  void resultThatNoItemHasRoomFor_isRefused_andTheLeaseStands() {
    Claimant a = retrying();
    Lease lease = a.acquire(ID);

    assertThatThrownBy(() -> a.store().complete(lease, "x".repeat(400 * 1024)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("at most 400 KB on DynamoDB");

    settled(a.store().complete(lease, "x".repeat(300 * 1024)));
  }

  // The store refuses for a while

  @Test
  void silentStore_isGivenUpWithinTheStoreTimeout_retriesIncluded() {
    var settings =
        new ClaimSettings(
            "any", "any", Duration.ofMillis(1500), ClaimSettings.LEAST_SKEW, Duration.ofDays(8));
    PROXY.blackhole();
    try (DynamoDbClient client =
        DynamoDbTable.configure(LocalDynamoDb.builder(PROXY.endpoint()), settings).build()) {
      ClaimStore store = LocalDynamoDb.store(client, settings("a"), time);
      long start = System.nanoTime();

      assertThatThrownBy(() -> store.claim(b.newClaim(ID)))
          .isInstanceOf(StoreUnavailableException.class);

      assertThat(Duration.ofNanos(System.nanoTime() - start))
          .as("half a second, and not the minutes of the SDK's own limits")
          .isLessThan(Duration.ofSeconds(20));
    }
  }
}
