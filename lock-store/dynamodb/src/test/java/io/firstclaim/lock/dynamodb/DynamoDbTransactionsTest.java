package io.firstclaim.lock.dynamodb;

import static io.firstclaim.lock.testkit.Claimant.granted;
import static io.firstclaim.lock.testkit.Claimant.settled;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Effects;
import io.firstclaim.lock.EffectsRefusedException;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.SettleResult.Settled;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.deduplicator.Deduplicator;
import io.firstclaim.lock.deduplicator.RunResult;
import io.firstclaim.lock.testkit.Claimant;
import io.firstclaim.lock.testkit.ManualTime;
import io.firstclaim.lock.testkit.fault.Fault;
import io.firstclaim.lock.testkit.fault.FaultProxy;
import io.firstclaim.lock.testkit.fault.Match;
import io.firstclaim.lock.testkit.fault.Rule;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.http.SdkHttpResponse;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbClientBuilder;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.CancellationReason;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;
import software.amazon.awssdk.services.dynamodb.model.TransactionCanceledException;

/** Several items at once: what is asked again, what is refused, and what is written with it. */
class DynamoDbTransactionsTest {
  private static final RecordId ID = RecordId.of("order-4711");
  private static final RecordId OTHER = RecordId.of("order-4712");
  private static final RecordId X = RecordId.of("account-x").asResource();
  private static final RecordId Y = RecordId.of("account-y").asResource();

  private static final FaultProxy PROXY = FaultProxy.start(LocalDynamoDb.endpoint());
  private static final DynamoDbClient RETRYING = unhurried().build();
  private static final DynamoDbClient NOT_RETRYING = LocalDynamoDb.notRetrying(unhurried()).build();

  private final ManualTime time = ManualTime.start();

  /** A time that passes only as somebody waits. */
  private final TimeSource passing =
      new TimeSource() {
        @Override
        public Moment now() {
          return time.now();
        }

        @Override
        public void sleep(Duration duration) {
          time.advance(duration);
        }
      };

  private final String namespace = "transactions-" + Nonce.random();
  private final Claimant a = claimant("a", LocalDynamoDb.client());
  private final Claimant b = claimant("b", LocalDynamoDb.client());
  private final String counter = "counter-" + namespace;

  private static DynamoDbClientBuilder unhurried() {
    return LocalDynamoDb.unhurried(LocalDynamoDb.builder(PROXY.endpoint()));
  }

  @AfterAll
  static void stop() {
    RETRYING.close();
    NOT_RETRYING.close();
    PROXY.close();
  }

  private Claimant claimant(String holder, DynamoDbClient client) {
    var settings =
        new ClaimSettings(
            namespace, holder, Duration.ofSeconds(30), Duration.ofSeconds(1), Duration.ofDays(8));
    return new Claimant(LocalDynamoDb.store(client, settings, passing), time);
  }

  private static Claim claim(Claimant by, RecordId id, RecordId... resources) {
    return by.newClaim(id).withResources(List.of(resources));
  }

  // Lost answers

  @Test
  void claimWhoseAnswerIsLost_isAskedAgain_withTheSameToken() {
    Claimant retrying = claimant("a", RETRYING);
    PROXY.add(Rule.once(Match.operation("TransactWriteItems"), new Fault.ResetAfterApply()));

    Lease lease = granted(retrying.store().claim(claim(retrying, ID, X))).lease();

    assertThat(lease.resources()).hasSize(1);
    assertThat(retrying.store().complete(lease, null)).isInstanceOf(Settled.class);
  }

  @Test
  void claimWhoseAnswerIsLostForGood_isKnown_whenItIsSentAgainInAnotherTransaction() {
    Claimant once = claimant("a", NOT_RETRYING);
    Claim claim = claim(once, ID, X, Y);
    PROXY.add(Rule.once(Match.operation("TransactWriteItems"), new Fault.ResetAfterApply()));
    assertThatThrownBy(() -> once.store().claim(claim))
        .isInstanceOf(StoreUnavailableException.class);

    Lease lease = granted(once.store().claim(claim)).lease();

    assertThat(lease.token()).isEqualTo(1);
    assertThat(once.store().complete(lease, null)).isInstanceOf(Settled.class);
  }

  @Test
  void stepsWhoseAnswersAreLost_areUnknown_andKnownWhenTheyAreRepeated() {
    Claimant once = claimant("a", NOT_RETRYING);
    Lease lease = granted(once.store().claim(claim(once, ID, X))).lease();

    PROXY.add(Rule.once(Match.operation("TransactWriteItems"), new Fault.ResetAfterApply()));
    assertThat(once.store().renew(lease)).isInstanceOf(SettleResult.Unknown.class);
    Lease renewed = settled(once.store().renew(lease));
    PROXY.add(Rule.once(Match.operation("TransactWriteItems"), new Fault.ResetAfterApply()));
    assertThat(once.store().complete(renewed, "result")).isInstanceOf(SettleResult.Unknown.class);

    assertThat(once.store().complete(renewed, "result")).isInstanceOf(Settled.class);
    assertThat(b.store().claim(claim(b, OTHER, X))).isInstanceOf(ClaimResult.Granted.class);
  }

  /** The first transaction finds what is another's by now, and the second leaves that out. */
  @Test
  void releaseOfWhatIsLeft_whoseAnswerIsLost_isUnknown_andKnownWhenItIsRepeated() {
    Claimant once = claimant("a", NOT_RETRYING);
    Lease lease = granted(once.store().claim(claim(once, ID, X, Y))).lease();
    a.operations().release(X, "by an operator");
    granted(b.store().claim(claim(b, OTHER, X)));
    PROXY.add(
        Rule.once(
            Match.operation("TransactWriteItems").and(Match.everyNth(2)),
            new Fault.ResetAfterApply()));

    assertThat(once.store().release(lease, ClaimStore.AT_ONCE, "stopped"))
        .isInstanceOf(SettleResult.Unknown.class);

    assertThat(once.store().release(lease, ClaimStore.AT_ONCE, "stopped"))
        .isInstanceOf(Settled.class);
    assertThat(b.store().claim(claim(b, ID, Y))).isInstanceOf(ClaimResult.Granted.class);
  }

  @Test
  void storeThatFails_isUnavailable_andNothingIsClaimed() {
    Claimant once = claimant("a", NOT_RETRYING);
    PROXY.add(
        Rule.once(
            Match.operation("TransactWriteItems"),
            Fault.Answer.dynamoDb(500, "InternalServerError")));

    assertThatThrownBy(() -> once.store().claim(claim(once, ID, X)))
        .isInstanceOf(StoreUnavailableException.class);

    assertThat(b.store().claim(claim(b, OTHER, X))).isInstanceOf(ClaimResult.Granted.class);
  }

  // Reasons

  /** Answers transactions by what is queued first, and has the reasons of others changed. */
  private static DynamoDbClient answering(
      Queue<TransactionCanceledException> first, boolean reversed) {
    DynamoDbClient real = LocalDynamoDb.client();
    return (DynamoDbClient)
        Proxy.newProxyInstance(
            DynamoDbClient.class.getClassLoader(),
            new Class<?>[] {DynamoDbClient.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("transactWriteItems") && !first.isEmpty()) {
                throw first.remove();
              }
              try {
                return method.invoke(real, arguments);
              } catch (InvocationTargetException e) {
                if (reversed && e.getCause() instanceof TransactionCanceledException canceled) {
                  List<CancellationReason> reasons =
                      new ArrayList<>(canceled.cancellationReasons());
                  Collections.reverse(reasons);
                  throw canceled.toBuilder().cancellationReasons(reasons).build();
                }
                throw e.getCause();
              }
            });
  }

  private static TransactionCanceledException canceled(String... codes) {
    return TransactionCanceledException.builder()
        .cancellationReasons(
            Stream.of(codes).map(code -> CancellationReason.builder().code(code).build()).toList())
        .awsErrorDetails(
            AwsErrorDetails.builder()
                .errorCode("TransactionCanceledException")
                .sdkHttpResponse(SdkHttpResponse.builder().statusCode(400).build())
                .build())
        .statusCode(400)
        .message("injected")
        .build();
  }

  @Test
  void conflictWithAnotherTransaction_isTriedAgain_andNotReadAsHeld() {
    Queue<TransactionCanceledException> conflicts =
        new ArrayDeque<>(
            List.of(
                canceled("TransactionConflict", "None"),
                canceled("None", "ThrottlingError"),
                canceled("ProvisionedThroughputExceeded", "TransactionConflict")));
    Claimant claimant = claimant("a", answering(conflicts, false));

    ClaimResult answer = claimant.store().claim(claim(claimant, ID, X));

    assertThat(answer).isInstanceOf(ClaimResult.Granted.class);
    assertThat(conflicts).isEmpty();
  }

  @Test
  void reasonsOutOfOrder_areMatchedByTheirItems() {
    Claimant claimant = claimant("a", answering(new ArrayDeque<>(), true));
    Lease lease = granted(claimant.store().claim(claim(claimant, ID, X, Y))).lease();
    time.advance(Duration.ofMinutes(1));
    granted(b.store().claim(claim(b, OTHER, Y)));

    assertThat(claimant.store().renew(lease)).isEqualTo(new SettleResult.Lost("b"));
    assertThat(claimant.store().complete(lease, null)).isEqualTo(new SettleResult.Lost("b"));
  }

  // Effects

  private TransactWriteItem increment() {
    return TransactWriteItem.builder()
        .update(
            update ->
                update
                    .tableName(LocalDynamoDb.TABLE)
                    .key(Map.of(Items.KEY, Items.text(counter)))
                    .updateExpression("ADD counted :one")
                    .expressionAttributeValues(Map.of(":one", Items.number(1))))
        .build();
  }

  private static TransactWriteItem impossible() {
    return TransactWriteItem.builder()
        .update(
            update ->
                update
                    .tableName(LocalDynamoDb.TABLE)
                    .key(Map.of(Items.KEY, Items.text("never there")))
                    .updateExpression("ADD counted :one")
                    .conditionExpression("attribute_exists(pk)")
                    .expressionAttributeValues(Map.of(":one", Items.number(1))))
        .build();
  }

  private int counted() {
    Map<String, AttributeValue> item =
        LocalDynamoDb.client()
            .getItem(
                get ->
                    get.tableName(LocalDynamoDb.TABLE)
                        .key(Map.of(Items.KEY, Items.text(counter)))
                        .consistentRead(true))
            .item();
    return item.isEmpty() ? 0 : Integer.parseInt(Objects.requireNonNull(item.get("counted")).n());
  }

  @Test
  void effect_isWrittenWithTheCompletion_once() {
    Lease lease = a.acquire(ID);
    Effects effects = DynamoDbEffects.of(increment());

    assertThat(a.store().complete(lease, "result", effects)).isInstanceOf(Settled.class);
    assertThat(a.store().complete(lease, "result", effects)).isInstanceOf(Settled.class);

    assertThat(counted()).isEqualTo(1);
    assertThat(b.claim(ID)).isInstanceOf(ClaimResult.Done.class);
  }

  @Test
  void effectWhoseAnswerIsLost_isWrittenOnce_howeverOftenItIsRepeated() {
    Claimant once = claimant("a", NOT_RETRYING);
    Lease lease = granted(once.store().claim(claim(once, ID, X))).lease();
    Effects effects = DynamoDbEffects.of(increment());
    PROXY.add(Rule.once(Match.operation("TransactWriteItems"), new Fault.ResetAfterApply()));

    assertThat(once.store().complete(lease, null, effects))
        .isInstanceOf(SettleResult.Unknown.class);
    assertThat(once.store().complete(lease, null, effects)).isInstanceOf(Settled.class);

    assertThat(counted()).isEqualTo(1);
  }

  @Test
  void effectOfALeaseThatWasLost_isNotWritten() {
    Lease lease = a.acquire(ID);
    time.advance(Duration.ofMinutes(1));
    Lease taken = b.acquire(ID);

    assertThat(a.store().complete(lease, null, DynamoDbEffects.of(increment())))
        .isEqualTo(new SettleResult.Lost("b"));

    assertThat(counted()).isZero();
    assertThat(b.store().complete(taken, null, DynamoDbEffects.of(increment())))
        .isInstanceOf(Settled.class);
    assertThat(counted()).isEqualTo(1);
  }

  @Test
  void effectWhoseConditionFails_refusesTheCompletion_andTheLeaseStands() {
    Lease lease = a.acquire(ID);

    assertThatThrownBy(
            () -> a.store().complete(lease, null, DynamoDbEffects.of(increment(), impossible())))
        .isInstanceOf(EffectsRefusedException.class)
        .hasMessageContaining("effect 2")
        .hasMessageContaining("ConditionalCheckFailed");

    assertThat(counted()).isZero();
    assertThat(a.store().complete(lease, null)).isInstanceOf(Settled.class);
  }

  @Test
  void moreThanATransactionTakes_isRefused_beforeAnythingIsWritten() {
    Lease lease = a.acquire(ID);
    TransactWriteItem[] many =
        IntStream.range(0, 100).mapToObj(i -> increment()).toArray(TransactWriteItem[]::new);

    assertThatThrownBy(() -> a.store().complete(lease, null, DynamoDbEffects.of(many)))
        .isInstanceOf(EffectsRefusedException.class)
        .hasMessageContaining("100 effects with 1 claims");

    assertThat(a.store().complete(lease, null)).isInstanceOf(Settled.class);
  }

  @Test
  void effectThatDynamoDbDoesNotTake_refusesTheCompletion_andTheLeaseStands() {
    Lease lease = a.acquire(ID);

    assertThatThrownBy(
            () -> a.store().complete(lease, null, DynamoDbEffects.of(increment(), increment())))
        .isInstanceOf(EffectsRefusedException.class);
    assertThatThrownBy(() -> completeUntilAnswered(lease, DynamoDbEffects.of(large())))
        .isInstanceOf(EffectsRefusedException.class);

    assertThat(counted()).isZero();
    assertThat(a.store().complete(lease, null)).isInstanceOf(Settled.class);
  }

  /** A slow machine may not get so much to the server within one time limit. */
  private void completeUntilAnswered(Lease lease, DynamoDbEffects effects) {
    SettleResult answer;
    do {
      answer = a.store().complete(lease, null, effects);
    } while (answer instanceof SettleResult.Unknown);
  }

  /** Twelve items of 390 KB are more than 4 MB. */
  private TransactWriteItem[] large() {
    return IntStream.range(0, 12)
        .mapToObj(
            i ->
                TransactWriteItem.builder()
                    .put(
                        put ->
                            put.tableName(LocalDynamoDb.TABLE)
                                .item(
                                    Map.of(
                                        Items.KEY,
                                        Items.text(counter + i),
                                        "large",
                                        Items.text("x".repeat(390_000)))))
                    .build())
        .toArray(TransactWriteItem[]::new);
  }

  /** On a table that is not there. */
  private static DynamoDbEffects misspelt() {
    return DynamoDbEffects.of(
        TransactWriteItem.builder()
            .put(put -> put.tableName("acounts").item(Map.of(Items.KEY, Items.text("never there"))))
            .build());
  }

  @Test
  void effectOnATableThatIsNotThere_refusesTheCompletion_andTheLeaseStands() {
    Lease alone = a.acquire(ID);
    Lease several = granted(a.store().claim(claim(a, OTHER, X))).lease();

    for (Lease lease : List.of(alone, several)) {
      assertThatThrownBy(() -> a.store().complete(lease, null, misspelt()))
          .isInstanceOf(EffectsRefusedException.class)
          .hasMessageContaining("ResourceNotFoundException");

      assertThat(a.store().complete(lease, null)).isInstanceOf(Settled.class);
    }
  }

  @Test
  void effectThatTheRoleMayNotWrite_refusesTheCompletion_andTheLeaseStands() {
    Claimant once = claimant("a", NOT_RETRYING);
    Lease lease = once.acquire(ID);
    PROXY.add(
        Rule.once(
            Match.operation("TransactWriteItems"),
            Fault.Answer.dynamoDb(400, "AccessDeniedException")));

    assertThatThrownBy(() -> once.store().complete(lease, null, DynamoDbEffects.of(increment())))
        .isInstanceOf(EffectsRefusedException.class)
        .hasMessageContaining("AccessDeniedException");

    assertThat(counted()).isZero();
    assertThat(once.store().complete(lease, null)).isInstanceOf(Settled.class);
  }

  @Test
  void claimThatTheRoleMayNotWrite_isRefusedByTheStore_whateverItsEffects() {
    Claimant once = claimant("a", NOT_RETRYING);
    Lease lease = once.acquire(ID);
    for (String operation : List.of("TransactWriteItems", "PutItem")) {
      PROXY.add(
          Rule.once(
              Match.operation(operation), Fault.Answer.dynamoDb(400, "AccessDeniedException")));
    }

    assertThatThrownBy(() -> once.store().complete(lease, null, DynamoDbEffects.of(increment())))
        .isInstanceOf(StoreRefusedException.class)
        .hasMessageContaining("AccessDeniedException");

    assertThat(once.store().complete(lease, null)).isInstanceOf(Settled.class);
  }

  @Test
  void effectThatHasNoRoomInItsCollection_refusesTheCompletion_andTheLeaseStands() {
    Queue<TransactionCanceledException> first =
        new ArrayDeque<>(List.of(canceled("None", "ItemCollectionSizeLimitExceeded")));
    Claimant claimant = claimant("a", answering(first, false));
    Lease lease = claimant.acquire(ID);

    assertThatThrownBy(
            () -> claimant.store().complete(lease, null, DynamoDbEffects.of(increment())))
        .isInstanceOf(EffectsRefusedException.class)
        .hasMessageContaining("effect 1")
        .hasMessageContaining("ItemCollectionSizeLimitExceeded");

    assertThat(claimant.store().complete(lease, null)).isInstanceOf(Settled.class);
  }

  @Test
  void resultThatDoesNotFit_isTheCallersFault_andTheLeaseStands() {
    Lease several = granted(a.store().claim(claim(a, OTHER, X))).lease();
    assertThatThrownBy(() -> a.store().complete(several, "x".repeat(410_000)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("at most 400 KB on DynamoDB");
    Queue<TransactionCanceledException> first =
        new ArrayDeque<>(List.of(canceled("ValidationError", "None")));
    Claimant claimant = claimant("a", answering(first, false));
    Lease lease = claimant.acquire(ID);

    assertThatThrownBy(
            () -> claimant.store().complete(lease, "large", DynamoDbEffects.of(increment())))
        .isInstanceOf(IllegalArgumentException.class)
        .isNotInstanceOf(EffectsRefusedException.class)
        .hasMessageContaining("at most 400 KB on DynamoDB");

    assertThat(claimant.store().complete(lease, null)).isInstanceOf(Settled.class);
    assertThat(a.store().complete(several, null)).isInstanceOf(Settled.class);
  }

  /** The claim may be in conflict with this very completion, sent before and not heard of. */
  @Test
  void conflictOnTheClaim_isTriedAgain_thoughAnEffectsConditionFailed() {
    Queue<TransactionCanceledException> conflicts =
        new ArrayDeque<>(
            List.of(
                canceled("TransactionConflict", "ConditionalCheckFailed"),
                canceled("TransactionConflict", "ValidationError")));
    Claimant claimant = claimant("a", answering(conflicts, false));
    Lease lease = claimant.acquire(ID);

    assertThat(claimant.store().complete(lease, null, DynamoDbEffects.of(increment())))
        .isInstanceOf(Settled.class);

    assertThat(conflicts).isEmpty();
    assertThat(counted()).isEqualTo(1);
  }

  @Test
  void effectsOfAnotherKind_areRefused() {
    Lease lease = a.acquire(ID);
    Effects others = new Effects() {};

    assertThatThrownBy(() -> a.store().complete(lease, null, others))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("it takes DynamoDbEffects");

    ClaimStore store = a.store();
    assertThat(store.complete(lease, null)).isInstanceOf(Settled.class);
  }

  @Test
  void deduplicatorsEffects_areWrittenOnce_andRefusedOnesAreAFailure() throws Exception {
    Deduplicator once = Deduplicator.builder(a.store(), time).build();
    var counting = new Deduplicator.Completion("counted", DynamoDbEffects.of(increment()));

    assertThat(once.runWithEffects(ID, Fingerprint.none(), _ -> counting))
        .isEqualTo(new RunResult.Ran("counted"));
    assertThat(once.runWithEffects(ID, Fingerprint.none(), _ -> counting))
        .isInstanceOf(RunResult.DoneBefore.class);
    var refused = new Deduplicator.Completion(null, DynamoDbEffects.of(impossible()));
    assertThat(once.runWithEffects(OTHER, Fingerprint.none(), _ -> refused))
        .isInstanceOfSatisfying(
            RunResult.AttemptFailed.class,
            failed ->
                assertThat(failed.cause())
                    .isInstanceOf(EffectsRefusedException.class)
                    .hasMessageContaining("effect 1"));

    assertThat(counted()).isEqualTo(1);
  }
}
