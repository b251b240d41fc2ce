package io.firstclaim.lock.s3;

import static io.firstclaim.lock.testkit.Claimant.granted;
import static io.firstclaim.lock.testkit.Claimant.settled;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimResult.Blocked;
import io.firstclaim.lock.ClaimResult.Done;
import io.firstclaim.lock.ClaimResult.Granted;
import io.firstclaim.lock.ClaimResult.Held;
import io.firstclaim.lock.ClaimResult.Later;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.SettleResult.Lost;
import io.firstclaim.lock.SettleResult.Unknown;
import io.firstclaim.lock.StoreListener;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.testkit.Claimant;
import io.firstclaim.lock.testkit.FaultContract;
import io.firstclaim.lock.testkit.Step;
import io.firstclaim.lock.testkit.fault.Fault;
import io.firstclaim.lock.testkit.fault.FaultProxy;
import io.firstclaim.lock.testkit.fault.FaultyRoute;
import io.firstclaim.lock.testkit.fault.FaultyRoute.Way;
import io.firstclaim.lock.testkit.fault.Match;
import io.firstclaim.lock.testkit.fault.Request;
import io.firstclaim.lock.testkit.fault.Rule;
import java.net.URI;
import java.time.Duration;
import java.util.List;
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
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;

@Order(1)
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock("S3FaultsTest")
class S3FaultsTest extends FaultContract {
  /** Of this class alone, as others run beside it. */
  private static final StoreTime TIME = new StoreTime();

  private static final S3Client DIRECT =
      LocalS3.unhurried(configured(LocalS3.endpoint(), Duration.ofSeconds(15))).build();
  private static final FaultyRoute<S3Client> ROUTE =
      FaultyRoute.to(
          LocalS3.endpoint(),
          DIRECT,
          proxy ->
              LocalS3.patient(configured(proxy.endpoint(), Duration.ofSeconds(15)), proxy).build(),
          proxy ->
              LocalS3.patient(
                      LocalS3.notRetrying(configured(proxy.endpoint(), Duration.ofSeconds(15))),
                      proxy)
                  .build());
  private static final FaultProxy PROXY = ROUTE.proxy();

  @AfterAll
  static void stop() {
    ROUTE.close();
    DIRECT.close();
  }

  /** As an application would configure it, for a lease of this length. */
  private static S3ClientBuilder configured(URI endpoint, Duration lease) {
    var settings =
        new ClaimSettings("any", "any", lease, ClaimSettings.LEAST_SKEW, Duration.ofDays(8));
    return LocalS3.intercepted(S3Bucket.configure(LocalS3.builder(endpoint), settings), TIME);
  }

  @Override
  protected FaultProxy proxy() {
    return PROXY;
  }

  @Override
  protected ClaimStore store(Way way, ClaimSettings settings) {
    return store(ROUTE.by(way), settings);
  }

  private ClaimStore store(S3Client client, ClaimSettings settings) {
    TIME.live(time);
    return new S3ClaimStore(LocalS3.bucket(client), settings, time, StoreListener.NONE);
  }

  @Override
  protected String name() {
    return "S3 bucket claims";
  }

  @Override
  protected Predicate<Request> firstClaim() {
    return Match.header("If-None-Match");
  }

  @Override
  protected Predicate<Request> takeover() {
    return Match.header("If-Match");
  }

  @Override
  protected Predicate<Request> step() {
    return Match.header("If-Match");
  }

  @Override
  protected List<Fault> refusals() {
    return List.of(
        Fault.Answer.s3(503, "SlowDown"),
        Fault.Answer.s3(500, "InternalError"),
        Fault.Answer.s3(409, "ConditionalRequestConflict"),
        Fault.Answer.s3(409, "ConcurrentModification"),
        Fault.Answer.s3(404, "NoSuchRoute"),
        Fault.Answer.status(404),
        Fault.Answer.status(503),
        new Fault.Refuse());
  }

  @Override
  protected List<Fault> denials() {
    return List.of(
        Fault.Answer.s3(403, "AccessDenied"),
        Fault.Answer.s3(404, "NoSuchBucket"),
        Fault.Answer.s3(501, "NotImplemented"));
  }

  @Override
  protected List<Fault> passingRefusals() {
    return List.of(
        Fault.Answer.s3(503, "SlowDown"),
        Fault.Answer.s3(409, "ConditionalRequestConflict"),
        Fault.Answer.s3(409, "ConcurrentModification"));
  }

  // Requests

  private static void assertRequests(
      Map<String, Long> requests,
      Supplier<ClaimResult> claim,
      Class<? extends ClaimResult> answer) {
    PROXY.reset();
    assertThat(claim.get()).isInstanceOf(answer);
    assertThat(PROXY.requestsByOperation()).isEqualTo(requests);
  }

  @Test
  void firstClaim_isOneRequest_andALoserPaysOneWriteAndOneRead() {
    Claimant a = retrying();
    assertRequests(Map.of("PUT", 1L), () -> a.claim(ID), Granted.class);
    Map<String, Long> lost = Map.of("PUT", 1L, "GET", 1L);
    assertRequests(lost, () -> a.claim(ID), Held.class);
    time.advance(Duration.ofHours(1));
    Map<String, Long> taken = Map.of("PUT", 2L, "GET", 1L);
    assertRequests(taken, () -> a.claim(ID), Granted.class);
    time.advance(Duration.ofHours(1));
    settled(b.store().release(b.acquire(ID), time.now().wall().plusSeconds(5), "again"));
    assertRequests(lost, () -> a.claim(ID), Later.class);
    time.advance(Duration.ofSeconds(6));
    assertRequests(taken, () -> a.claim(ID), Granted.class);
    time.advance(Duration.ofHours(1));
    settled(b.store().complete(b.acquire(ID), null));
    assertRequests(lost, () -> a.claim(ID), Done.class);
  }

  @Test
  void mutex_isReadFirst_soThatNoClaimIsRefusedWhereNobodyElseClaims() {
    Claimant a = retrying();
    RecordId mutex = RecordId.of("mutex");
    Supplier<ClaimResult> claim = () -> a.store().claim(Claim.ofMutex(mutex, time.now()));
    Map<String, Long> taken = Map.of("GET", 1L, "PUT", 1L);
    PROXY.reset();
    Granted granted = (Granted) claim.get();
    assertThat(PROXY.requestsByOperation()).isEqualTo(taken);
    assertRequests(Map.of("GET", 1L), claim, Held.class);
    settled(a.store().release(granted.lease(), ClaimStore.AT_ONCE, "done"));
    assertRequests(taken, claim, Granted.class);
    time.advance(Duration.ofHours(1));
    assertRequests(taken, claim, Granted.class);
  }

  @ParameterizedTest
  @EnumSource
  void step_isOneRequest_alsoAfterATakeoverAndRenewals(Step step) {
    Claimant a = retrying();
    b.acquire(ID);
    time.advance(Duration.ofHours(1));
    Lease lease = settled(a.store().renew(settled(a.store().renew(a.acquire(ID)))));
    PROXY.reset();

    settled(step.take(a.store(), lease));

    assertThat(PROXY.requestsByOperation()).isEqualTo(Map.of("PUT", 1L));
  }

  @Test
  void find_isOneRequest() {
    Claimant a = retrying();
    a.acquire(ID);
    PROXY.reset();

    assertThat(a.store().find(ID)).isPresent();

    assertThat(PROXY.requestsByOperation()).isEqualTo(Map.of("GET", 1L));
  }

  // The answer to a read

  @Test
  void claimWhoseReadFails_isUnavailable_notHeld() {
    b.acquire(ID);
    PROXY.add(Rule.always(Match.operation("GET"), Fault.Answer.s3(503, "SlowDown")));

    assertThatThrownBy(() -> notRetrying().claim(ID))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessage("S3 bucket claims did not answer find: 503 SlowDown by the fault proxy");
  }

  @Test
  void slowRead_isTriedAgain_withinTheTimeLimit() {
    b.acquire(ID);
    var late = Duration.ofSeconds(30);
    for (Fault slow : List.of(new Fault.DelayResponse(late), new Fault.HoldLastByte(late))) {
      PROXY.add(Rule.once(Match.operation("GET"), slow));

      assertThat(retrying().heldOff(ID).by()).as("%s", slow).isEqualTo("b");
    }
  }

  @Test
  void silentStore_isGivenUpWithinTheStoreTimeout_retriesIncluded() {
    PROXY.blackhole();
    try (S3Client client = configured(PROXY.endpoint(), Duration.ofMillis(1500)).build()) {
      ClaimStore store = store(client, settings("a"));
      long start = System.nanoTime();

      assertThatThrownBy(() -> store.claim(b.newClaim(ID)))
          .isInstanceOf(StoreUnavailableException.class);

      assertThat(Duration.ofNanos(System.nanoTime() - start))
          .as("half a second, and not the minutes of the SDK's own limits")
          .isLessThan(Duration.ofSeconds(20));
    }
  }

  // Several IDs

  private static final RecordId ACCOUNT = RecordId.of("account").asResource();

  private static Claim withAccount(Claimant by, RecordId id) {
    return by.newClaim(id).withResources(List.of(ACCOUNT));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void blockedClaim_ofWhichNothingIsKnownToBeGivenBack_isUnavailable_andItsRepetitionBlocked(
      boolean arrives) {
    RecordId other = RecordId.of("order-4712");
    assertThat(b.store().claim(withAccount(b, other))).isInstanceOf(Granted.class);
    Claimant a = notRetrying();
    Claim claim = withAccount(a, ID);
    PROXY.add(Rule.once(step(), arrives ? new Fault.ResetAfterApply() : new Fault.Refuse()));

    assertThatThrownBy(() -> a.store().claim(claim)).isInstanceOf(StoreUnavailableException.class);

    assertThat(a.store().claim(claim)).isInstanceOf(Blocked.class);
    assertThat(b.claim(ID)).isInstanceOf(Granted.class);
  }

  @ParameterizedTest
  @EnumSource(names = "RENEW", mode = EnumSource.Mode.EXCLUDE)
  void endOfARecord_whoseResourceIsNotKnownToBeFree_isUnknown_andItsRepetitionFreesIt(Step step) {
    Claimant a = notRetrying();
    Lease lease = granted(a.store().claim(withAccount(a, ID))).lease();
    String account = LocalS3.bucket(DIRECT).key(ACCOUNT.key(settings("a").namespace()));
    PROXY.add(Rule.once(step().and(Match.pathContains(account)), new Fault.Refuse()));

    assertThat(step.take(a.store(), lease)).isInstanceOf(Unknown.class);

    settled(step.take(a.store(), lease));
    assertThat(b.store().claim(withAccount(b, RecordId.of("order-4712"))))
        .isInstanceOf(Granted.class);
  }

  // Refusals

  @Test
  void deniedClaim_namesWhatIsNeeded() {
    Claimant a = notRetrying();
    useUpBrokenConnections(a);
    PROXY.add(Rule.always(Match.operation("PUT"), Fault.Answer.s3(403, "AccessDenied")));

    assertThatThrownBy(() -> a.claim(ID))
        .isInstanceOf(StoreRefusedException.class)
        .hasMessage(
            "S3 bucket claims refuses claim: 403 AccessDenied by the fault proxy. It must be there,"
                + " and claims need s3:GetObject, s3:PutObject and s3:DeleteObject on"
                + " claims/claims/* and s3:ListBucket on claims, without which a missing object is"
                + " answered 403");
  }

  @ParameterizedTest
  @EnumSource
  void stepOnAMarkerThatIsGone_isLost_andLeavesNothing(Step step) {
    Claimant a = retrying();
    Lease lease = a.acquire(ID);
    remove();

    assertThat(step.take(a.store(), lease)).isEqualTo(new Lost(null));
    assertThat(b.store().find(ID)).isEmpty();
  }

  @Test
  void takeoverOfAMarkerThatWentMeanwhile_isDecidedAnew() {
    b.acquire(ID);
    time.advance(Duration.ofHours(1));
    PROXY.add(Rule.once(takeover(), Fault.Answer.s3(404, "NoSuchKey")));

    // Gone by that answer, so it is claimed as new, which what is there in truth refuses.
    assertThat(retrying().acquire(ID).token()).isEqualTo(2);
  }

  private void remove() {
    String key = LocalS3.bucket(DIRECT).key(ID.key(settings("b").namespace()));
    DIRECT.deleteObject(delete -> delete.bucket(LocalS3.BUCKET).key(key));
  }

  @Test
  void bareConflict_isNeverTakenForALostRace() {
    Claimant a = notRetrying();
    Lease lease = a.acquire(ID);
    PROXY.add(Rule.once(step(), Fault.Answer.status(409)));

    assertThat(a.store().renew(lease)).isInstanceOf(Unknown.class);

    settled(a.store().renew(lease));
  }
}
