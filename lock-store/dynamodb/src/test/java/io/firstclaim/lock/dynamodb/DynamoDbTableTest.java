package io.firstclaim.lock.dynamodb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ConformanceResult;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.testkit.ManualTime;
import io.firstclaim.lock.testkit.fault.Fault;
import io.firstclaim.lock.testkit.fault.FaultProxy;
import io.firstclaim.lock.testkit.fault.Match;
import io.firstclaim.lock.testkit.fault.Rule;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.http.SdkHttpResponse;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeDefinition;
import software.amazon.awssdk.services.dynamodb.model.BillingMode;
import software.amazon.awssdk.services.dynamodb.model.KeySchemaElement;
import software.amazon.awssdk.services.dynamodb.model.KeyType;
import software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType;
import software.amazon.awssdk.services.dynamodb.model.TableDescription;
import software.amazon.awssdk.services.dynamodb.model.TimeToLiveStatus;

@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(Resources.SYSTEM_ERR)
class DynamoDbTableTest {
  private static final FaultProxy PROXY = FaultProxy.start(LocalDynamoDb.endpoint());
  private static final DynamoDbClient CLIENT =
      LocalDynamoDb.unhurried(
              DynamoDbTable.configure(
                  LocalDynamoDb.builder(PROXY.endpoint()), ClaimSettings.of("any", "any")))
          .build();

  private static final DynamoDbClient NOT_RETRYING =
      LocalDynamoDb.notRetrying(LocalDynamoDb.unhurried(LocalDynamoDb.builder(PROXY.endpoint())))
          .build();

  private final String name = LocalDynamoDb.newTable();
  private final DynamoDbTable table = new DynamoDbTable(CLIENT, name);

  @AfterAll
  static void stop() {
    CLIENT.close();
    NOT_RETRYING.close();
    PROXY.close();
  }

  @AfterEach
  void mend() {
    PROXY.clear();
    PROXY.reset();
  }

  private TableDescription described() {
    return CLIENT.describeTable(describe -> describe.tableName(name)).table();
  }

  private void assertRefused(String message) {
    assertThatThrownBy(table::verify)
        .isInstanceOf(StoreRefusedException.class)
        .hasMessage(message.replace("TABLE", "DynamoDB table " + name));
  }

  // Creation

  @Test
  void createdTable_isOnDemand_withStringKeyAndTtl_andVerifies() {
    table.create();

    assertThat(described().billingModeSummary().billingMode())
        .isEqualTo(BillingMode.PAY_PER_REQUEST);
    assertThat(described().keySchema())
        .containsExactly(
            KeySchemaElement.builder().attributeName("pk").keyType(KeyType.HASH).build());
    var ttl = CLIENT.describeTimeToLive(t -> t.tableName(name)).timeToLiveDescription();
    assertThat(ttl.timeToLiveStatus()).isEqualTo(TimeToLiveStatus.ENABLED);
    assertThat(ttl.attributeName()).isEqualTo("expiresAt");
    assertThatCode(table::verify).doesNotThrowAnyException();
  }

  @Test
  void creatingTwice_isFine_andKeepsWhatIsThere() {
    var settings = ClaimSettings.of("any", "a");
    var time = ManualTime.start();
    table.create();
    var store = DynamoDbClaimStore.open(CLIENT, name, settings, time);
    store.claim(Claim.of(RecordId.of("id"), Fingerprint.none(), time.now()));

    table.create();

    assertThat(store.find(RecordId.of("id"))).isPresent();
  }

  @Test
  void creationWhoseAnswersAreLost_isFine() {
    for (String operation : new String[] {"CreateTable", "UpdateTimeToLive", "DescribeTable"}) {
      PROXY.add(Rule.once(Match.operation(operation), new Fault.ResetAfterApply()));
    }

    table.create();

    assertThatCode(table::verify).doesNotThrowAnyException();
  }

  @ParameterizedTest
  @CsvSource({
    "CreateTable,dynamodb:CreateTable; or create it yourself",
    "DescribeTable,dynamodb:DescribeTable",
    "DescribeTimeToLive,dynamodb:DescribeTimeToLive"
  })
  void creationThatIsNotAllowed_isRefused_withThePermissionItTakes(
      String operation, String permission) {
    deny(operation);

    assertThatThrownBy(table::create)
        .isInstanceOf(StoreRefusedException.class)
        .hasMessage(denied(permission));
  }

  private static void deny(String operation) {
    PROXY.add(
        Rule.always(
            Match.operation(operation), Fault.Answer.dynamoDb(400, "AccessDeniedException")));
  }

  private String denied(String permission) {
    return "DynamoDB table %s: 400 AccessDeniedException by the fault proxy. It takes the permission %s"
        .formatted(name, permission);
  }

  // Verification

  @Test
  void missingTable_isRefused_withTheRemedy() {
    assertRefused("TABLE is missing; create it, or have it created at the start");
  }

  @Test
  void tableWithAnotherKey_isRefused() {
    String message =
        "TABLE cannot keep claims: key of the table: another than claims need; it must be the"
            + " string pk alone";

    createTable("id", ScalarAttributeType.S, null);
    assertRefused(message);
    LocalDynamoDb.deleteTable(CLIENT, name);
    createTable("pk", ScalarAttributeType.N, null);
    assertRefused(message);
    LocalDynamoDb.deleteTable(CLIENT, name);
    createTable("pk", ScalarAttributeType.S, "sk");
    assertRefused(message);
  }

  private void createTable(String key, ScalarAttributeType type, @Nullable String sortKey) {
    LocalDynamoDb.createTable(
        CLIENT,
        create -> {
          var hash = KeySchemaElement.builder().attributeName(key).keyType(KeyType.HASH).build();
          var keyType =
              AttributeDefinition.builder().attributeName(key).attributeType(type).build();
          create.tableName(name).billingMode(BillingMode.PAY_PER_REQUEST);
          if (sortKey == null) {
            create.keySchema(hash).attributeDefinitions(keyType);
          } else {
            create
                .keySchema(
                    hash,
                    KeySchemaElement.builder()
                        .attributeName(sortKey)
                        .keyType(KeyType.RANGE)
                        .build())
                .attributeDefinitions(
                    keyType,
                    AttributeDefinition.builder()
                        .attributeName(sortKey)
                        .attributeType(ScalarAttributeType.S)
                        .build());
          }
        });
  }

  @Test
  void eventuallyConsistentGlobalTable_isRefused_withReasonAndRemedy() {
    table.create();
    String message =
        "TABLE cannot keep claims: replicas of the table: an eventually consistent global table:"
            + " two Regions could both claim one record. Use a table in one Region, or a global"
            + " table with multi-Region strong consistency (MRSC)";

    answerDescribeWith("\"Replicas\":[{\"RegionName\":\"eu-west-1\"}]");
    assertRefused(message);
    answerDescribeWith(
        "\"Replicas\":[{\"RegionName\":\"eu-west-1\"}],\"MultiRegionConsistency\":\"EVENTUAL\"");
    assertRefused(message);
  }

  @Test
  void globalTableOfTheFirstVersion_isRefused() {
    table.create();
    answer("DescribeGlobalTable", name, "{\"GlobalTableDescription\":{\"GlobalTableName\":\"x\"}}");
    assertThatThrownBy(table::verify)
        .isInstanceOf(StoreRefusedException.class)
        .hasMessageContaining("an eventually consistent global table");

    answerDescribeWith("\"GlobalTableVersion\":\"2017.11.29\"");
    assertThatThrownBy(table::verify)
        .isInstanceOf(StoreRefusedException.class)
        .hasMessageContaining("an eventually consistent global table");
  }

  @Test
  void roleThatMayNotLookForAGlobalTable_isRefused_withThePermission() {
    table.create();
    deny("DescribeGlobalTable");

    assertThatThrownBy(table::verify)
        .isInstanceOf(StoreRefusedException.class)
        .hasMessage(
            denied(
                "dynamodb:DescribeGlobalTable on arn:aws:dynamodb::ACCOUNT:global-table/" + name));
  }

  @ParameterizedTest
  @ValueSource(strings = {"GlobalTableNotFoundException", "UnknownOperationException"})
  void tableThatIsNoGlobalTable_isAccepted(String answer) {
    table.create();
    PROXY.add(
        Rule.always(Match.operation("DescribeGlobalTable"), Fault.Answer.dynamoDb(400, answer)));

    assertThatCode(table::verify).doesNotThrowAnyException();
  }

  @Test
  void stronglyConsistentGlobalTable_andTableOfOneRegion_areAccepted() {
    table.create();

    answerDescribeWith(
        "\"Replicas\":[{\"RegionName\":\"eu-west-1\"}],\"MultiRegionConsistency\":\"STRONG\"");
    assertThatCode(table::verify).doesNotThrowAnyException();
    answerDescribeWith("\"Replicas\":[]");
    assertThatCode(table::verify).doesNotThrowAnyException();
  }

  private void answerDescribeWith(String more) {
    PROXY.clear();
    String body =
        """
        {"Table":{"TableName":"%s","TableStatus":"ACTIVE",
         "KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],
         "AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],%s}}\
        """
            .formatted(name, more);
    answer("DescribeTable", "", body);
  }

  /** A 200 of the PROXY's own to requests of this operation that have this in their body. */
  private static void answer(String operation, String inBody, String body) {
    PROXY.add(
        Rule.always(
            Match.operation(operation).and(Match.bodyContains(inBody)),
            new Fault.Answer(200, Map.of("Content-Type", "application/x-amz-json-1.0"), body)));
  }

  @Test
  void storeThatIgnoresConditions_isRefused() {
    table.create();
    answer("PutItem", "\"nonce\":{\"S\":\"b\"}", "{}");
    assertRefused("TABLE cannot keep claims: attribute_not_exists where one is: taken");
    PROXY.clear();
    answer("PutItem", "\"nonce\":{\"S\":\"c\"}", "{}");
    assertRefused("TABLE cannot keep claims: condition on a wrong nonce: taken");
  }

  @Test
  void storeWhoseConditionsAlwaysFail_orReturnNoItem_isRefused() {
    table.create();

    refuse("\"nonce\":{\"S\":\"a\"}");
    assertRefused("TABLE cannot keep claims: attribute_not_exists where no item is: refused");
    PROXY.clear();
    refuse("\"nonce\":{\"S\":\"b\"}");
    assertRefused(
        "TABLE cannot keep claims: attribute_not_exists where one is: refused, but the item not"
            + " told");
    PROXY.clear();
    refuse("\"nonce\":{\"S\":\"d\"}");
    assertRefused("TABLE cannot keep claims: condition on the right nonce: refused");
    PROXY.clear();
    answer("UpdateItem", "\":next\":{\"S\":\"e\"}", "{}");
    assertRefused("TABLE cannot keep claims: update on a wrong nonce: taken");
    PROXY.clear();
    answer("GetItem", "self-test/", "{}");
    assertRefused("TABLE cannot keep claims: read: another than the last write");
  }

  @Test
  void checks_tellKeyReplicasAndEachCondition() {
    table.create();

    assertThat(table.checks())
        .allMatch(ConformanceResult::kept)
        .extracting(ConformanceResult::name)
        .containsExactly(
            "key of the table",
            "replicas of the table",
            "attribute_not_exists where no item is",
            "attribute_not_exists where one is",
            "condition on a wrong nonce",
            "condition on the right nonce",
            "update on a wrong nonce",
            "update on the right nonce",
            "read",
            "Date of the answers");
  }

  @Test
  void gatewayWhoseDatesRunBack_orThatSendsNone_isRefused() {
    table.create();
    var answers = new AtomicInteger();
    Instant noon = Instant.parse("2100-01-01T12:00:00Z");
    assertRefusedDates(
        response ->
            response.putHeader(
                "Date",
                DateTimeFormatter.RFC_1123_DATE_TIME.format(
                    noon.minusSeconds(2L * answers.incrementAndGet()).atOffset(ZoneOffset.UTC))),
        " after 2100-01-01T");
    assertRefusedDates(
        response -> response.removeHeader("Date"), "missing, and leases are judged by it");
  }

  private void assertRefusedDates(Consumer<SdkHttpResponse.Builder> change, String seen) {
    var gateway =
        new ExecutionInterceptor() {
          @Override
          public SdkHttpResponse modifyHttpResponse(
              Context.ModifyHttpResponse context, ExecutionAttributes attributes) {
            return context.httpResponse().copy(change);
          }
        };
    try (DynamoDbClient client =
        LocalDynamoDb.intercepted(LocalDynamoDb.builder(LocalDynamoDb.endpoint()), gateway)
            .build()) {
      assertThatThrownBy(() -> new DynamoDbTable(client, name).verify())
          .isInstanceOf(StoreRefusedException.class)
          .hasMessageContaining("cannot keep claims: Date of the answers: ")
          .hasMessageContaining(seen);
    }
  }

  private static void refuse(String inBody) {
    PROXY.add(
        Rule.always(
            Match.operation("PutItem").and(Match.bodyContains(inBody)),
            Fault.Answer.dynamoDb(400, "ConditionalCheckFailedException")));
  }

  @Test
  void conformanceCheckWhoseAnswersAreLost_isNoReasonToRefuse() {
    table.create();
    for (String nonce : new String[] {"a", "b", "c", "d"}) {
      PROXY.add(
          Rule.once(
              Match.operation("PutItem")
                  .and(Match.bodyContains("\"nonce\":{\"S\":\"" + nonce + "\"}")),
              new Fault.ResetAfterApply()));
    }
    PROXY.add(Rule.once(Match.operation("DeleteItem"), new Fault.ResetAfterApply()));

    assertThatCode(table::verify).doesNotThrowAnyException();

    assertThat(itemCount()).isZero();
  }

  @Test
  void verification_leavesNothingBehind() {
    table.create();

    table.verify();

    assertThat(itemCount()).isZero();
  }

  @Test
  void roleThatMayNotDelete_verifies_andLeavesItsProbeToTheTtl() {
    table.create();
    PROXY.add(
        Rule.always(
            Match.operation("DeleteItem"), Fault.Answer.dynamoDb(400, "AccessDeniedException")));

    table.verify();

    assertThat(CLIENT.scan(scan -> scan.tableName(name).consistentRead(true)).items())
        .singleElement()
        .satisfies(item -> assertThat(item).containsKey("expiresAt"));
  }

  private int itemCount() {
    return CLIENT.scan(scan -> scan.tableName(name).consistentRead(true)).count();
  }

  @Test
  void tableWithoutTtl_isAcceptedWithAWarning() {
    createTable("pk", ScalarAttributeType.S, null);

    String log = logOf(table::verify);

    assertThat(log)
        .contains("WARN")
        .contains("DynamoDB table %s has no TTL on expiresAt".formatted(name))
        .contains("aws dynamodb update-time-to-live --table-name " + name);
  }

  /** AWS allows none there. */
  @Test
  void stronglyConsistentGlobalTable_getsNoTtl_andNoAdviceToEnableOne() {
    createTable("pk", ScalarAttributeType.S, null);
    answerDescribeWith("\"MultiRegionConsistency\":\"STRONG\"");
    PROXY.add(
        Rule.always(
            Match.operation("DescribeTimeToLive", "UpdateTimeToLive"),
            Fault.Answer.dynamoDb(400, "ValidationException")));

    table.create();
    String log = logOf(table::verify);

    assertThat(PROXY.requests("UpdateTimeToLive")).isZero();
    assertThat(log).doesNotContain(name);
  }

  @Test
  void tableWithTtl_isAcceptedWithoutAWord() {
    table.create();

    assertThat(logOf(table::verify)).doesNotContain(name);
  }

  private static String logOf(Runnable action) {
    PrintStream before = System.err;
    var captured = new ByteArrayOutputStream();
    System.setErr(new PrintStream(captured, true, StandardCharsets.UTF_8));
    try {
      action.run();
    } finally {
      System.setErr(before);
    }
    return captured.toString(StandardCharsets.UTF_8);
  }

  @Test
  void storeThatDoesNotAnswer_isUnavailable_notRefused() {
    table.create();
    for (String operation : new String[] {"DescribeTable", "PutItem", "DescribeTimeToLive"}) {
      PROXY.add(
          Rule.always(
              Match.operation(operation), Fault.Answer.dynamoDb(500, "InternalServerError")));

      assertThatThrownBy(new DynamoDbTable(NOT_RETRYING, name)::verify)
          .as(operation)
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageStartingWith("DynamoDB table %s: 500 InternalServerError".formatted(name));
      PROXY.clear();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"DescribeTable", "PutItem", "UpdateItem", "GetItem", "DescribeTimeToLive"})
  void roleWithoutAPermission_isRefused_withThePermission(String operation) {
    table.create();
    deny(operation);

    assertThatThrownBy(table::verify)
        .isInstanceOf(StoreRefusedException.class)
        .hasMessage(denied("dynamodb:" + operation));
  }

  @Test
  void nameThatDynamoDbDoesNotTake_isRefused() {
    PROXY.add(
        Rule.always(
            Match.operation("DescribeTable"), Fault.Answer.dynamoDb(400, "ValidationException")));

    assertRefused("TABLE: 400 ValidationException by the fault proxy. Check its name");
  }

  // Opening

  @Test
  void open_refusesWhatVerifyRefuses() {
    assertThatThrownBy(
            () ->
                DynamoDbClaimStore.open(
                    CLIENT, name, ClaimSettings.of("any", "a"), ManualTime.start()))
        .isInstanceOf(StoreRefusedException.class);
  }

  @Test
  void open_givesAStoreThatClaims() {
    table.create();
    var time = ManualTime.start();

    var store = DynamoDbClaimStore.open(CLIENT, name, ClaimSettings.of("any", "a"), time);

    assertThat(store.claim(Claim.of(RecordId.of("id"), Fingerprint.none(), time.now())))
        .isInstanceOf(ClaimResult.Granted.class);
  }

  // Client

  @Test
  void configure_boundsEveryCall_andKeepsWhatTheCallerHasSet() {
    var settings =
        new ClaimSettings(
            "any", "a", Duration.ofSeconds(30), Duration.ofSeconds(1), Duration.ofDays(8));
    var interceptor = new ExecutionInterceptor() {};

    var builder =
        DynamoDbTable.configure(
            LocalDynamoDb.intercepted(LocalDynamoDb.builder(PROXY.endpoint()), interceptor),
            settings);

    var configured = builder.overrideConfiguration();
    assertThat(configured.apiCallTimeout()).contains(settings.storeTimeout());
    assertThat(configured.apiCallAttemptTimeout().orElseThrow())
        .isLessThan(settings.storeTimeout().dividedBy(2));
    assertThat(configured.executionInterceptors()).contains(interceptor);
  }
}
