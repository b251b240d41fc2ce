package io.firstclaim.lock.s3;

import static io.firstclaim.lock.testkit.Claimant.settled;
import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.toMap;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.DURATION;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult.Done;
import io.firstclaim.lock.ClaimResult.Granted;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ConformanceResult;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.StoreListener;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.mutex.HeldMutex;
import io.firstclaim.lock.mutex.Mutex;
import io.firstclaim.lock.store.SweepTurn;
import io.firstclaim.lock.testkit.Claimant;
import io.firstclaim.lock.testkit.ManualTime;
import io.firstclaim.lock.testkit.Soak;
import io.firstclaim.lock.testkit.fault.Fault;
import io.firstclaim.lock.testkit.fault.FaultProxy;
import io.firstclaim.lock.testkit.fault.Match;
import io.firstclaim.lock.testkit.fault.Request;
import io.firstclaim.lock.testkit.fault.Rule;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.DeleteMarkerEntry;
import software.amazon.awssdk.services.s3.model.ListObjectVersionsResponse;
import software.amazon.awssdk.services.s3.model.ObjectVersion;

class SweeperTest {
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final Duration RETENTION = Duration.ofHours(2);
  private static final Duration PAST = RETENTION.plus(LEASE).plusSeconds(5);
  private static final Duration INTERVAL = Duration.ofHours(1);
  private static final int RACES = Soak.times(40, 1000);
  private static final Predicate<Request> DELETING =
      Match.operation("DELETE").and(Predicate.not(Match.pathContains("self-test")));
  private static final Predicate<Request> TAKING_OR_DELETING =
      DELETING.or(Match.bodyContains("sweeper of"));
  private static final Fault NO_FAULT = new Fault.DelayRequest(Duration.ZERO);

  private static final FaultProxy PROXY = FaultProxy.start(LocalS3.endpoint());
  private static final S3Client CLIENT =
      LocalS3.unhurried(
              LocalS3.timed(
                  S3Bucket.configure(LocalS3.builder(PROXY.endpoint()), settings("any", "any"))))
          .build();

  private final ManualTime time = ManualTime.start();
  private final String namespace = "swept-" + Nonce.random();
  private final String bucketName = LocalS3.newName();
  private final S3Bucket bucket = new S3Bucket(CLIENT, bucketName, "claims/");
  private final AtomicInteger removed = new AtomicInteger();
  private Claimant a;
  private Claimant b;

  @AfterAll
  static void stop() {
    CLIENT.close();
    PROXY.close();
  }

  @AfterEach
  void mend() {
    PROXY.clear();
  }

  @BeforeEach
  void start() {
    LocalS3.createBucket(bucketName);
    LocalS3.live(time);
    a = claimant(namespace, "a");
    b = claimant(namespace, "b");
  }

  private static ClaimSettings settings(String namespace, String holder) {
    return new ClaimSettings(namespace, holder, LEASE, Duration.ofSeconds(1), RETENTION);
  }

  private Claimant claimant(String space, String holder) {
    return claimant(bucket, space, holder);
  }

  private Claimant claimant(S3Bucket way, String space, String holder) {
    var store = new S3ClaimStore(way, settings(space, holder), time, StoreListener.NONE);
    return new Claimant(store, time);
  }

  private Sweeper sweeper(String holder) {
    return sweeper(bucket, settings(namespace, holder));
  }

  private Sweeper sweeper(S3Bucket way, ClaimSettings settings) {
    return new Sweeper(
        way,
        settings,
        INTERVAL,
        time,
        StoreListener.NONE,
        (listed, swept) -> removed.addAndGet(swept));
  }

  /** The bucket past the proxy. */
  private S3Bucket direct() {
    return new S3Bucket(LocalS3.client(), bucketName, "claims/");
  }

  private Sweeper directSweeper(String holder) {
    return sweeper(direct(), settings(namespace, holder));
  }

  /** Runs this before the first of these requests goes on. */
  private static void before(Predicate<Request> first, Runnable event) {
    AtomicBoolean happened = new AtomicBoolean();
    PROXY.add(
        Rule.always(
            first.and(
                _ -> {
                  if (happened.compareAndSet(false, true)) {
                    event.run();
                  }
                  return false;
                }),
            NO_FAULT));
  }

  private RecordId done(String id) {
    RecordId done = RecordId.of(id);
    settled(a.store().complete(a.acquire(done), null));
    return done;
  }

  private RecordId free(String id) {
    RecordId free = RecordId.of(id);
    settled(a.store().release(a.acquire(free), time.now().wall(), "again"));
    return free;
  }

  private Predicate<Request> of(RecordId id) {
    return Match.pathContains(bucket.key(id.key(namespace)));
  }

  // What goes, and what stays

  @Test
  void doneAndDead_go_onceTheirRetentionIsOver() throws Exception {
    RecordId done = RecordId.of("done");
    RecordId dead = RecordId.of("dead");
    settled(a.store().complete(a.acquire(done), "result"));
    settled(a.store().bury(a.acquire(dead), "poison"));

    time.advance(RETENTION);
    sweeper("a").sweep();
    assertThat(a.store().find(done)).isPresent();
    assertThat(a.store().find(dead)).isPresent();

    time.advance(PAST);
    sweeper("a").sweep();
    assertThat(a.store().find(done)).isEmpty();
    assertThat(a.store().find(dead)).isEmpty();
    assertThat(removed).hasValue(2);
    assertThat(b.acquire(done).token()).isEqualTo(1);
  }

  @Test
  void claimWrittenUnderALongerRetention_staysThatLong_whateverALaterStartHas() throws Exception {
    RecordId done = RecordId.of("done");
    settled(a.store().complete(a.acquire(done), "result"));
    var shorter =
        new ClaimSettings(namespace, "b", LEASE, Duration.ofSeconds(1), RETENTION.dividedBy(4));

    time.advance(RETENTION);
    sweeper(bucket, shorter).sweep();
    assertThat(a.store().find(done)).isPresent();

    time.advance(PAST);
    sweeper(bucket, shorter).sweep();
    assertThat(a.store().find(done)).isEmpty();
  }

  @Test
  void heldAndFree_stay_untilTheyAreOverForAsLong() throws Exception {
    RecordId held = RecordId.of("held");
    RecordId free = RecordId.of("free");
    a.acquire(held);
    settled(a.store().release(a.acquire(free), time.now().wall().plus(RETENTION), "later"));

    time.advance(RETENTION.plusSeconds(5));
    sweeper("a").sweep();
    assertThat(a.store().find(held)).isPresent();
    assertThat(a.store().find(free)).isPresent();

    time.advance(PAST);
    sweeper("a").sweep();
    assertThat(a.store().find(held)).isEmpty();
    assertThat(a.store().find(free)).isEmpty();
  }

  @Test
  @EnabledIfSystemProperty(named = "s3.versioned", matches = "true")
  void claimSweptFromAVersionedBucket_leavesItsVersionsAndADeleteMarker_andBeginsAnew()
      throws Exception {
    RecordId id = done("done");
    String key = bucket.key(id.key(namespace));
    time.advance(PAST);

    sweeper("a").sweep();

    ListObjectVersionsResponse left =
        CLIENT.listObjectVersions(list -> list.bucket(bucketName).prefix(key));
    assertThat(left.versions()).hasSize(2).noneMatch(ObjectVersion::isLatest);
    assertThat(left.deleteMarkers()).singleElement().matches(DeleteMarkerEntry::isLatest);
    assertThat(b.acquire(id).token()).isEqualTo(1);
  }

  @Test
  void mutexThatWasSwept_goesOnWithAHigherToken() throws Exception {
    RecordId id = RecordId.of("monthly job").asMutex();
    var mutex = new Mutex(a.store(), id, time);
    long last;
    try (HeldMutex held = mutex.acquire(Duration.ZERO).orElseThrow()) {
      last = held.token();
    }
    sweeper("a").sweep();
    assertThat(a.store().find(id)).isPresent();
    time.advance(RETENTION.plus(PAST));
    sweeper("a").sweep();
    assertThat(a.store().find(id)).isEmpty();

    try (HeldMutex held = mutex.acquire(Duration.ZERO).orElseThrow()) {
      assertThat(held.token()).isGreaterThan(last);
    }
  }

  @Test
  void whatIsNotThisNamespaces_stays() throws Exception {
    RecordId id = RecordId.of("done");
    Claimant elsewhere = claimant(namespace + "-2", "c");
    settled(elsewhere.store().complete(elsewhere.acquire(id), null));
    String foreign = "claims/00/00/notes.txt";
    CLIENT.putObject(
        put -> put.bucket(bucketName).key(foreign),
        RequestBody.fromBytes("a note".getBytes(StandardCharsets.UTF_8)));
    time.advance(PAST.multipliedBy(2));

    sweeper("a").sweep();

    assertThat(removed).hasValue(0);
    assertThat(elsewhere.store().find(id)).isPresent();
    assertThat(CLIENT.headObject(head -> head.bucket(bucketName).key(foreign)).eTag()).isNotEmpty();
  }

  // One at a time

  @Test
  void oneOfManySweepers_sweepsInAnInterval() throws Exception {
    settled(a.store().complete(a.acquire(RecordId.of("done")), null));
    time.advance(PAST);

    assertThat(sweeper("a").sweep()).isEqualTo(INTERVAL);
    PROXY.reset();
    assertThat(sweeper("b").sweep()).isBetween(INTERVAL, INTERVAL.plusSeconds(2));
    assertThat(PROXY.requests()).as("a claim that was not granted, and no more").isEqualTo(2);

    time.advance(INTERVAL.plusSeconds(2));
    assertThat(sweeper("b").sweep()).isEqualTo(INTERVAL);
  }

  @Test
  void sweeperThatMeetsAnother_waits() throws Exception {
    RecordId id = done("done");
    time.advance(PAST);
    List<Duration> told = new ArrayList<>();
    before(of(id), () -> told.add(swept(directSweeper("b"))));

    sweeper("a").sweep();

    assertThat(told).singleElement(DURATION).isBetween(LEASE, INTERVAL);
    assertThat(removed).hasValue(1);
  }

  private static Duration swept(Sweeper sweeper) {
    try {
      return sweeper.sweep();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void sweeperWhoseLeaseIsLost_stops() throws Exception {
    int claims = 2 * Sweeper.AT_ONCE;
    for (int i = 0; i < claims; i++) {
      done("done-" + i);
    }
    time.advance(PAST);
    Set<String> looked = ConcurrentHashMap.newKeySet();
    AtomicBoolean isTaken = new AtomicBoolean();
    CountDownLatch heldUp = new CountDownLatch(1);
    PROXY.add(
        Rule.always(
            Match.operation("GET")
                .and(Match.pathContains("/claims/"))
                .and(Predicate.not(Match.pathContains("self-test")))
                .and(
                    request -> {
                      looked.add(request.path());
                      if (looked.size() >= Sweeper.AT_ONCE && isTaken.compareAndSet(false, true)) {
                        time.advance(Duration.ofHours(1));
                        takeTurn("b");
                        heldUp.countDown();
                      }
                      return awaited(heldUp);
                    }),
            NO_FAULT));

    sweeper("a").sweep();

    assertThat(looked)
        .as("those that were under way, and its own claim, to see that it is lost")
        .hasSizeBetween(Sweeper.AT_ONCE, Sweeper.AT_ONCE + 1);
    assertThat(removed).hasValueLessThan(claims);
  }

  /** Another sweeper has its turn from now on. */
  private void takeTurn(String holder) {
    Claim turn = Claim.of(RecordId.of(namespace), Fingerprint.none(), time.now());
    assertThat(claimant(direct(), SweepTurn.NAMESPACE, holder).store().claim(turn))
        .isInstanceOf(Granted.class);
  }

  private static boolean awaited(CountDownLatch latch) {
    try {
      return latch.await(5, TimeUnit.MINUTES);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  // Requests

  @Test
  void finishedClaim_costsOneReadAndOneDelete_andAThousandthOfAListing() throws Exception {
    Sweeper sweeper = sweeper("a");
    sweeper.sweep(); // tries whether conditions are kept on deletes, once
    int claims = 60;
    for (int i = 0; i < claims; i++) {
      done("done-" + i);
    }
    time.advance(PAST);
    PROXY.reset();

    sweeper.sweep();

    assertThat(removed).hasValue(claims);
    assertThat(PROXY.requestsByOperation())
        .as(
            "beside the claims: its own claim, which it looks at, too, and release; the rules and the listing")
        .isEqualTo(Map.of("PUT", 3L, "GET", claims + 4L, "DELETE", (long) claims));
  }

  @Test
  void unfinishedClaim_costsAWriteMore() throws Exception {
    Sweeper sweeper = sweeper("a");
    sweeper.sweep();
    free("free");
    time.advance(PAST);
    PROXY.reset();

    sweeper.sweep();

    assertThat(PROXY.requestsByOperation()).isEqualTo(Map.of("PUT", 4L, "GET", 5L, "DELETE", 1L));
  }

  // Lifecycle rules

  private static void hasRule(String prefix) {
    PROXY.add(
        Rule.always(
            Match.pathContains("?lifecycle"),
            new Fault.Answer(
                200,
                Map.of("Content-Type", "application/xml"),
                ("<LifecycleConfiguration><Rule><ID>any</ID><Filter><Prefix>%s</Prefix></Filter>"
                        + "<Status>Enabled</Status><Expiration><Days>9</Days></Expiration></Rule>"
                        + "</LifecycleConfiguration>")
                    .formatted(prefix))));
  }

  @Test
  void bucketWhoseRuleRemovesClaims_isLeftToIt() throws Exception {
    RecordId id = done("done");
    time.advance(PAST);
    hasRule("claims/");
    PROXY.reset();

    assertThat(sweeper("a").sweep()).isEqualTo(INTERVAL);

    assertThat(PROXY.requestsByOperation())
        .as("its own claim and release, and the rules")
        .isEqualTo(Map.of("PUT", 2L, "GET", 1L));
    assertThat(a.claim(id)).isInstanceOf(Done.class);
  }

  @Test
  void bucketWhoseRulesConcernOthers_isSwept_andSoIsOneWhoseRulesMayNotBeRead() throws Exception {
    Sweeper sweeper = sweeper("a");
    done("first");
    time.advance(PAST);
    hasRule("claims/00/");

    sweeper.sweep();

    assertThat(removed).hasValue(1);
    done("second");
    time.advance(PAST);
    PROXY.clear();
    PROXY.add(Rule.always(Match.pathContains("?lifecycle"), Fault.Answer.s3(403, "AccessDenied")));

    sweeper.sweep();

    assertThat(removed).hasValue(2);
  }

  // Faults

  @Test
  void sweeperThatDiesBeforeItDeletes_leavesALease_afterWhichTheRecordBeginsAnew()
      throws Exception {
    RecordId id = free("free");
    time.advance(PAST);
    PROXY.add(Rule.always(DELETING, Fault.Answer.s3(403, "AccessDenied")));

    sweeper("a").sweep();

    assertThat(removed).hasValue(0);
    assertThat(b.heldOff(id).by()).isEqualTo("sweeper of a");
    time.advance(LEASE.plusSeconds(2));
    Lease lease = b.acquire(id);
    assertThat(lease.token()).isEqualTo(3);
    assertThat(lease.attempt()).isEqualTo(1);
  }

  @Test
  void whatASweeperLeft_goesInItsTime() throws Exception {
    RecordId id = free("free");
    time.advance(PAST);
    Rule denied = PROXY.add(Rule.always(DELETING, Fault.Answer.s3(403, "AccessDenied")));
    sweeper("a").sweep();
    PROXY.remove(denied);
    time.advance(PAST);

    sweeper("a").sweep();

    assertThat(b.store().find(id)).isEmpty();
  }

  @Test
  void takingWhoseAnswerIsLost_isNoReasonToLeaveIt() throws Exception {
    RecordId id = free("free");
    time.advance(PAST);
    PROXY.add(Rule.once(of(id).and(Match.bodyContains("sweeper of")), new Fault.ResetAfterApply()));

    sweeper("a").sweep();

    assertThat(removed).hasValue(1);
  }

  @Test
  void deletionWhoseAnswerIsLost_isDone() throws Exception {
    RecordId id = RecordId.of("done");
    settled(a.store().complete(a.acquire(id), null));
    time.advance(PAST);
    PROXY.add(Rule.once(DELETING, new Fault.ResetAfterApply()));

    sweeper("a").sweep();

    assertThat(b.store().find(id)).isEmpty();
  }

  /** It came so late that another has deleted the record, and a third has claimed it anew. */
  @Test
  void lateDeletionOfADoneRecord_deletesNoLaterClaim() throws Exception {
    RecordId id = done("done");
    time.advance(PAST);
    var lease = new Lease[1];
    before(
        DELETING.and(of(id)),
        () -> {
          LocalS3.client()
              .deleteObject(delete -> delete.bucket(bucketName).key(bucket.key(id.key(namespace))));
          lease[0] = direct("b").acquire(id);
        });

    sweeper("a").sweep();

    assertThat(removed).hasValue(0);
    settled(b.store().complete(lease[0], null));
  }

  @Test
  void markerThatChangesAfterItWasRead_isLeft() throws Exception {
    RecordId id = RecordId.of("free");
    settled(a.store().release(a.acquire(id), time.now().wall(), "again"));
    time.advance(PAST);
    var lease = new Lease[1];
    PROXY.add(
        Rule.once(
            Match.header("If-Match")
                .and(Match.bodyContains("sweeper of"))
                .and(Match.bodyContains(namespace))
                .and(
                    _ -> {
                      lease[0] = direct("b").acquire(id);
                      return true;
                    }),
            NO_FAULT));

    sweeper("a").sweep();

    assertThat(removed).hasValue(0);
    settled(b.store().complete(lease[0], null));
  }

  private Claimant direct(String holder) {
    return claimant(direct(), namespace, holder);
  }

  // Stores that do not keep conditions on deletes

  /** The DELETE may arrive when another has claimed the record. */
  @Test
  void storeThatIgnoresConditionsOnDeletes_isNotSwept_andIsWarnedOf() throws Exception {
    RecordId id = RecordId.of("done");
    settled(a.store().complete(a.acquire(id), null));
    time.advance(PAST);
    PROXY.add(
        Rule.always(
            Match.operation("DELETE").and(Match.pathContains("self-test")),
            Fault.Answer.status(204)));
    Sweeper sweeper = sweeper("a");

    assertThat(sweeper.sweep()).isEqualTo(INTERVAL);

    assertThat(removed).hasValue(0);
    assertThat(b.claim(id)).isInstanceOf(Done.class);
    time.advance(INTERVAL.plusSeconds(2));
    PROXY.clear();
    assertThat(sweeper.sweep()).as("it was tested once").isEqualTo(INTERVAL);
    assertThat(b.claim(id)).isInstanceOf(Done.class);
  }

  @Test
  void sweepWithoutThePermissionToDelete_isRefused_withThePermission() {
    PROXY.add(Rule.always(Match.operation("DELETE"), Fault.Answer.s3(403, "AccessDenied")));

    assertThatThrownBy(sweeper("a")::sweep)
        .isInstanceOf(StoreRefusedException.class)
        .hasMessageContaining("It takes the permission s3:DeleteObject");
  }

  /** It may let a DELETE and a PUT on one ETag both take, as here in every round. */
  @Test
  void storeThatComparesAndDeletesInTwoSteps_isNotSwept() {
    PROXY.add(
        Rule.always(
            Match.operation("DELETE")
                .and(Match.pathContains("self-test"))
                .and(request -> !"\"0\"".equals(request.header("If-Match"))),
            Fault.Answer.status(204)));

    assertThat(bucket.deletes())
        .isEqualTo(new ConformanceResult("If-Match of deletes", "taken beside a write", false));
  }

  // Races

  private interface Rival {
    void work(RecordId id);
  }

  /** A rival begins as each of these requests of the sweeper is on its way. */
  private void race(List<RecordId> ids, Predicate<Request> sweepers, Rival rival) throws Exception {
    Map<String, RecordId> byPath =
        ids.stream()
            .collect(toMap(id -> "/" + bucketName + "/" + bucket.key(id.key(namespace)), id -> id));
    Queue<Future<?>> rivals = new ConcurrentLinkedQueue<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      PROXY.add(
          Rule.always(
              request -> {
                RecordId id = byPath.get(request.path());
                if (id != null && sweepers.test(request)) {
                  rivals.add(threads.submit(() -> rival.work(id)));
                }
                return false;
              },
              NO_FAULT));
      sweeper("a").sweep();
    }
    assertThat(rivals).hasSizeGreaterThanOrEqualTo(RACES);
    for (Future<?> each : rivals) {
      each.get();
    }
  }

  private static List<RecordId> ids() {
    return IntStream.range(0, RACES).mapToObj(i -> RecordId.of("raced-" + i)).toList();
  }

  @Test
  void holderWhoRenews_losesToNoSweeper_inAnyRace() throws Exception {
    Claimant holder = direct("holder");
    Map<RecordId, Lease> leases = ids().stream().collect(toMap(id -> id, holder::acquire));
    // They are over, but by less than would let a sweeper have them.
    time.advance(RETENTION.plus(LEASE));

    race(
        ids(),
        Match.operation("GET"),
        id -> {
          Lease lease = settled(holder.store().renew(requireNonNull(leases.get(id))));
          settled(holder.store().complete(lease, null));
        });

    assertThat(removed).hasValue(0);
  }

  @Test
  void claimantsOfFreeRecords_loseNoneToASweeper_inAnyRace() throws Exception {
    Claimant claimant = direct("claimant");
    for (RecordId id : ids()) {
      Lease lease = claimant.acquire(id);
      settled(claimant.store().release(lease, time.now().wall(), "again"));
    }
    time.advance(PAST);
    Set<RecordId> completed = ConcurrentHashMap.newKeySet();

    race(ids(), TAKING_OR_DELETING, id -> completeIfGranted(claimant, id, completed));

    assertThat(completed).as("some were faster, some came after the deletion").isNotEmpty();
    assertThat(removed.get()).isPositive();
    for (RecordId id : completed) {
      assertThat(claimant.claim(id)).isInstanceOf(Done.class);
    }
  }

  @Test
  void claimantsOfDoneRecords_loseNoneToASweeper_inAnyRace() throws Exception {
    Claimant claimant = direct("claimant");
    for (RecordId id : ids()) {
      settled(claimant.store().complete(claimant.acquire(id), null));
    }
    time.advance(PAST);
    Set<RecordId> completed = ConcurrentHashMap.newKeySet();

    race(ids(), TAKING_OR_DELETING, id -> completeIfGranted(claimant, id, completed));

    assertThat(removed.get()).isPositive();
    for (RecordId id : completed) {
      assertThat(claimant.claim(id)).isInstanceOf(Done.class);
    }
  }

  /** What is granted is kept to its end. */
  private static void completeIfGranted(Claimant claimant, RecordId id, Set<RecordId> completed) {
    if (claimant.claim(id) instanceof Granted(Lease lease, _)) {
      Lease renewed = settled(claimant.store().renew(lease));
      settled(claimant.store().complete(renewed, null));
      completed.add(id);
    }
  }
}
