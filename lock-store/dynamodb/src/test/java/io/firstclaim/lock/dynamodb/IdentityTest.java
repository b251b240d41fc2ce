package io.firstclaim.lock.dynamodb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
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
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

class IdentityTest {
  private static final ClaimSettings SETTINGS = ClaimSettings.of("any", "a");
  private static final FaultProxy PROXY = FaultProxy.start(LocalDynamoDb.endpoint());
  private static final DynamoDbClient CLIENT =
      DynamoDbTable.configure(LocalDynamoDb.builder(PROXY.endpoint()), SETTINGS).build();

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

    CLIENT.deleteTable(delete -> delete.tableName(name));
    new DynamoDbTable(CLIENT, name).create();
    assertThat(open().identity()).isNotEqualTo(first);
  }

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

  @Test
  void identityThatMayNotBeWritten_isRefused_withThePermissionItTakes() {
    DynamoDbTable table = new DynamoDbTable(CLIENT, name);
    table.create();
    PROXY.add(
        Rule.always(
            Match.operation("PutItem"), Fault.Answer.dynamoDb(400, "AccessDeniedException")));

    assertThatThrownBy(table::identity)
        .isInstanceOf(StoreRefusedException.class)
        .hasMessageContaining("dynamodb:GetItem and PutItem");
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
