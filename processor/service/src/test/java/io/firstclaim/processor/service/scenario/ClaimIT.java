package io.firstclaim.processor.service.scenario;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.StoreListener;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.board.Change;
import io.firstclaim.lock.board.StatusBoard;
import io.firstclaim.lock.board.TransitionResult;
import io.firstclaim.lock.board.Transitions;
import io.firstclaim.lock.dynamodb.DynamoDbBoardStore;
import io.firstclaim.lock.dynamodb.DynamoDbClaimStore;
import io.firstclaim.lock.dynamodb.DynamoDbTable;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/** The {@code claim} command of the package, which is given neither zone nor topics nor Kafka. */
class ClaimIT {
  private static final RecordId ID = RecordId.of("order\n4711");

  private static final TimeSource TIME = TimeSource.system();

  @TempDir Path directory;

  private Run run(Map<String, String> settings, String... args) {
    return Run.answered(directory, withAccess(settings), args);
  }

  private static Map<String, String> withAccess(Map<String, String> settings) {
    Map<String, String> env = new HashMap<>(settings);
    env.putAll(Backend.ACCESS);
    return env;
  }

  private void create(Backend backend, String place) {
    Map<String, String> settings = new HashMap<>(backend.settings(place));
    settings.put("FIRSTCLAIM_CLAIM_CREATE", "true");
    assertThat(run(settings, "probe").exitCode()).isZero();
  }

  @ParameterizedTest
  @EnumSource(Backend.class)
  void recordThatTheStoreDoesNotKnow_isAbsent_underItsKey(Backend backend) {
    create(backend, "claim-absent");

    Run ended = run(backend.settings("claim-absent"), "claim", ID.text());

    assertThat(ended.exitCode()).as(ended.output()).isEqualTo(1);
    String hash = ID.key("firstclaim");
    assertThat(ended.output())
        .contains("ID        order%0A4711")
        .contains("state     ABSENT")
        .contains(hash.substring(hash.length() - 32));
  }

  private static ClaimStore store(DynamoDbClient client, String table) {
    ClaimSettings settings = ClaimSettings.of("firstclaim", "a/host-17");
    return new DynamoDbClaimStore(client, table, settings, TIME, StoreListener.NONE);
  }

  private static Lease granted(ClaimStore store, Claim claim) {
    return ((ClaimResult.Granted) store.claim(claim)).lease();
  }

  private Run onTable(String table, String... args) {
    return run(Backend.DYNAMODB.settings(table), args);
  }

  private Run freeing(String table, String... args) {
    return Run.freeing(directory, withAccess(Backend.DYNAMODB.settings(table)), args);
  }

  private static void assertSaid(Run ended, int exitCode, String... said) {
    assertThat(ended.exitCode()).as(ended.output()).isEqualTo(exitCode);
    assertThat(ended.output()).contains(said);
  }

  /** Also that it says so, unless an earlier run has freed it, which was not answered. */
  private static void assertFreed(Run ended, String freed, String... said) {
    assertThat(ended.output()).contains(said);
    if (ended.exitCode() == 0) {
      assertThat(ended.output()).contains(freed);
    }
  }

  @Test
  void mutexAndResource_areShownAndFreed_apartFromTheRecordOfThatName() {
    RecordId name = RecordId.of("billing run");
    try (DynamoDbClient client = DynamoDbClaims.client()) {
      new DynamoDbTable(client, "claim-kinds").create();
      ClaimStore store = store(client, "claim-kinds");
      Claim ofRecord = Claim.of(name, Fingerprint.none(), TIME.now());
      Lease record = granted(store, ofRecord.withResources(List.of(name)));
      Lease mutex = granted(store, Claim.ofMutex(name, TIME.now()));

      assertSaid(onTable("claim-kinds", "claim", "--mutex", "billing run"), 0, "mutex     billing");
      assertFreed(
          freeing("claim-kinds", "release", "--mutex", "billing run", "--reason", "host died"),
          "Freed: a/host-17 is refused from now on.",
          "state     FREE",
          "cause     host died");
      assertSaid(
          onTable("claim-kinds", "release", "--mutex", "billing run", "--reason", "again"),
          1,
          "Nothing was changed: it is not held.");
      assertThat(store.renew(mutex)).isInstanceOf(SettleResult.Lost.class);
      assertThat(store.renew(record)).isInstanceOf(SettleResult.Settled.class);

      assertFreed(
          freeing("claim-kinds", "release", "--resource", "billing run", "--reason", "host died"),
          "Freed: ",
          "resource  billing run");
      assertThat(store.renew(record)).isInstanceOf(SettleResult.Lost.class);
    }
  }

  @Test
  void buriedRecord_isRedriven_once() {
    try (DynamoDbClient client = DynamoDbClaims.client()) {
      new DynamoDbTable(client, "claim-buried").create();
      ClaimStore store = store(client, "claim-buried");
      Claim claim = Claim.of(ID, Fingerprint.of("body".getBytes(UTF_8)), TIME.now());
      SettleResult _ = store.bury(granted(store, claim), "card declined");

      assertFreed(
          freeing("claim-buried", "redrive", ID.text(), "--reason", "limit raised"),
          "Freed for another round of attempts",
          "state     FREE",
          ": limit raised");
      assertSaid(
          onTable("claim-buried", "redrive", ID.text(), "--reason", "again"),
          1,
          "Nothing was changed: it is not dead.");
      assertSaid(onTable("claim-buried", "redrive", "unknown", "--reason", "r"), 1, "ABSENT");

      Lease next = granted(store, Claim.of(ID, claim.fingerprint(), TIME.now()));
      assertThat(next.attempt()).isEqualTo(1);
      assertThat(next.token()).isEqualTo(3);
    }
  }

  /** The statuses of a board that nobody but its program knows. */
  private enum Status {
    NORMAL,
    EDITING
  }

  @Test
  void itemOfABoard_isShown_andMovedOn() throws Exception {
    try (DynamoDbClient client = DynamoDbClaims.client()) {
      new DynamoDbTable(client, "claim-board").create();
      var rules =
          new Transitions<>(
              Status.NORMAL,
              Map.of(Status.NORMAL, Set.of(Status.EDITING), Status.EDITING, Set.of(Status.NORMAL)));
      var items = new DynamoDbBoardStore(client, "claim-board", "tables", TIME);
      var board = new StatusBoard<>(items, rules, TIME);
      TransitionResult<Status> _ =
          board.transition(List.of(Change.ofFree("orders", Status.NORMAL, Status.EDITING, "ada")));

      assertSaid(onTable("claim-board", "claim", "--board", "tables", "none"), 1, "nobody has");
      assertSaid(
          onTable("claim-board", "claim", "--board", "tables", "orders"),
          0,
          "item      orders",
          "status    EDITING",
          "editor    ada");
      assertSaid(
          onTable(
              "claim-board",
              "release",
              "--board",
              "tables",
              "orders",
              "--to",
              "NORMAL",
              "--reason",
              "ada is gone"),
          0,
          "status    NORMAL",
          "editor    operator: ada is gone");
      assertThat(board.find("orders").status()).isEqualTo(Status.NORMAL);
    }
  }

  @Test
  void claimedRecord_isShown_withHolderTokenAndAttempts() {
    try (DynamoDbClient client = DynamoDbClaims.client()) {
      new DynamoDbTable(client, "claim-found").create();
      Lease _ = granted(store(client, "claim-found"), Claim.of(ID, Fingerprint.none(), TIME.now()));
    }

    Run ended = run(Backend.DYNAMODB.settings("claim-found"), "claim", "order%0A4711");

    assertThat(ended.exitCode()).as(ended.output()).isZero();
    assertThat(ended.output())
        .contains("DynamoDB table claim-found")
        .contains("state     HELD")
        .contains("holder    a/host-17")
        .contains("token     1")
        .contains("attempts  1");
  }

  private static void requireOneLine(String line, Run ended) {
    assertThat(ended.exitCode()).as(ended.output()).isEqualTo(2);
    assertThat(ended.output().lines()).singleElement().asString().startsWith("firstclaim: " + line);
  }

  @Test
  void memoryOfAnotherProcess_cannotBeAsked() {
    requireOneLine(
        "firstclaim.claim.backend=memory: ",
        run(Map.of("FIRSTCLAIM_CLAIM_BACKEND", "memory"), "claim", "x"));
  }

  @Test
  void claimWithoutAnId_isToldInOneLine() {
    requireOneLine("argument=claim: ", run(Map.of(), "claim"));
  }

  @Test
  void redriveOfWhatIsNeverGivenUp_isToldInOneLine() {
    requireOneLine(
        "redrive=x: give a record's ID",
        run(Backend.DYNAMODB.settings("any"), "redrive", "--mutex", "x", "--reason", "r"));
  }

  @Test
  void releaseOfAnItemToNoStatus_isToldInOneLine() {
    requireOneLine(
        "--to is not set: ",
        run(Backend.DYNAMODB.settings("any"), "release", "--board", "b", "x", "--reason", "r"));
  }

  @Test
  void whatIsNoId_isToldInOneLine() {
    requireOneLine("claim=: ", run(Backend.DYNAMODB.settings("any"), "claim", ""));
  }

  @Test
  void missingTable_isToldInOneLine() {
    requireOneLine("DynamoDB table ", run(Backend.DYNAMODB.settings("not-there"), "claim", "x"));
  }
}
