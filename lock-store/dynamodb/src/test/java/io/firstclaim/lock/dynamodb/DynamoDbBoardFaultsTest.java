package io.firstclaim.lock.dynamodb;

import static io.firstclaim.lock.testkit.board.Status.EDITING;
import static io.firstclaim.lock.testkit.board.Status.LOCKED;
import static io.firstclaim.lock.testkit.board.Status.NORMAL;
import static io.firstclaim.lock.testkit.board.Status.RULES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.groups.Tuple.tuple;
import static org.awaitility.Awaitility.await;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ContendedException;
import io.firstclaim.lock.EffectsRefusedException;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.board.Change;
import io.firstclaim.lock.board.Item;
import io.firstclaim.lock.board.ItemKey;
import io.firstclaim.lock.board.Move;
import io.firstclaim.lock.board.MoveResult;
import io.firstclaim.lock.board.StatusBoard;
import io.firstclaim.lock.board.StoredItem;
import io.firstclaim.lock.board.TransitionResult;
import io.firstclaim.lock.board.TransitionResult.Moved;
import io.firstclaim.lock.board.TransitionResult.Refused;
import io.firstclaim.lock.board.TransitionResult.Unknown;
import io.firstclaim.lock.testkit.ManualTime;
import io.firstclaim.lock.testkit.board.Status;
import io.firstclaim.lock.testkit.fault.Fault;
import io.firstclaim.lock.testkit.fault.FaultProxy;
import io.firstclaim.lock.testkit.fault.FaultyRoute;
import io.firstclaim.lock.testkit.fault.FaultyRoute.Way;
import io.firstclaim.lock.testkit.fault.Match;
import io.firstclaim.lock.testkit.fault.Request;
import io.firstclaim.lock.testkit.fault.Rule;
import io.firstclaim.stack.server.Unhurried;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.core.RequestOverrideConfiguration;
import software.amazon.awssdk.core.SdkRequest;
import software.amazon.awssdk.core.SdkResponse;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.BatchGetItemResponse;
import software.amazon.awssdk.services.dynamodb.model.CancellationReason;
import software.amazon.awssdk.services.dynamodb.model.KeysAndAttributes;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItemsRequest;
import software.amazon.awssdk.services.dynamodb.model.TransactionCanceledException;

/** Through the proxy go two clients, with and without the SDK's own retries. */
@Order(1)
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock("DynamoDbBoardFaultsTest")
class DynamoDbBoardFaultsTest {
  private static final FaultyRoute<DynamoDbClient> ROUTE =
      FaultyRoute.to(
          LocalDynamoDb.endpoint(),
          LocalDynamoDb.client(),
          proxy ->
              LocalDynamoDb.patient(
                      DynamoDbTable.configure(
                          LocalDynamoDb.builder(proxy.endpoint()), ClaimSettings.of("any", "any")),
                      proxy)
                  .build(),
          proxy ->
              LocalDynamoDb.patient(
                      LocalDynamoDb.notRetrying(LocalDynamoDb.builder(proxy.endpoint())), proxy)
                  .build());
  private static final FaultProxy PROXY = ROUTE.proxy();
  private static final DynamoDbClient RETRYING = ROUTE.by(Way.RETRYING);
  private static final DynamoDbClient NOT_RETRYING = ROUTE.by(Way.NOT_RETRYING);
  private static final Predicate<Request> WRITE = Match.operation("TransactWriteItems");
  private static final Duration PATIENCE = Duration.ofMinutes(5);

  private final String name = "board-" + Nonce.random();
  private final StatusBoard<Status> straight = over(LocalDynamoDb.client(), PATIENCE);
  private final List<DynamoDbClient> opened = new ArrayList<>();

  @AfterAll
  static void stop() {
    ROUTE.close();
  }

  @AfterEach
  void mend() {
    PROXY.clear();
    PROXY.restore();
    opened.forEach(DynamoDbClient::close);
  }

  private StatusBoard<Status> over(DynamoDbClient client, Duration atMost) {
    TimeSource time = TimeSource.system();
    return new StatusBoard<>(
        new DynamoDbBoardStore(client, LocalDynamoDb.TABLE, name, time), RULES, time, atMost);
  }

  private DynamoDbClient intercepted(ExecutionInterceptor interceptor) {
    DynamoDbClient client =
        LocalDynamoDb.unhurried(
                LocalDynamoDb.intercepted(
                    LocalDynamoDb.notRetrying(LocalDynamoDb.builder(LocalDynamoDb.endpoint())),
                    interceptor))
            .build();
    opened.add(client);
    return client;
  }

  private static Change<Status> edit(String key, String editor) {
    return Change.ofFree(key, NORMAL, EDITING, editor);
  }

  private static Change<Status> lock(String key, String editor, String child) {
    return Change.ofFree(key, NORMAL, LOCKED, editor).onBehalfOf(child);
  }

  private static TransitionResult<Status> adaEditsAAndLocksB(StatusBoard<Status> board)
      throws InterruptedException {
    return board.transition(List.of(edit("a", "ada"), lock("b", "ada", "a")));
  }

  private void assertAdaHasBoth() {
    assertThat(straight.list())
        .extracting(item -> item.key().value(), Item::status, Item::editor, Item::lockedBy)
        .containsExactly(tuple("a", EDITING, "ada", null), tuple("b", LOCKED, "ada", "a"));
  }

  // Requests and answers that are lost

  static Stream<Fault> faultsThatPass() {
    return Stream.of(
        new Fault.ResetAfterApply(),
        new Fault.LoseResponse(),
        new Fault.Duplicate(),
        new Fault.Refuse(),
        Fault.Answer.status(503),
        Fault.Answer.dynamoDb(500, "InternalServerError"),
        Fault.Answer.dynamoDb(400, "TransactionInProgressException"),
        Fault.Answer.dynamoDb(400, "ThrottlingException"),
        Fault.Answer.dynamoDbThrottling(),
        cancellation("TransactionConflict"),
        cancellation("ProvisionedThroughputExceeded"),
        cancellation("ConditionalCheckFailed", "TransactionConflict"),
        cancellation("SomethingNew"));
  }

  private static Fault.Answer cancellation(String... codes) {
    String reasons = String.join("\"},{\"Code\":\"", codes);
    return new Fault.Answer(
        400,
        Map.of("Content-Type", "application/x-amz-json-1.0"),
        """
        {"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException",\
        "Message":"by the fault proxy","CancellationReasons":[{"Code":"%s"},{"Code":"None"}]}\
        """
            .formatted(reasons));
  }

  @ParameterizedTest
  @MethodSource("faultsThatPass")
  void transitionThatMeetsAPassingFault_isMadeOnce(Fault fault) throws Exception {
    for (DynamoDbClient client : List.of(RETRYING, NOT_RETRYING)) {
      PROXY.clear();
      Rule rule = PROXY.add(Rule.times(2, WRITE, fault));

      assertThat(adaEditsAAndLocksB(over(client, PATIENCE))).isInstanceOf(Moved.class);

      assertThat(rule.hits()).isPositive();
      assertAdaHasBoth();
      PROXY.clear();
      assertThat(
              straight.transition(
                  List.of(
                      Change.ofOwn("a", EDITING, NORMAL, "ada"),
                      Change.ofOwn("b", LOCKED, NORMAL, "ada", "a"))))
          .isInstanceOf(Moved.class);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void anothersItem_isInTheWay_whateverWasLostBefore(boolean retrying) throws Exception {
    straight.transition(List.of(edit("b", "bob")));
    PROXY.add(Rule.once(Match.operation("BatchGetItem"), new Fault.ResetAfterApply()));
    PROXY.add(Rule.once(WRITE, new Fault.Refuse()));

    assertThat(adaEditsAAndLocksB(over(retrying ? RETRYING : NOT_RETRYING, PATIENCE)))
        .isEqualTo(new Refused<>(List.of(straight.find("b"))));
  }

  @Test
  void writeThatTheSdkRepeats_andThatIsThenRefused_isUnknown() {
    var store = new DynamoDbBoardStore(RETRYING, LocalDynamoDb.TABLE, name, TimeSource.system());
    PROXY.add(Rule.once(WRITE, new Fault.ResetAfterApply()));
    PROXY.add(Rule.once(WRITE, cancellation("ConditionalCheckFailed")));
    var item =
        new StoredItem(
            ItemKey.of("a"),
            "EDITING",
            "ada",
            null,
            List.of(),
            Instant.EPOCH,
            1,
            List.of(Nonce.random()));

    assertThat(store.move(List.of(new Move(null, item)), null, Nonce.random()))
        .isEqualTo(new MoveResult.Unknown("the write was repeated and then refused"));
  }

  @Test
  void conflictsWithoutEnd_areContention_andNothingIsWritten() {
    PROXY.add(Rule.always(WRITE, cancellation("ConditionalCheckFailed", "TransactionConflict")));

    assertThatThrownBy(() -> adaEditsAAndLocksB(over(RETRYING, Duration.ofMillis(200))))
        .isInstanceOf(ContendedException.class)
        .hasMessageContaining("DynamoDB cancelled the transaction: TransactionConflict");

    assertThat(straight.list()).isEmpty();
  }

  @Test
  void throttlingWithoutEnd_isUnavailable_andNothingIsWritten() {
    PROXY.add(Rule.always(WRITE, Fault.Answer.dynamoDbThrottling()));

    assertThatThrownBy(() -> adaEditsAAndLocksB(over(NOT_RETRYING, Duration.ofMillis(200))))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageStartingWith("DynamoDB table claims did not answer to write board " + name);

    assertThat(straight.list()).isEmpty();
  }

  /** Gives each request the time that it takes, but for writes, which keep the board's limits. */
  private static final class UnhurriedButForWrites implements ExecutionInterceptor {
    private final Unhurried unhurried = new Unhurried();

    @Override
    public SdkRequest modifyRequest(Context.ModifyRequest context, ExecutionAttributes attributes) {
      return context.request() instanceof TransactWriteItemsRequest
          ? context.request()
          : unhurried.modifyRequest(context, attributes);
    }
  }

  @Test
  void silence_isUnknown_withinTheTimeLimits() throws Exception {
    var start = new AtomicLong();
    PROXY.add(
        Rule.always(
            WRITE.and(
                _ -> {
                  start.compareAndSet(0, System.nanoTime());
                  return true;
                }),
            new Fault.LoseResponse()));
    try (DynamoDbClient client =
        LocalDynamoDb.intercepted(
                LocalDynamoDb.notRetrying(LocalDynamoDb.builder(PROXY.endpoint())),
                new UnhurriedButForWrites())
            .build()) {
      assertThat(adaEditsAAndLocksB(over(client, Duration.ofMillis(200))))
          .isInstanceOfSatisfying(
              Unknown.class,
              unknown ->
                  assertThat(unknown.why())
                      .startsWith("DynamoDB did not answer: ")
                      .doesNotContain("\n"));

      assertThat(Duration.ofNanos(System.nanoTime() - start.get()))
          .isLessThan(Duration.ofSeconds(20));
    }
    // The server may take the write only after nobody waits for its answer any more.
    await().atMost(PATIENCE).untilAsserted(this::assertAdaHasBoth);
  }

  @Test
  void silenceOfAllReads_isUnavailable() {
    PROXY.cut();

    assertThatThrownBy(() -> adaEditsAAndLocksB(over(NOT_RETRYING, Duration.ofMillis(200))))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageStartingWith("DynamoDB table claims did not answer to read board " + name);
  }

  @Test
  void lostAnswerOfTheIndex_doesNoHarm() throws Exception {
    PROXY.add(Rule.once(Match.operation("UpdateItem"), new Fault.ResetAfterApply()));

    assertThat(adaEditsAAndLocksB(over(NOT_RETRYING, PATIENCE))).isInstanceOf(Moved.class);

    assertAdaHasBoth();
  }

  @Test
  void itemWhoseTransitionNeverCame_isInTheIndex_andNotListed() {
    PROXY.add(Rule.always(WRITE, cancellation("TransactionConflict")));
    assertThatThrownBy(() -> adaEditsAAndLocksB(over(NOT_RETRYING, Duration.ZERO)))
        .isInstanceOf(ContendedException.class);

    assertThat(straight.list()).isEmpty();
  }

  // Refused for good

  @ParameterizedTest
  @ValueSource(
      strings = {"AccessDeniedException", "ValidationException", "ResourceNotFoundException"})
  void finalErrors_areReportedAtOnce_withTheRemedy(String error) {
    for (DynamoDbClient client : List.of(RETRYING, NOT_RETRYING)) {
      for (String operation : List.of("BatchGetItem", "UpdateItem", "TransactWriteItems")) {
        PROXY.clear();
        Rule rule =
            PROXY.add(Rule.always(Match.operation(operation), Fault.Answer.dynamoDb(400, error)));

        assertThatThrownBy(() -> adaEditsAAndLocksB(over(client, PATIENCE)))
            .isInstanceOf(StoreRefusedException.class)
            .hasMessageContaining(error)
            .hasMessageContaining(
                "dynamodb:BatchGetItem, dynamodb:PutItem and dynamodb:UpdateItem");

        assertThat(rule.hits()).isEqualTo(1);
      }
    }
    assertThat(straight.list()).isEmpty();
  }

  @Test
  void reasonThatNoRetryCanMend_isReportedAtOnce() {
    Rule rule = PROXY.add(Rule.always(WRITE, cancellation("ValidationError")));

    assertThatThrownBy(() -> adaEditsAAndLocksB(over(RETRYING, PATIENCE)))
        .isInstanceOf(StoreRefusedException.class)
        .hasMessageContaining("ValidationError");

    assertThat(rule.hits()).isEqualTo(1);
  }

  @Test
  void denialAfterSilence_isUnknown() throws Exception {
    PROXY.add(Rule.once(WRITE, new Fault.ResetAfterApply()));
    PROXY.add(Rule.always(WRITE, Fault.Answer.dynamoDb(400, "AccessDeniedException")));

    assertThat(adaEditsAAndLocksB(over(NOT_RETRYING, PATIENCE))).isInstanceOf(Unknown.class);
  }

  // The reasons of a cancellation

  /** Whatever the reasons are made of on their way, in this test's hands. */
  private record Reasons(UnaryOperator<List<CancellationReason>> change)
      implements ExecutionInterceptor {
    @Override
    public Throwable modifyException(
        Context.FailedExecution context, ExecutionAttributes attributes) {
      return context.exception() instanceof TransactionCanceledException cancelled
          ? cancelled.toBuilder()
              .cancellationReasons(change.apply(cancelled.cancellationReasons()))
              .build()
          : context.exception();
    }
  }

  /** What the next read shows was overtaken by bob, so that it is the write that is refused. */
  private List<Item<Status>> inTheWayOfTheWrite(UnaryOperator<List<CancellationReason>> change)
      throws Exception {
    for (String key : List.of("a", "b", "c", "d")) {
      straight.transition(List.of(edit(key, "cleo")));
      straight.transition(List.of(Change.ofOwn(key, EDITING, NORMAL, "cleo")));
    }
    var overtaken =
        new Overtaken(() -> straight.transition(List.of(edit("b", "bob"), lock("d", "bob", "b"))));
    DynamoDbClient client = intercepted(new Both(overtaken, new Reasons(change)));

    TransitionResult<Status> result =
        over(client, PATIENCE)
            .transition(
                List.of(
                    edit("a", "ada"),
                    lock("b", "ada", "a"),
                    lock("c", "ada", "a"),
                    lock("d", "ada", "a")));

    assertThat(result).isInstanceOf(Refused.class);
    return ((Refused<Status>) result).inTheWay();
  }

  private interface Act {
    Object act() throws InterruptedException;
  }

  /** Something happens between the first read and the write after it. */
  private static final class Overtaken implements ExecutionInterceptor {
    private final Act act;
    private boolean over;

    Overtaken(Act act) {
      this.act = act;
    }

    @Override
    public void beforeExecution(Context.BeforeExecution context, ExecutionAttributes attributes) {
      if (!over && context.request() instanceof TransactWriteItemsRequest) {
        over = true;
        try {
          assertThat(act.act()).isInstanceOf(Moved.class);
        } catch (InterruptedException e) {
          throw new AssertionError(e);
        }
      }
    }
  }

  private record Both(Overtaken overtaken, Reasons reasons) implements ExecutionInterceptor {
    @Override
    public void beforeExecution(Context.BeforeExecution context, ExecutionAttributes attributes) {
      overtaken.beforeExecution(context, attributes);
    }

    @Override
    public Throwable modifyException(
        Context.FailedExecution context, ExecutionAttributes attributes) {
      return reasons.modifyException(context, attributes);
    }
  }

  private List<Item<Status>> bobsItems() {
    return List.of(straight.find("b"), straight.find("d"));
  }

  @Test
  void itemsThatCameInBetween_areTakenFromTheReasons_withoutAnotherRead() throws Exception {
    List<Integer> failed = new ArrayList<>();

    assertThat(
            inTheWayOfTheWrite(
                reasons -> {
                  failed.add(reasons.size());
                  return reasons;
                }))
        .isEqualTo(bobsItems());

    assertThat(failed).containsExactly(4);
  }

  @Test
  void reasonsOutOfOrder_nameTheRightItems() throws Exception {
    assertThat(inTheWayOfTheWrite(List::reversed)).isEqualTo(bobsItems());
    assertThat(inTheWayOfTheWrite(DynamoDbBoardFaultsTest::shuffled)).isEqualTo(bobsItems());
  }

  private static List<CancellationReason> shuffled(List<CancellationReason> reasons) {
    List<CancellationReason> shuffled = new ArrayList<>(reasons);
    Collections.rotate(shuffled, 1);
    return shuffled;
  }

  @Test
  void reasonsThatAreMissing_orHaveNoItems_areMadeUpForByARead() throws Exception {
    assertThat(inTheWayOfTheWrite(reasons -> reasons.subList(0, 2))).isEqualTo(bobsItems());
  }

  @Test
  void noReasonsAtAll_areMadeUpForByARead() throws Exception {
    assertThat(inTheWayOfTheWrite(_ -> List.of())).isEqualTo(bobsItems());
  }

  @Test
  void reasonsWithoutItems_areMadeUpForByARead() throws Exception {
    assertThat(
            inTheWayOfTheWrite(
                reasons ->
                    reasons.stream()
                        .map(one -> CancellationReason.builder().code(one.code()).build())
                        .toList()))
        .isEqualTo(bobsItems());
  }

  // Requests

  @Test
  void transition_isOneReadAndOneWrite_andTheFirstOfAnItemOneMore() throws Exception {
    StatusBoard<Status> board = over(RETRYING, PATIENCE);
    PROXY.reset();
    assertThat(adaEditsAAndLocksB(board)).isInstanceOf(Moved.class);
    assertThat(PROXY.requestsByOperation())
        .isEqualTo(Map.of("BatchGetItem", 1L, "UpdateItem", 1L, "TransactWriteItems", 1L));

    PROXY.reset();
    assertThat(board.transition(List.of(Change.ofOwn("a", EDITING, NORMAL, "ada"))))
        .isInstanceOf(Moved.class);
    assertThat(PROXY.requestsByOperation())
        .isEqualTo(Map.of("BatchGetItem", 1L, "TransactWriteItems", 1L));

    PROXY.reset();
    assertThat(board.transition(List.of(edit("b", "bob")))).isInstanceOf(Refused.class);
    assertThat(PROXY.requestsByOperation()).isEqualTo(Map.of("BatchGetItem", 1L));
  }

  @Test
  void reads_areStronglyConsistent() {
    Rule consistent =
        PROXY.add(
            Rule.always(
                Match.operation("BatchGetItem").and(Match.bodyContains("\"ConsistentRead\":true")),
                new Fault.DelayRequest(Duration.ZERO)));

    assertThat(over(RETRYING, PATIENCE).list()).isEmpty();
    assertThat(over(RETRYING, PATIENCE).find("a").editor()).isNull();

    assertThat(consistent.hits()).isEqualTo(2);
  }

  @Test
  void repeatedWrite_bearsTheSameToken() throws Exception {
    List<String> bodies = Collections.synchronizedList(new ArrayList<>());
    PROXY.add(
        Rule.times(
            2,
            WRITE.and(
                request -> {
                  bodies.add(
                      request.body().replaceAll(".*\"ClientRequestToken\":\"(\\w+)\".*", "$1"));
                  return true;
                }),
            new Fault.Refuse()));

    adaEditsAAndLocksB(over(NOT_RETRYING, PATIENCE));

    assertThat(bodies).hasSizeGreaterThanOrEqualTo(2);
    assertThat(bodies.stream().distinct()).hasSize(1).allMatch(token -> token.length() == 32);
  }

  /** As DynamoDB does when its throughput is used up. */
  private static final class HalfTheItems implements ExecutionInterceptor {
    private boolean over;

    @Override
    public SdkResponse modifyResponse(
        Context.ModifyResponse context, ExecutionAttributes attributes) {
      if (over || !(context.response() instanceof BatchGetItemResponse answer)) {
        return context.response();
      }
      List<Map<String, AttributeValue>> items =
          answer.responses().getOrDefault(LocalDynamoDb.TABLE, List.of());
      if (items.size() < 2) {
        return answer;
      }
      over = true;
      return answer.toBuilder()
          .responses(Map.of(LocalDynamoDb.TABLE, items.subList(0, 1)))
          .unprocessedKeys(
              Map.of(
                  LocalDynamoDb.TABLE,
                  KeysAndAttributes.builder()
                      .consistentRead(true)
                      .keys(
                          items.subList(1, items.size()).stream()
                              .map(item -> Map.of("pk", item.get("pk")))
                              .toList())
                      .build()))
          .build();
    }
  }

  @Test
  void itemsThatTheStoreLeavesOut_areAskedForAgain() throws Exception {
    adaEditsAAndLocksB(straight);

    assertThat(over(intercepted(new HalfTheItems()), PATIENCE).list()).isEqualTo(straight.list());
  }

  @Test
  void everyRequest_hasTimeLimits() throws Exception {
    List<Duration> limits = new ArrayList<>();
    DynamoDbClient client =
        intercepted(
            new ExecutionInterceptor() {
              @Override
              public void beforeExecution(
                  Context.BeforeExecution context, ExecutionAttributes attributes) {
                limits.add(
                    context
                        .request()
                        .overrideConfiguration()
                        .flatMap(RequestOverrideConfiguration::apiCallTimeout)
                        .orElse(Duration.ZERO));
              }
            });

    adaEditsAAndLocksB(over(client, PATIENCE));
    assertThat(over(client, PATIENCE).list()).hasSize(2);

    assertThat(limits).hasSize(5).containsOnly(Duration.ofSeconds(5));
  }

  // What is in the table

  private final BoardItems items = new BoardItems(name);

  private Map<String, AttributeValue> stored(AttributeValue pk) {
    return LocalDynamoDb.client()
        .getItem(get -> get.tableName(LocalDynamoDb.TABLE).key(Map.of("pk", pk)))
        .item();
  }

  @Test
  void nothingOfABoard_hasATimeToLive() throws Exception {
    adaEditsAAndLocksB(straight);

    assertThat(stored(items.pk(ItemKey.of("a")))).isNotEmpty().doesNotContainKey(Items.EXPIRES_AT);
    assertThat(stored(items.indexPk())).isNotEmpty().doesNotContainKey(Items.EXPIRES_AT);
  }

  @Test
  void itemThatWasDeletedByHand_isUntouchedAgain() throws Exception {
    adaEditsAAndLocksB(straight);
    StatusBoard<Status> board =
        over(
            intercepted(
                new Overtaken(
                    () -> {
                      LocalDynamoDb.client()
                          .deleteItem(
                              delete ->
                                  delete
                                      .tableName(LocalDynamoDb.TABLE)
                                      .key(Map.of("pk", items.pk(ItemKey.of("a")))));
                      return new Moved<Status>(List.of());
                    })),
            PATIENCE);

    assertThat(board.transition(List.of(Change.ofOwn("a", EDITING, NORMAL, "ada"))))
        .isEqualTo(
            new Refused<>(
                List.of(
                    new Item<>(ItemKey.of("a"), NORMAL, null, null, List.of(), null, 0, null))));
  }

  /** As far as the time goes on: nothing else is left of it. */
  @Test
  void itemThatWasDeletedByHand_goesOnWithAHigherToken() throws Exception {
    ManualTime server = ManualTime.start();
    try (DynamoDbClient client = LocalDynamoDb.dated(server)) {
      ManualTime machine = server.machine(Duration.ofHours(-3));
      var store = new DynamoDbBoardStore(client, LocalDynamoDb.TABLE, name, machine);
      var board = new StatusBoard<>(store, RULES, machine);
      adaEditsAAndLocksB(board);
      board.transition(List.of(Change.ofOwn("a", EDITING, EDITING, "ada")));
      long before = board.find("a").token();
      client.deleteItem(
          delete ->
              delete.tableName(LocalDynamoDb.TABLE).key(Map.of("pk", items.pk(ItemKey.of("a")))));
      server.advance(Duration.ofSeconds(5));

      board.transition(List.of(edit("a", "bob")));

      assertThat(board.find("a").token()).isGreaterThan(before);
    }
  }

  @Test
  void itemOfBeforeThereWereTokens_hasTheTime_andGoesOnFromThere() throws Exception {
    adaEditsAAndLocksB(straight);
    LocalDynamoDb.client()
        .updateItem(
            update ->
                update
                    .tableName(LocalDynamoDb.TABLE)
                    .key(Map.of("pk", items.pk(ItemKey.of("a"))))
                    .updateExpression("REMOVE itemToken"));
    Item<Status> old = straight.find("a");
    assertThat(Instant.ofEpochMilli(old.token())).isEqualTo(old.since());

    straight.transition(List.of(Change.ofOwn("a", EDITING, NORMAL, "ada")));

    assertThat(straight.find("a").token()).isEqualTo(old.token() + 1);
  }

  // Effects

  private static TransactWriteItem put(String pk) {
    return TransactWriteItem.builder()
        .put(put -> put.tableName(LocalDynamoDb.TABLE).item(Map.of("pk", AttributeValue.fromS(pk))))
        .build();
  }

  @Test
  void effectsThatDynamoDbFindsInvalid_orThatAreTooMany_areRefused_andNothingMoves() {
    for (TransactWriteItem[] actions :
        new TransactWriteItem[][] {
          {put("")},
          {put("x"), put("x")},
          Collections.nCopies(99, put("x")).toArray(new TransactWriteItem[0])
        }) {
      assertThatThrownBy(
              () ->
                  straight.transition(
                      List.of(edit("a", "ada"), lock("b", "ada", "a")),
                      DynamoDbEffects.of(actions)))
          .isInstanceOf(EffectsRefusedException.class);
    }
    assertThat(straight.list()).isEmpty();
  }

  @Test
  void effectsThatDynamoDbDoesNotTake_areRefused_andNothingMoves() {
    TransactWriteItem misspelt =
        TransactWriteItem.builder()
            .put(put -> put.tableName("acounts").item(Map.of("pk", AttributeValue.fromS("x"))))
            .build();
    assertThatThrownBy(
            () -> straight.transition(List.of(edit("a", "ada")), DynamoDbEffects.of(misspelt)))
        .isInstanceOf(EffectsRefusedException.class)
        .hasMessageContaining("ResourceNotFoundException");
    PROXY.add(Rule.once(WRITE, cancellation("None", "ItemCollectionSizeLimitExceeded")));

    assertThatThrownBy(
            () ->
                over(NOT_RETRYING, PATIENCE)
                    .transition(List.of(edit("a", "ada")), DynamoDbEffects.of(put("x"), put("y"))))
        .isInstanceOf(EffectsRefusedException.class)
        .hasMessageContaining("effect 1 cannot be written: ItemCollectionSizeLimitExceeded");

    assertThat(straight.list()).isEmpty();
  }

  /** A client whose transactions come after Ada has finished, and are cancelled for these. */
  private DynamoDbClient afterAdaHasFinished(Reasons reasons) {
    return intercepted(
        new Both(
            new Overtaken(
                () -> straight.transition(List.of(Change.ofOwn("a", EDITING, NORMAL, "ada")))),
            reasons));
  }

  @Test
  void itemThatDiffers_countsMore_thanAnEffectThatIsInvalid() throws Exception {
    straight.transition(List.of(edit("a", "ada")));
    var invalid = CancellationReason.builder().code("ValidationError").build();
    DynamoDbClient client =
        afterAdaHasFinished(new Reasons(reasons -> List.of(reasons.getFirst(), invalid)));

    assertThat(
            over(client, PATIENCE)
                .transition(
                    List.of(Change.ofOwn("a", EDITING, EDITING, "ada")),
                    DynamoDbEffects.of(put("written-" + name))))
        .isEqualTo(new Refused<>(List.of(straight.find("a"))));
  }

  @Test
  void conflictOnAnItem_isTriedAgain_thoughAnEffectIsInvalid() throws Exception {
    Rule rule = PROXY.add(Rule.once(WRITE, cancellation("TransactionConflict", "ValidationError")));

    assertThat(
            over(NOT_RETRYING, PATIENCE)
                .transition(
                    List.of(edit("a", "ada")),
                    DynamoDbEffects.of(put("x-" + name), put("y-" + name))))
        .isInstanceOf(Moved.class);

    assertThat(rule.hits()).isEqualTo(1);
  }

  @Test
  void reasonsOfEffectsAndItems_outOfOrder_areMadeUpForByARead() throws Exception {
    straight.transition(List.of(edit("a", "ada")));
    DynamoDbClient client = afterAdaHasFinished(new Reasons(List::reversed));

    assertThat(
            over(client, PATIENCE)
                .transition(
                    List.of(Change.ofOwn("a", EDITING, EDITING, "ada")),
                    DynamoDbEffects.of(put("written-" + name))))
        .isEqualTo(new Refused<>(List.of(straight.find("a"))));
    assertThat(stored(AttributeValue.fromS("written-" + name))).isEmpty();
  }

  @Test
  void itemThatIsNone_isReported_andNotWrittenOver() {
    AttributeValue pk = items.pk(ItemKey.of("a"));
    LocalDynamoDb.client()
        .putItem(
            put -> put.tableName(LocalDynamoDb.TABLE).item(Map.of("pk", pk, "x", Items.number(1))));

    assertThatThrownBy(() -> straight.find("a"))
        .isInstanceOf(StoreRefusedException.class)
        .hasMessage(
            "item %s of DynamoDB table claims is no item of board %s: boardKey is missing. Is the"
                + " table used by something else?",
            pk.s(), name);
    assertThatThrownBy(() -> adaEditsAAndLocksB(straight))
        .isInstanceOf(StoreRefusedException.class);
    assertThat(stored(pk)).hasSize(2);
  }

  @Test
  void boardWithoutRoomForMore_takesNoNewItems_andSaysSo() {
    LocalDynamoDb.client()
        .putItem(
            put ->
                put.tableName(LocalDynamoDb.TABLE)
                    .item(
                        Map.of(
                            "pk",
                            items.indexPk(),
                            BoardItems.INDEX_KEYS,
                            AttributeValue.fromSs(
                                IntStream.range(0, 1590)
                                    .mapToObj(i -> "%0256d".formatted(i))
                                    .toList()))));

    assertThatThrownBy(
            () ->
                straight.transition(
                    IntStream.range(5000, 5020)
                        .mapToObj(i -> edit("%0256d".formatted(i), "ada"))
                        .toList()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("has no room for more items");
  }

  @Test
  void since_isByTheStoresClock_whateverTheMachinesSays() throws Exception {
    ManualTime server = ManualTime.start();
    ManualTime machine = server.machine(Duration.ofHours(-3));
    try (DynamoDbClient client = LocalDynamoDb.dated(server)) {
      var board =
          new StatusBoard<>(
              new DynamoDbBoardStore(client, LocalDynamoDb.TABLE, name, machine), RULES, machine);

      adaEditsAAndLocksB(board);

      assertThat(board.find("a").since()).isEqualTo(server.right());
    }
  }
}
