package io.firstclaim.processor.dataset;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.testkit.fault.Fault;
import io.firstclaim.lock.testkit.fault.Match;
import io.firstclaim.lock.testkit.fault.Request;
import io.firstclaim.lock.testkit.fault.Rule;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Values of up to one part; larger ones are {@link MultipartTest}'s. */
class DatasetTest {
  private static final long NOON = Instant.parse("2026-07-04T12:00:00Z").toEpochMilli();
  private static final RecordId ID = RecordId.of("order-1");
  private static final DatasetFile FILE = DatasetFile.of("orders", NOON, ID, 5);
  private static final Predicate<Request> WRITE =
      Match.operation("PUT").and(Match.pathContains("/datasets/"));
  private static final Predicate<Request> REGISTRY = Match.pathContains(RootObject.PATH);

  private final LocalLake lake = new LocalLake();

  @AfterEach
  void close() {
    lake.close();
  }

  private StoreResult store(Dataset dataset, String value) throws InterruptedException {
    return dataset.store("orders", NOON, ID, value.getBytes(UTF_8), () -> {});
  }

  private void assertStored() {
    assertThat(lake.keys()).containsExactly(FILE.path());
    assertThat(lake.body(FILE.path())).asString(UTF_8).isEqualTo("value");
    assertThat(lake.listed()).containsExactly(FILE);
  }

  @Test
  void value_isWrittenAndListed() throws InterruptedException {
    assertThat(store(lake.dataset(), "value")).isEqualTo(new StoreResult.Listed(FILE));

    assertStored();
  }

  @Test
  void prefix_isThatOfObjectsAndRegistry() throws InterruptedException {
    store(lake.dataset("a/lake/"), "value");

    assertThat(lake.keys()).containsExactly("a/lake/" + FILE.path());
    assertThat(lake.listed("a/lake/")).containsExactly(FILE);
  }

  /** With {@code lake} the manifests would be in {@code lakemetastore/}. */
  @ParameterizedTest
  @ValueSource(strings = {"lake", "/", "a//"})
  void prefixThatIsNotAFolder_isRefused_withTheRemedy(String prefix) {
    assertThatThrownBy(() -> lake.dataset(prefix))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "prefix \"%s\" of a dataset in S3 bucket %s: give none, or parts that end in /, such as lake/"
                .formatted(prefix, lake.bucket()));
  }

  @Test
  void prefixWithOddCharacters_isReadBackAsItIs() throws InterruptedException {
    String prefix = "a!lake/_50.-*'()=/";
    Dataset dataset = lake.dataset(prefix);
    store(dataset, "value");
    lake.put(prefix + FILE.partition() + "/" + "0".repeat(64), new byte[1]);

    assertThat(dataset.repair()).contains(new Repair(1, 0, 0));

    assertThat(lake.listed(prefix)).hasSize(2).contains(FILE);
    List<Verification.Discrepancy> findings = new ArrayList<>();
    new Verification(lake.client(), lake.bucket(), prefix, Duration.ZERO, TimeSource.system())
        .run(findings::add);
    assertThat(findings).isEmpty();
  }

  @Test
  void twoInstancesAtOnce_writeOneObject() throws Exception {
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<StoreResult>> both = new ArrayList<>();
      for (Dataset dataset : List.of(lake.dataset(), lake.dataset())) {
        both.add(threads.submit(() -> store(dataset, "value")));
      }
      for (Future<StoreResult> one : both) {
        assertThat(one.get()).isEqualTo(new StoreResult.Listed(FILE));
      }
    }

    assertStored();
  }

  @Test
  void valueThatComesAgain_isWrittenOnCondition_andFoundThere() throws InterruptedException {
    store(lake.dataset(), "value");
    Rule conditional =
        lake.proxy()
            .add(
                Rule.always(
                    WRITE.and(Match.header("If-None-Match")),
                    new Fault.DelayRequest(Duration.ZERO)));
    Rule other = lake.proxy().add(Rule.always(WRITE, new Fault.DelayRequest(Duration.ZERO)));

    assertThat(store(lake.dataset(), "value")).isEqualTo(new StoreResult.Listed(FILE));

    assertThat(conditional.hits()).isEqualTo(1);
    assertThat(other.hits()).isZero();
    assertStored();
  }

  @ParameterizedTest
  @CsvSource({"other", "longer value", "''"})
  void otherContent_isRefused_andTheFirstStays(String other) throws InterruptedException {
    store(lake.dataset(), "value");

    assertThat(store(lake.dataset(), other))
        .isEqualTo(
            new StoreResult.Rejected(
                "the dataset has this record with another content, in %s of bucket %s"
                    .formatted(FILE.path(), lake.bucket())));

    assertStored();
  }

  @Test
  void objectWithoutItsHash_isComparedByteForByte() throws InterruptedException {
    lake.put(FILE.path(), "value".getBytes(UTF_8));

    assertThat(store(lake.dataset(), "valuf")).isInstanceOf(StoreResult.Rejected.class);
    assertThat(store(lake.dataset(), "value")).isInstanceOf(StoreResult.Listed.class);

    assertThat(
            lake.client()
                .headObject(head -> head.bucket(lake.bucket()).key(FILE.path()))
                .metadata())
        .as("it was not written over")
        .isEmpty();
    assertStored();
  }

  @Test
  void writeWhoseAnswerIsLost_isFoundToBeOnesOwn() throws InterruptedException {
    lake.proxy().add(Rule.once(WRITE, new Fault.ResetAfterApply()));

    assertThat(store(lake.dataset(), "value")).isEqualTo(new StoreResult.Listed(FILE));

    assertStored();
  }

  @ParameterizedTest
  @CsvSource({"409,ConditionalRequestConflict", "503,SlowDown", "500,InternalError"})
  void conflictAndThrottling_areTriedAgain(int status, String code) throws InterruptedException {
    lake.proxy().add(Rule.once(WRITE, Fault.Answer.s3(status, code)));

    assertThat(store(lake.dataset(), "value")).isEqualTo(new StoreResult.Listed(FILE));

    assertStored();
  }

  @Test
  void storeThatGoesOnFailing_isUnavailable() {
    lake.proxy().add(Rule.always(WRITE, Fault.Answer.s3(503, "SlowDown")));

    assertThatThrownBy(() -> store(lake.dataset(), "value"))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessage(
            "S3 bucket %s did not answer for object %s: 503 SlowDown by the fault proxy"
                .formatted(lake.bucket(), FILE.path()));
  }

  @ParameterizedTest
  @CsvSource({"403,AccessDenied", "404,NoSuchBucket"})
  void refusalOfTheBucket_namesTheRemedy(int status, String code) {
    lake.proxy().add(Rule.always(WRITE, Fault.Answer.s3(status, code)));

    assertThatThrownBy(() -> store(lake.dataset(), "value"))
        .isInstanceOf(StoreRefusedException.class)
        .hasMessageContaining("%d %s", status, code)
        .hasMessageContaining("s3:PutObject");
  }

  @Test
  void lostLease_writesNothing() {
    assertThatThrownBy(
            () ->
                lake.dataset()
                    .store(
                        "orders",
                        NOON,
                        ID,
                        new byte[0],
                        () -> {
                          throw new IllegalStateException("lost");
                        }))
        .hasMessage("lost");

    assertThat(lake.keys()).isEmpty();
  }

  @Test
  void registryThatCannotBeWritten_failsTheRecord_andItsNextAttemptListsIt()
      throws InterruptedException {
    Dataset dataset = lake.dataset();
    Rule denied = lake.proxy().add(Rule.always(REGISTRY, Fault.Answer.s3(403, "AccessDenied")));

    assertThatThrownBy(() -> store(dataset, "value")).isInstanceOf(StoreRefusedException.class);
    lake.proxy().remove(denied);

    assertThat(store(dataset, "value")).isEqualTo(new StoreResult.Listed(FILE));
    assertStored();
  }
}
