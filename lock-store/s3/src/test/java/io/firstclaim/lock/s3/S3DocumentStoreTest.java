package io.firstclaim.lock.s3;

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
import java.nio.charset.StandardCharsets;
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
import org.junit.jupiter.params.provider.CsvSource;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;

/** Through the proxy go two clients, with and without the SDK's own retries. */
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock("S3DocumentStoreTest")
class S3DocumentStoreTest extends SharedDocumentsContract {
  private static final ClaimSettings SETTINGS =
      new ClaimSettings(
          "any", "any", Duration.ofSeconds(15), ClaimSettings.LEAST_SKEW, Duration.ofDays(8));
  private static final FaultyRoute<S3Client> ROUTE =
      FaultyRoute.to(
          LocalS3.endpoint(),
          LocalS3.client(),
          proxy ->
              LocalS3.patient(
                      S3Bucket.configure(LocalS3.builder(proxy.endpoint()), SETTINGS), proxy)
                  .build(),
          proxy ->
              LocalS3.patient(LocalS3.notRetrying(LocalS3.builder(proxy.endpoint())), proxy)
                  .build());
  private static final FaultProxy PROXY = ROUTE.proxy();
  private static final Predicate<Request> WRITE = Match.operation("PUT");

  @AfterAll
  static void stop() {
    ROUTE.close();
  }

  /** Ceph answers racers 409; after a repetition for that, nobody can tell what a refusal is of. */
  @Override
  protected boolean isAnswerOfALoser(WriteResult result) {
    return super.isAnswerOfALoser(result)
        || (LocalS3.isForeign() && result instanceof WriteResult.Unknown);
  }

  @AfterEach
  void mend() {
    PROXY.clear();
  }

  private static DocumentStore over(S3Client client) {
    return new S3DocumentStore(client, LocalS3.BUCKET);
  }

  private static DocumentStore over(Way way) {
    return over(ROUTE.by(way));
  }

  @Override
  protected DocumentStore store() {
    return over(LocalS3.client());
  }

  @Override
  protected DocumentStore storeThatLosesAnswers() {
    loseAnswers(PROXY, WRITE);
    return over(Way.RETRYING);
  }

  /** Ceph answers a DELETE of what is not there as if it had deleted it. */
  @Override
  protected boolean tellsOfDeletions() {
    return !LocalS3.isForeign();
  }

  /** A content of 8 MB, less the blanks around it. */
  @Override
  protected int maxBytes() {
    return (8 << 20) - 64;
  }

  private WriteResult create(DocumentStore store) {
    return store.write(key, null, "{}", History.NONE.with(Nonce.random()));
  }

  private String body() {
    return LocalS3.client()
        .getObjectAsBytes(get -> get.bucket(LocalS3.BUCKET).key(key.value()))
        .asString(StandardCharsets.UTF_8);
  }

  private void put(String body, Map<String, String> metadata) {
    LocalS3.client()
        .putObject(
            put -> put.bucket(LocalS3.BUCKET).key(key.value()).metadata(metadata),
            RequestBody.fromString(body));
  }

  @Override
  protected void othersPut(String text) {
    put(text, Map.of());
  }

  @Test
  void object_isTheDocument_andBlanks() {
    create(store());

    assertThat(body()).startsWith("{}").hasSize(2 + 64).isNotEqualTo("{}" + " ".repeat(64));
    assertThat(body().strip()).isEqualTo("{}");
  }

  @Test
  void writeWhoseAnswerIsLost_isUnknown_withoutRetries() {
    PROXY.add(Rule.once(WRITE, new Fault.ResetAfterApply()));

    assertThat(create(over(Way.NOT_RETRYING))).isInstanceOf(WriteResult.Unknown.class);

    assertThat(found().content()).as("it took").isEqualTo("{}");
  }

  @Test
  void writeThatFailsOnItsOwnSuccess_isUnknown_andNotRefused() {
    PROXY.add(Rule.once(WRITE, new Fault.ResetAfterApply()));

    assertThat(create(over(Way.RETRYING)))
        .isInstanceOfSatisfying(
            WriteResult.Unknown.class,
            unknown -> assertThat(unknown.why()).startsWith("S3 did not say: 412 "));

    assertThat(found().content()).isEqualTo("{}");
  }

  @ParameterizedTest
  @CsvSource({"409,ConditionalRequestConflict", "503,SlowDown", "500,InternalError"})
  void conflictAndThrottling_areUnknown_neverRefused(int status, String code) {
    PROXY.add(Rule.once(WRITE, Fault.Answer.s3(status, code)));

    assertThat(create(over(Way.NOT_RETRYING)))
        .isInstanceOfSatisfying(
            WriteResult.Unknown.class,
            unknown -> assertThat(unknown.why()).contains(code).doesNotContain("\n"));

    assertThat(store().find(key)).isEmpty();
  }

  @Test
  void readThatIsNotAnswered_isUnavailable() {
    PROXY.add(Rule.once(Match.any(), new Fault.Refuse()));

    assertThatThrownBy(() -> over(Way.NOT_RETRYING).find(key))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageStartingWith("S3 bucket claims did not answer for document " + key);
  }

  @ParameterizedTest
  @CsvSource({"403,AccessDenied", "404,NoSuchBucket"})
  void finalErrors_areReportedAtOnce_withTheRemedy(int status, String code) {
    PROXY.add(Rule.always(Match.any(), Fault.Answer.s3(status, code)));

    for (Way way : List.of(Way.RETRYING, Way.NOT_RETRYING)) {
      assertThatThrownBy(() -> over(way).find(key))
          .isInstanceOf(StoreRefusedException.class)
          .hasMessageContaining(code)
          .hasMessageContaining("s3:ListBucket");
      assertThatThrownBy(() -> create(over(way))).isInstanceOf(StoreRefusedException.class);
    }
  }

  @Test
  void objectThatIsOnlyHalfADocument_isNone_andNotWrittenOver() {
    create(store());
    String history = found().history().toString();
    String blanks = body().substring(2);

    for (Runnable written :
        new Runnable[] {
          () -> put("{}", Map.of("firstclaim-writes", history)),
          () -> put("{}" + blanks, Map.of("firstclaim-writes", "x")),
          () -> put(blanks + "{}", Map.of("firstclaim-writes", history))
        }) {
      written.run();
      assertThatThrownBy(() -> store().find(key))
          .isInstanceOf(StoreRefusedException.class)
          .hasMessageStartingWith(
              "object %s of S3 bucket claims is not a document: ".formatted(key))
          .hasMessageEndingWith(". Was it written by something else?");
      assertThat(create(store())).isEqualTo(new WriteResult.Differs());
    }
    put("{ }" + blanks, Map.of("firstclaim-writes", history));
    assertThat(found().content()).isEqualTo("{ }");
  }
}
