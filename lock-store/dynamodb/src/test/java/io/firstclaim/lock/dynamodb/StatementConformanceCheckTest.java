package io.firstclaim.lock.dynamodb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult.Granted;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.StoreListener;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.testkit.fault.Fault;
import io.firstclaim.lock.testkit.fault.FaultProxy;
import io.firstclaim.lock.testkit.fault.Match;
import io.firstclaim.lock.testkit.fault.Rule;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/** Whether a table takes statements, and what a store does where it does not. */
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(Resources.SYSTEM_ERR)
class StatementConformanceCheckTest {
  private static final TimeSource TIME = TimeSource.system();

  private final ClaimSettings settings = ClaimSettings.of("trial-" + Nonce.random(), "a");
  private final FaultyClient client = new FaultyClient(LocalDynamoDb.client());

  private StatementConformance check() {
    return new StatementConformanceCheck(LocalDynamoDb.items(client, settings, TIME)).run();
  }

  private static DynamoDbClient notRetrying(FaultProxy proxy) {
    return LocalDynamoDb.notRetrying(
            LocalDynamoDb.unhurried(LocalDynamoDb.builder(proxy.endpoint())))
        .build();
  }

  @Test
  void tableThatKeepsConditions_isFound_andLeftAsItWas() {
    long before = items();

    assertThat(check()).isEqualTo(new StatementConformance.Conforms());

    assertThat(items()).isEqualTo(before);
  }

  private static long items() {
    return LocalDynamoDb.client().scan(scan -> scan.tableName(LocalDynamoDb.TABLE)).items().stream()
        .filter(item -> item.toString().contains("self-test/"))
        .count();
  }

  @Test
  void roleThatMayNot_isFound() {
    client.statements(_ -> new FaultyClient.Fate.Failed("AccessDenied"));

    assertThat(check())
        .isInstanceOfSatisfying(
            StatementConformance.Unusable.class,
            unusable -> assertThat(unusable.why()).contains("INSERT", "AccessDenied"));
  }

  @Test
  void tableThatIgnoresConditions_isFound() {
    client.statements(_ -> new FaultyClient.Fate.Ignored());

    assertThat(check())
        .isInstanceOfSatisfying(
            StatementConformance.Unsafe.class,
            unsafe -> assertThat(unsafe.why()).contains("INSERT where one is", "taken"));
  }

  @ParameterizedTest
  @CsvSource({
    "400, AccessDeniedException",
    "400, UnknownOperationException",
    "501, NotImplemented"
  })
  void storeWithoutStatements_isOpened_andWrittenToBySingleRequests_andSaidOnce(
      int status, String code) throws Exception {
    try (FaultProxy proxy = FaultProxy.start(LocalDynamoDb.endpoint());
        DynamoDbClient through = notRetrying(proxy)) {
      proxy.add(
          Rule.always(
              Match.operation("BatchExecuteStatement"), Fault.Answer.dynamoDb(status, code)));
      String log =
          BatchFixture.logOf(
              () -> {
                var store = DynamoDbClaimStore.open(through, LocalDynamoDb.TABLE, settings, TIME);
                proxy.reset();
                for (String id : List.of("one", "two", "three")) {
                  assertThat(store.claim(Claim.of(RecordId.of(id), Fingerprint.none(), TIME.now())))
                      .isInstanceOf(Granted.class);
                }
              });

      assertThat(log).containsOnlyOnce("takes no statements").contains(code);
      assertThat(proxy.requestsByOperation()).containsOnlyKeys("UpdateItem");
    }
  }

  @Test
  void trialThatFailsOnce_isMadeAgain_andStatementsAreSent() {
    AtomicInteger statements = new AtomicInteger();
    client.statements(
        _ ->
            statements.getAndIncrement() == 0
                ? new FaultyClient.Fate.Failed("ThrottlingError")
                : FaultyClient.SENT);
    ClaimItems items = LocalDynamoDb.items(client, settings, TIME);
    BatchedItems tried = new BatchedItems(items, DynamoDbClaimStore.BATCH, 1).tried();
    client.forget();

    assertThat(
            new DynamoDbClaimStore(items, tried)
                .claim(Claim.of(RecordId.of("id"), Fingerprint.none(), TIME.now())))
        .isInstanceOf(Granted.class);

    assertThat(client.batches()).hasSize(1);
    assertThat(client.singles()).isEmpty();
  }

  @Test
  void storeThatIsSlowerAtTheStartThanAClaimMayBe_isOpened() {
    var hasty =
        new ClaimSettings(
            "any", "a", Duration.ofMillis(1500), Duration.ofMillis(500), Duration.ofDays(8));
    try (FaultProxy proxy = FaultProxy.start(LocalDynamoDb.endpoint());
        DynamoDbClient through = LocalDynamoDb.builder(proxy.endpoint()).build()) {
      var slow = new Fault.DelayRequest(hasty.storeTimeout().plusMillis(200));
      proxy.add(Rule.always(Match.operation("DescribeTable"), slow));
      proxy.add(Rule.always(Match.operation("BatchExecuteStatement"), slow));

      var store = DynamoDbClaimStore.open(through, LocalDynamoDb.TABLE, hasty, TIME);

      assertThat(store.settings()).isEqualTo(hasty);
    }
  }

  @Test
  void storeThatDoesNotAnswerTheTrial_isNotOpened() {
    try (FaultProxy proxy = FaultProxy.start(LocalDynamoDb.endpoint());
        DynamoDbClient through = notRetrying(proxy)) {
      proxy.add(Rule.always(Match.operation("BatchExecuteStatement"), new Fault.Refuse()));

      assertThatThrownBy(
              () -> DynamoDbClaimStore.open(through, LocalDynamoDb.TABLE, settings, TIME))
          .isInstanceOf(StoreUnavailableException.class);
    }
  }

  @Test
  void batchOfOne_sendsNoStatements_notEvenToTry() {
    try (FaultProxy proxy = FaultProxy.start(LocalDynamoDb.endpoint());
        DynamoDbClient through =
            LocalDynamoDb.unhurried(LocalDynamoDb.builder(proxy.endpoint())).build()) {
      var store =
          DynamoDbClaimStore.open(
              through, LocalDynamoDb.TABLE, settings, TIME, StoreListener.NONE, 1);

      assertThat(store.find(RecordId.of("id"))).isEmpty();
      assertThat(proxy.requestsByOperation()).doesNotContainKey("BatchExecuteStatement");
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 0, 26})
  void batchOfAnotherSize_isRefused(int batch) {
    assertThatThrownBy(
            () ->
                new DynamoDbClaimStore(
                    client, LocalDynamoDb.TABLE, settings, TIME, StoreListener.NONE, batch))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("give 1 to 25");
  }
}
