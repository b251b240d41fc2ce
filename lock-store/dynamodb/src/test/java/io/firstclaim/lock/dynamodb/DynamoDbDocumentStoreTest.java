package io.firstclaim.lock.dynamodb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.document.DocumentStore;
import io.firstclaim.lock.document.History;
import io.firstclaim.lock.document.WriteResult;
import io.firstclaim.lock.testkit.document.SharedDocumentsContract;
import io.firstclaim.lock.testkit.fault.Fault;
import io.firstclaim.lock.testkit.fault.FaultProxy;
import io.firstclaim.lock.testkit.fault.FaultyRoute;
import io.firstclaim.lock.testkit.fault.FaultyRoute.Way;
import io.firstclaim.lock.testkit.fault.Match;
import io.firstclaim.lock.testkit.fault.Request;
import io.firstclaim.lock.testkit.fault.Rule;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** Through the proxy go two clients, with and without the SDK's own retries. */
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock("DynamoDbDocumentStoreTest")
class DynamoDbDocumentStoreTest extends SharedDocumentsContract {
  private static final ClaimSettings SETTINGS =
      new ClaimSettings(
          "any", "any", Duration.ofSeconds(15), ClaimSettings.LEAST_SKEW, Duration.ofDays(8));
  private static final FaultyRoute<DynamoDbClient> ROUTE =
      FaultyRoute.to(
          LocalDynamoDb.endpoint(),
          LocalDynamoDb.client(),
          proxy ->
              LocalDynamoDb.patient(
                      DynamoDbTable.configure(LocalDynamoDb.builder(proxy.endpoint()), SETTINGS),
                      proxy)
                  .build(),
          proxy ->
              LocalDynamoDb.patient(
                      LocalDynamoDb.notRetrying(LocalDynamoDb.builder(proxy.endpoint())), proxy)
                  .build());
  private static final FaultProxy PROXY = ROUTE.proxy();
  private static final Predicate<Request> WRITE = Match.operation("PutItem");

  @AfterAll
  static void stop() {
    ROUTE.close();
  }

  @AfterEach
  void mend() {
    PROXY.clear();
  }

  private static DocumentStore over(DynamoDbClient client) {
    return new DynamoDbDocumentStore(client, LocalDynamoDb.TABLE);
  }

  private static DocumentStore over(Way way) {
    return over(ROUTE.by(way));
  }

  @Override
  protected DocumentStore store() {
    return over(LocalDynamoDb.client());
  }

  @Override
  protected DocumentStore storeThatLosesAnswers() {
    loseAnswers(PROXY, WRITE);
    return over(Way.RETRYING);
  }

  /** An item has at most 400 KB: names, key, version and a history of one write take their part. */
  @Override
  protected int maxBytes() {
    return 409_600
        - ("pk" + "documentText" + "documentVersion" + "lastWrites").length()
        - ("document/" + key).length()
        - 32
        - 32;
  }

  @Override
  protected void othersPut(String text) {
    put(Map.of("pk", Items.text("document/" + key), "documentText", Items.text(text)));
  }

  private static void put(Map<String, AttributeValue> item) {
    LocalDynamoDb.client().putItem(put -> put.tableName(LocalDynamoDb.TABLE).item(item));
  }

  private WriteResult create(DocumentStore store) {
    return store.write(key, null, "{}", History.NONE.with(Nonce.random()));
  }

  @Test
  void writeWhoseAnswerIsLost_isUnknown_withoutRetries() {
    PROXY.add(Rule.once(WRITE, new Fault.ResetAfterApply()));

    assertThat(create(over(Way.NOT_RETRYING)))
        .isInstanceOfSatisfying(
            WriteResult.Unknown.class,
            unknown ->
                assertThat(unknown.why())
                    .startsWith("DynamoDB did not answer: ")
                    .doesNotContain("\n"));

    assertThat(found().content()).as("it took").isEqualTo("{}");
  }

  @Test
  void writeThatFailsOnItsOwnSuccess_isUnknown_andNotRefused() {
    PROXY.add(Rule.once(WRITE, new Fault.ResetAfterApply()));

    assertThat(create(over(Way.RETRYING)))
        .isEqualTo(new WriteResult.Unknown("the write was repeated and then refused"));

    assertThat(found().content()).isEqualTo("{}");
  }

  @Test
  void throttledWrite_isUnknown() {
    PROXY.add(Rule.once(WRITE, Fault.Answer.dynamoDbThrottling()));

    assertThat(create(over(Way.NOT_RETRYING))).isInstanceOf(WriteResult.Unknown.class);

    assertThat(store().find(key)).isEmpty();
  }

  @Test
  void readThatIsNotAnswered_isUnavailable() {
    PROXY.add(Rule.once(Match.any(), new Fault.Refuse()));

    assertThatThrownBy(() -> over(Way.NOT_RETRYING).find(key))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageStartingWith("DynamoDB table claims did not answer for document " + key);
  }

  @Test
  void read_isStronglyConsistent() {
    Rule consistent =
        PROXY.add(
            Rule.always(
                Match.bodyContains("\"ConsistentRead\":true"),
                new Fault.DelayRequest(Duration.ZERO)));

    assertThat(over(Way.RETRYING).find(key)).isEmpty();

    assertThat(consistent.hits()).isEqualTo(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"AccessDeniedException", "ValidationException"})
  void finalErrors_areReportedAtOnce_withTheRemedy(String error) {
    PROXY.add(Rule.always(Match.any(), Fault.Answer.dynamoDb(400, error)));

    for (Way way : List.of(Way.RETRYING, Way.NOT_RETRYING)) {
      assertThatThrownBy(() -> over(way).find(key))
          .isInstanceOf(StoreRefusedException.class)
          .hasMessageContaining(error)
          .hasMessageContaining("dynamodb:PutItem");
      assertThatThrownBy(() -> create(over(way))).isInstanceOf(StoreRefusedException.class);
    }
  }

  @Test
  void missingTable_isReportedAtOnce() {
    var lost = new DynamoDbDocumentStore(LocalDynamoDb.client(), "no-such-table");

    assertThatThrownBy(() -> lost.find(key)).isInstanceOf(StoreRefusedException.class);
    assertThatThrownBy(() -> create(lost)).isInstanceOf(StoreRefusedException.class);
  }

  @Test
  void itemThatIsNoDocument_isReported_andNotWrittenOver() {
    put(Map.of("pk", Items.text("document/" + key), "x", Items.number(1)));

    assertThatThrownBy(() -> store().find(key))
        .isInstanceOf(StoreRefusedException.class)
        .hasMessage(
            "item document/%s of DynamoDB table claims is not a document: documentText is missing."
                + " Is the table used by something else?",
            key);
    assertThat(create(store())).isEqualTo(new WriteResult.Differs());
  }

  /** The first update would drop what is not the document's. */
  @Test
  void textOfOthers_besideAnythingElse_isNoDocument() {
    othersPut("{}");
    assertThat(found().content()).isEqualTo("{}");

    put(
        Map.of(
            "pk",
            Items.text("document/" + key),
            "documentText",
            Items.text("{}"),
            "x",
            Items.number(1)));

    assertThatThrownBy(() -> store().find(key)).isInstanceOf(StoreRefusedException.class);
  }

  @Test
  void document_hasNoTimeToLive() {
    create(store());

    var item =
        LocalDynamoDb.client()
            .getItem(
                get ->
                    get.tableName(LocalDynamoDb.TABLE)
                        .key(Map.of("pk", Items.text("document/" + key))))
            .item();

    assertThat(item).doesNotContainKey(Items.EXPIRES_AT);
  }
}
