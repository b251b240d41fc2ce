package io.firstclaim.lock.dynamodb;

import static io.firstclaim.lock.testkit.Claimant.settled;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.DURATION;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult.Done;
import io.firstclaim.lock.ClaimResult.Granted;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.StoreListener;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.store.SweepTurn;
import io.firstclaim.lock.testkit.Claimant;
import io.firstclaim.lock.testkit.ManualTime;
import io.firstclaim.lock.testkit.Soak;
import io.firstclaim.lock.testkit.fault.Fault;
import io.firstclaim.lock.testkit.fault.FaultProxy;
import io.firstclaim.lock.testkit.fault.Match;
import io.firstclaim.lock.testkit.fault.Request;
import io.firstclaim.lock.testkit.fault.Rule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.core.SdkRequest;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbClientBuilder;
import software.amazon.awssdk.services.dynamodb.model.AttributeDefinition;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.BillingMode;
import software.amazon.awssdk.services.dynamodb.model.KeySchemaElement;
import software.amazon.awssdk.services.dynamodb.model.KeyType;
import software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType;
import software.amazon.awssdk.services.dynamodb.model.ScanRequest;

class TableSweeperTest {
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final Duration RETENTION = Duration.ofHours(2);
  private static final Duration PAST = RETENTION.plus(LEASE).plusSeconds(5);
  private static final Duration INTERVAL = Duration.ofHours(1);
  private static final int RACES = Soak.times(40, 1000);
  private static final Predicate<Request> DELETING = Match.operation("DeleteItem");
  private static final Fault NO_FAULT = new Fault.DelayRequest(Duration.ZERO);

  private static final ManualTime TIME = ManualTime.start();
  private static final FaultProxy PROXY = FaultProxy.start(LocalDynamoDb.endpoint());
  private static final DynamoDbClient DIRECT = LocalDynamoDb.dated(() -> TIME);
  private static final DynamoDbClient PROXIED =
      LocalDynamoDb.unhurried(
              DynamoDbTable.configure(
                  LocalDynamoDb.dated(LocalDynamoDb.builder(PROXY.endpoint()), () -> TIME),
                  settings("any", "any", RETENTION)))
          .build();

  private final String table = LocalDynamoDb.newTable();
  private final AtomicInteger removed = new AtomicInteger();
  private final Queue<Duration> rests = new ConcurrentLinkedQueue<>();
  private final Claimant a = claimant("swept", RETENTION);

  @AfterAll
  static void stop() {
    DIRECT.close();
    PROXIED.close();
    PROXY.close();
  }

  @BeforeEach
  void start() {
    LocalDynamoDb.createTable(
        DIRECT,
        create ->
            create
                .tableName(table)
                .billingMode(BillingMode.PAY_PER_REQUEST)
                .keySchema(
                    KeySchemaElement.builder().attributeName("pk").keyType(KeyType.HASH).build())
                .attributeDefinitions(
                    AttributeDefinition.builder()
                        .attributeName("pk")
                        .attributeType(ScalarAttributeType.S)
                        .build()));
  }

  @AfterEach
  void mend() {
    PROXY.clear();
    PROXY.reset();
    LocalDynamoDb.deleteTable(DIRECT, table);
  }

  private static ClaimSettings settings(String namespace, String holder, Duration retention) {
    return new ClaimSettings(namespace, holder, LEASE, Duration.ofSeconds(1), retention);
  }

  private Claimant claimant(String namespace, Duration retention) {
    return new Claimant(
        new DynamoDbClaimStore(
            DIRECT, table, settings(namespace, "a", retention), TIME, StoreListener.NONE, 1),
        TIME);
  }

  private TableSweeper sweeper(String holder) {
    return sweeper(PROXIED, holder);
  }

  private TableSweeper sweeper(DynamoDbClient way, String holder) {
    return new TableSweeper(
        way,
        table,
        settings("another", holder, RETENTION),
        INTERVAL,
        new Restless(rests),
        StoreListener.NONE,
        (listed, swept) -> removed.addAndGet(swept));
  }

  private static RecordId done(Claimant claimant, String id) {
    RecordId done = RecordId.of(id);
    settled(claimant.store().complete(claimant.acquire(done), null));
    return done;
  }

  private static Duration swept(TableSweeper sweeper) {
    try {
      return sweeper.sweep();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Something happens before any of these requests goes on. */
  private static void before(Predicate<Request> these, Runnable event) {
    AtomicBoolean happened = new AtomicBoolean();
    PROXY.add(
        Rule.always(
            these.and(
                _ -> {
                  synchronized (happened) {
                    if (happened.compareAndSet(false, true)) {
                      event.run();
                    }
                  }
                  return false;
                }),
            NO_FAULT));
  }

  /** The test's time, in which nobody really sleeps. */
  private record Restless(Queue<Duration> rests) implements TimeSource {
    @Override
    public Moment now() {
      return TIME.now();
    }

    @Override
    public void sleep(Duration duration) {
      rests.add(duration);
    }
  }

  // What goes, and what stays

  @Test
  void whatIsPastItsRetention_goes_whateverItsState() throws Exception {
    done(a, "done");
    settled(a.store().bury(a.acquire(RecordId.of("dead")), "poison"));
    a.acquire(RecordId.of("held"));
    settled(a.store().release(a.acquire(RecordId.of("free")), TIME.now().wall(), "again"));
    settled(
        a.store()
            .release(
                a.acquire(RecordId.of("due later")), TIME.now().wall().plus(RETENTION), "later"));

    TIME.advance(RETENTION);
    sweeper("a").sweep();
    assertThat(removed).hasValue(0);

    TIME.advance(PAST.minus(RETENTION));
    TIME.advance(INTERVAL);
    sweeper("a").sweep();
    assertThat(removed).hasValue(4);
    assertThat(a.store().find(RecordId.of("due later"))).isPresent();

    TIME.advance(PAST);
    sweeper("a").sweep();
    assertThat(removed).hasValue(5);
    assertThat(a.acquire(RecordId.of("done")).token()).isEqualTo(1);
  }

  @Test
  void claimsOfEveryNamespace_goWithTheRetentionOfTheirOwnWriter() throws Exception {
    Claimant longer = claimant("another", RETENTION.multipliedBy(3));
    RecordId id = done(a, "one ID");
    done(longer, "one ID");

    TIME.advance(PAST);
    sweeper("a").sweep();

    assertThat(a.store().find(id)).isEmpty();
    assertThat(longer.store().find(id)).isPresent();
  }

  @Test
  void whatIsNoClaim_stays() throws Exception {
    String identity = a.store().identity();
    Map<String, AttributeValue> foreign =
        Map.of("pk", Items.text("session-1"), "expiresAt", Items.number(1));
    DIRECT.putItem(put -> put.tableName(table).item(foreign));
    TIME.advance(PAST.multipliedBy(2));

    sweeper("a").sweep();

    assertThat(removed).hasValue(0);
    assertThat(claimant("swept", RETENTION).store().identity()).isEqualTo(identity);
    assertThat(DIRECT.scan(scan -> scan.tableName(table)).items()).contains(foreign);
  }

  // Where it sweeps

  @Test
  void tableWithTtl_isLeftToIt() throws Exception {
    new DynamoDbTable(DIRECT, table).create();
    RecordId id = done(a, "done");
    TIME.advance(PAST);

    assertThat(sweeper("a").sweep()).isEqualTo(INTERVAL);

    assertThat(PROXY.requestsByOperation().keySet())
        .containsOnly("DescribeTable", "DescribeTimeToLive");
    assertThat(a.claim(id)).isInstanceOf(Done.class);
  }

  @Test
  void stronglyConsistentGlobalTable_isSwept_andNotAskedForATtl() throws Exception {
    done(a, "done");
    TIME.advance(PAST);
    PROXY.add(
        Rule.always(
            Match.operation("DescribeTable"),
            new Fault.Answer(
                200,
                Map.of("Content-Type", "application/x-amz-json-1.0"),
                "{\"Table\":{\"TableName\":\"%s\",\"MultiRegionConsistency\":\"STRONG\"}}"
                    .formatted(table))));

    sweeper("a").sweep();

    assertThat(removed).hasValue(1);
    assertThat(PROXY.requests("DescribeTimeToLive")).isZero();
  }

  // One at a time

  @Test
  void oneOfManySweepers_sweepsInAnInterval() throws Exception {
    assertThat(sweeper("a").sweep()).isEqualTo(INTERVAL);
    PROXY.reset();
    assertThat(sweeper("b").sweep()).isBetween(INTERVAL.minusSeconds(2), INTERVAL.plusSeconds(2));
    assertThat(PROXY.requests("Scan")).isZero();

    TIME.advance(INTERVAL.plusSeconds(2));
    assertThat(sweeper("b").sweep()).isEqualTo(INTERVAL);
    assertThat(PROXY.requests("Scan")).isEqualTo(TableSweeper.SEGMENTS);
  }

  @Test
  void sweeperThatMeetsAnother_waits() throws Exception {
    done(a, "done");
    TIME.advance(PAST);
    List<Duration> told = new ArrayList<>();
    before(DELETING, () -> told.add(swept(sweeper(DIRECT, "b"))));

    sweeper("a").sweep();

    assertThat(told).singleElement(DURATION).isBetween(LEASE, INTERVAL);
    assertThat(removed).hasValue(1);
  }

  @Test
  void sweeperWhoseTurnIsLost_stops() throws Exception {
    RecordId id = done(a, "done");
    TIME.advance(PAST);
    before(
        Match.operation("Scan"),
        () -> {
          TIME.advance(LEASE.plusSeconds(5));
          Claim turn = Claim.of(RecordId.of(table), Fingerprint.none(), TIME.now());
          assertThat(claimant(SweepTurn.NAMESPACE, RETENTION).store().claim(turn))
              .isInstanceOf(Granted.class);
        });

    sweeper("a").sweep();

    assertThat(a.claim(id)).isInstanceOf(Done.class);
  }

  /** Every segment rests as long as its last request took. */
  @Test
  void slowTable_isSweptAsMuchSlower() throws Exception {
    done(a, "done");
    TIME.advance(PAST);
    before(DELETING, () -> TIME.advance(Duration.ofSeconds(2)));

    sweeper("a").sweep();

    assertThat(rests).contains(Duration.ofSeconds(2));
  }

  // Requests

  @Test
  void claim_costsOneDelete_andItsShareOfAPage() throws Exception {
    int claims = 60;
    for (int i = 0; i < claims; i++) {
      done(a, "done-" + i);
    }
    TIME.advance(PAST);

    sweeper("a").sweep();

    assertThat(removed).hasValue(claims);
    assertThat(PROXY.requestsByOperation())
        .as("beside the claims: what the table has, its turn, and a page of each segment")
        .isEqualTo(
            Map.of(
                "DescribeTable", 1L,
                "DescribeTimeToLive", 1L,
                "GetItem", 1L,
                "PutItem", 2L,
                "Scan", (long) TableSweeper.SEGMENTS,
                "DeleteItem", (long) claims));
  }

  @ParameterizedTest
  @ValueSource(strings = {"Scan", "DeleteItem"})
  void sweepWithoutThePermission_isRefused_withThePermission(String operation) {
    done(a, "done");
    TIME.advance(PAST);
    PROXY.add(
        Rule.always(
            Match.operation(operation), Fault.Answer.dynamoDb(400, "AccessDeniedException")));

    assertThatThrownBy(sweeper("a")::sweep)
        .isInstanceOf(StoreRefusedException.class)
        .hasMessageContaining("the role needs dynamodb:Scan and dynamodb:DeleteItem");
  }

  // Faults

  @Test
  void deletionWhoseAnswerIsLost_isDone_andOneThatFailsIsNoReasonToLeaveTheRest() throws Exception {
    List<RecordId> ids = List.of(done(a, "one"), done(a, "two"), done(a, "three"));
    TIME.advance(PAST);
    PROXY.add(
        Rule.once(
            DELETING.and(Match.bodyContains(ids.getFirst().key("swept"))),
            new Fault.ResetAfterApply()));
    RecordId fails = done(a, "four");
    TIME.advance(PAST);
    PROXY.add(
        Rule.always(
            DELETING.and(Match.bodyContains(fails.key("swept"))),
            Fault.Answer.dynamoDb(400, "TransactionConflictException")));

    sweeper("a").sweep();

    assertThat(ids).allSatisfy(id -> assertThat(a.store().find(id)).isEmpty());
    assertThat(a.store().find(fails)).isPresent();
  }

  @Test
  void segmentThatIsNotAnswered_isLeftInTheEnd_andKeepsNoOtherFromBeingSwept() throws Exception {
    List<RecordId> ids = new ArrayList<>(doneMany("first-"));
    int silent = segments(ids).getFirst();
    Rule unanswered =
        PROXY.add(
            Rule.times(
                10L * TableSweeper.TRIES,
                Match.operation("Scan").and(request -> isOf(silent, request)),
                Fault.Answer.dynamoDb(500, "InternalServerError")));
    try (DynamoDbClient client = notRetrying().build()) {
      TableSweeper sweeper = sweeper(client, "a");
      TIME.advance(PAST);
      assertThat(sweeper.sweep()).isEqualTo(INTERVAL);
      assertThat(unanswered.hits()).isEqualTo(TableSweeper.TRIES);
      assertThat(segments(ids)).contains(silent).containsOnly(silent);

      ids.addAll(doneMany("second-"));
      TIME.advance(PAST);
      sweeper.sweep();
      assertThat(segments(ids)).contains(silent).containsOnly(silent);

      PROXY.remove(unanswered);
      TIME.advance(PAST);
      sweeper.sweep();
      assertThat(segments(ids)).isEmpty();
    }
  }

  /** The segments of those of these claims that are there. */
  private List<Integer> segments(List<RecordId> ids) {
    Set<String> keys = ids.stream().map(id -> id.key("swept")).collect(Collectors.toSet());
    List<Integer> segments = new ArrayList<>();
    for (int i = 0; i < TableSweeper.SEGMENTS; i++) {
      int segment = i;
      DIRECT
          .scan(scan -> scan.tableName(table).totalSegments(TableSweeper.SEGMENTS).segment(segment))
          .items()
          .stream()
          .filter(item -> keys.contains(Objects.requireNonNull(item.get("pk")).s()))
          .forEach(_ -> segments.add(segment));
    }
    return segments;
  }

  private static boolean isOf(int segment, Request scan) {
    return scan.body().matches("(?s).*\"Segment\":%d\\b.*".formatted(segment));
  }

  /** So many that some segments have more than one. */
  private List<RecordId> doneMany(String prefix) {
    return IntStream.rangeClosed(0, TableSweeper.SEGMENTS)
        .mapToObj(i -> done(a, prefix + i))
        .toList();
  }

  /** A client behind the proxy, without the SDK's own retries. */
  private static DynamoDbClientBuilder notRetrying() {
    return LocalDynamoDb.notRetrying(
        LocalDynamoDb.unhurried(
            LocalDynamoDb.dated(LocalDynamoDb.builder(PROXY.endpoint()), () -> TIME)));
  }

  /** Items enough that some segments have more than one, each a page of its own. */
  @Test
  void pageWithoutAnAnswer_isReadAgain_inTheSameSweep() throws Exception {
    List<RecordId> ids = doneMany("done-");
    TIME.advance(PAST);
    Predicate<Request> secondPage =
        Match.operation("Scan").and(Match.bodyContains("ExclusiveStartKey"));
    Rule unanswered =
        PROXY.add(
            Rule.times(
                TableSweeper.SEGMENTS,
                secondPage,
                Fault.Answer.dynamoDb(500, "InternalServerError")));
    try (DynamoDbClient oneByOne =
        LocalDynamoDb.intercepted(notRetrying(), new OneByOne()).build()) {
      sweeper(oneByOne, "a").sweep();
    }

    assertThat(unanswered.hits()).isPositive();
    assertThat(ids).allSatisfy(id -> assertThat(a.store().find(id)).isEmpty());
  }

  /** Pages of one item. */
  private static final class OneByOne implements ExecutionInterceptor {
    @Override
    public SdkRequest modifyRequest(Context.ModifyRequest context, ExecutionAttributes attributes) {
      return context.request() instanceof ScanRequest scan
          ? scan.toBuilder().limit(1).build()
          : context.request();
    }
  }

  @Test
  void claimThatChangesAfterItWasRead_isLeft() throws Exception {
    RecordId id = RecordId.of("free");
    settled(a.store().release(a.acquire(id), TIME.now().wall(), "again"));
    TIME.advance(PAST);
    List<Lease> leases = new ArrayList<>();
    before(DELETING, () -> leases.add(a.acquire(id)));

    sweeper("a").sweep();

    assertThat(removed).hasValue(0);
    settled(a.store().complete(leases.getFirst(), null));
  }

  /** Rivals begin as each DELETE is on its way. */
  @Test
  void claimantsOfFreeRecords_loseNoneToASweeper_inAnyRace() throws Exception {
    List<RecordId> ids =
        IntStream.range(0, RACES).mapToObj(i -> RecordId.of("raced-" + i)).toList();
    for (RecordId id : ids) {
      settled(a.store().release(a.acquire(id), TIME.now().wall(), "again"));
    }
    TIME.advance(PAST);
    Set<RecordId> completed = ConcurrentHashMap.newKeySet();
    Queue<Future<?>> rivals = new ConcurrentLinkedQueue<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (RecordId id : ids) {
        before(
            DELETING.and(Match.bodyContains(id.key("swept"))),
            () -> rivals.add(threads.submit(() -> completeIfGranted(id, completed))));
      }
      sweeper("a").sweep();
    }

    assertThat(rivals).hasSize(RACES);
    for (Future<?> each : rivals) {
      each.get();
    }
    assertThat(completed).as("some were faster, the others came after the deletion").hasSize(RACES);
    for (RecordId id : completed) {
      assertThat(a.claim(id)).isInstanceOf(Done.class);
    }
  }

  /** What is granted is kept to its end. */
  private void completeIfGranted(RecordId id, Set<RecordId> completed) {
    if (a.claim(id) instanceof Granted(Lease lease, _)) {
      Lease renewed = settled(a.store().renew(lease));
      settled(a.store().complete(renewed, null));
      completed.add(id);
    }
  }
}
