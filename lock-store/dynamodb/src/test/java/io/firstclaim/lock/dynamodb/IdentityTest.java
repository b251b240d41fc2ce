package io.firstclaim.lock.dynamodb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.testkit.fault.Fault;
import io.firstclaim.lock.testkit.fault.FaultProxy;
import io.firstclaim.lock.testkit.fault.Match;
import io.firstclaim.lock.testkit.fault.Rule;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

class IdentityTest {
  private static final ClaimSettings SETTINGS = ClaimSettings.of("any", "a");
  private static final FaultProxy PROXY = FaultProxy.start(LocalDynamoDb.endpoint());
  private static final DynamoDbClient CLIENT =
      LocalDynamoDb.unhurried(
              DynamoDbTable.configure(LocalDynamoDb.builder(PROXY.endpoint()), SETTINGS))
          .build();

  private final String name = LocalDynamoDb.newTable();

  @AfterAll
  static void stop() {
    CLIENT.close();
    PROXY.close();
  }

  @AfterEach
  void mend() {
    PROXY.clear();
  }

  private ClaimStore open() {
    return DynamoDbClaimStore.open(CLIENT, name, SETTINGS, TimeSource.system());
  }

  private Map<String, AttributeValue> item() {
    return CLIENT
        .getItem(
            get ->
                get.tableName(name).key(Map.of("pk", AttributeValue.fromS("firstclaim-identity"))))
        .item();
  }

  @Test
  void openedTable_hasAnIdentity_thatNoTtlRemoves_andATableMadeAnewHasAnother() {
    new DynamoDbTable(CLIENT, name).create();
    String first = open().identity();

    assertThat(Objects.requireNonNull(item().get("nonce")).s()).isEqualTo(first);
    assertThat(item()).doesNotContainKey("expiresAt");
    assertThat(open().identity()).isEqualTo(first);

    LocalDynamoDb.deleteTable(CLIENT, name);
    new DynamoDbTable(CLIENT, name).create();
    assertThat(open().identity()).isNotEqualTo(first);
  }

  // Copies

  /** Restores a table into another: all items, the identity's too. */
  private static String restored(String from) {
    String to = LocalDynamoDb.newTable();
    new DynamoDbTable(CLIENT, to).create();
    for (Map<String, AttributeValue> item : CLIENT.scan(all -> all.tableName(from)).items()) {
      CLIENT.putItem(put -> put.tableName(to).item(item));
    }
    return to;
  }

  private static String identity(String of) {
    return new DynamoDbTable(CLIENT, of).identity();
  }

  @Test
  void restoredTable_hasAnIdentityOfItsOwn_andSoHasOneRestoredFromThat() {
    new DynamoDbTable(CLIENT, name).create();
    String original = identity(name);

    String copy = restored(name);
    String copyOfCopy = restored(copy);

    assertThat(identity(copy)).matches("[0-9a-f]{32}").isEqualTo(identity(copy));
    assertThat(Set.of(original, identity(copy), identity(copyOfCopy))).hasSize(3);
    assertThat(identity(name)).isEqualTo(original);
  }

  /** Its items are those of the table that was deleted. */
  @Test
  void tableRestoredUnderItsName_hasAnotherIdentity() {
    new DynamoDbTable(CLIENT, name).create();
    describe("\"TableId\":\"1\"");
    String before = identity(name);
    assertThat(identity(name)).isEqualTo(before);

    describe("\"TableId\":\"2\"");

    assertThat(identity(name)).isNotEqualTo(before);
  }

  /** Instances from before and after agree, while they follow one another. */
  @Test
  void identityOfAnEarlierBuild_stays_andIsNotThatOfItsCopiesFromThenOn() {
    new DynamoDbTable(CLIENT, name).create();
    String earlier = madeByAnEarlierBuild();

    assertThat(identity(name)).isEqualTo(earlier);
    assertThat(Objects.requireNonNull(item().get("nonce")).s()).isEqualTo(earlier);
    assertThat(identity(name)).isEqualTo(earlier);
    assertThat(identity(restored(name))).isNotEqualTo(earlier);
  }

  private String madeByAnEarlierBuild() {
    String nonce = Nonce.random().toString();
    CLIENT.putItem(
        put ->
            put.tableName(name)
                .item(Map.of("pk", Items.text("firstclaim-identity"), "nonce", Items.text(nonce))));
    return nonce;
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void replicasOfAGlobalTable_areOne_andATableRestoredFromItIsAnother(boolean isOfAnEarlierBuild) {
    new DynamoDbTable(CLIENT, name).create();
    if (isOfAnEarlierBuild) {
      String _ = madeByAnEarlierBuild();
    }
    describe("\"TableId\":\"1\",\"MultiRegionConsistency\":\"STRONG\"");
    String here = identity(name);
    describe("\"TableId\":\"2\",\"MultiRegionConsistency\":\"STRONG\"");
    String there = identity(name);
    PROXY.clear();

    assertThat(there).isEqualTo(here);
    assertThat(identity(restored(name))).isNotEqualTo(here);
  }

  /** From now on a table is described like this. */
  private static void describe(String as) {
    PROXY.clear();
    PROXY.add(
        Rule.always(
            Match.operation("DescribeTable"),
            new Fault.Answer(
                200,
                Map.of("Content-Type", "application/x-amz-json-1.0"),
                "{\"Table\":{%s}}".formatted(as))));
  }

  // Faults

  @Test
  void manyThatOpenATableAtOnce_findOneIdentity() {
    DynamoDbTable table = new DynamoDbTable(CLIENT, name);
    table.create();
    Set<String> found = ConcurrentHashMap.newKeySet();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < 16; i++) {
        threads.execute(() -> found.add(new DynamoDbTable(CLIENT, name).identity()));
      }
    }

    assertThat(found).containsExactly(table.identity());
  }

  @Test
  void identityWhoseAnswerIsLost_isReadBack() {
    DynamoDbTable table = new DynamoDbTable(CLIENT, name);
    table.create();
    PROXY.add(Rule.once(Match.operation("PutItem"), new Fault.ResetAfterApply()));

    String identity = table.identity();

    assertThat(Objects.requireNonNull(item().get("nonce")).s()).isEqualTo(identity);
  }

  @ParameterizedTest
  @ValueSource(strings = {"PutItem", "UpdateItem"})
  void identityThatMayNotBeWritten_isRefused_withThePermissionItTakes(String operation) {
    DynamoDbTable table = new DynamoDbTable(CLIENT, name);
    table.create();
    if (operation.equals("UpdateItem")) {
      String _ = madeByAnEarlierBuild();
    }
    PROXY.add(
        Rule.always(
            Match.operation(operation), Fault.Answer.dynamoDb(400, "AccessDeniedException")));

    assertThatThrownBy(table::identity)
        .isInstanceOf(StoreRefusedException.class)
        .hasMessageContaining("dynamodb:GetItem, PutItem and UpdateItem");
  }

  @Test
  void bindingWhoseAnswerIsLost_isDone() {
    new DynamoDbTable(CLIENT, name).create();
    String earlier = madeByAnEarlierBuild();
    PROXY.add(Rule.once(Match.operation("UpdateItem"), new Fault.ResetAfterApply()));

    assertThat(identity(name)).isEqualTo(earlier);
  }

  @Test
  void tableThatDoesNotAnswer_isUnavailable() {
    new DynamoDbTable(CLIENT, name).create();
    PROXY.add(
        Rule.always(
            Match.operation("GetItem"),
            Fault.Answer.dynamoDb(400, "ProvisionedThroughputExceededException")));

    try (DynamoDbClient client =
        LocalDynamoDb.notRetrying(LocalDynamoDb.builder(PROXY.endpoint())).build()) {
      assertThatThrownBy(new DynamoDbTable(client, name)::identity)
          .isInstanceOf(StoreUnavailableException.class);
    }
  }
}
