package io.firstclaim.processor.dataset;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.firstclaim.lock.LeaseLostException;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.testkit.fault.Fault;
import io.firstclaim.lock.testkit.fault.Match;
import io.firstclaim.lock.testkit.fault.Rule;
import io.firstclaim.processor.handler.HandlerResult;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class DatasetHandlerTest {
  private final LocalLake lake = new LocalLake();
  private final CountDownLatch opened = new CountDownLatch(1);
  private final DatasetHandler handler = new DatasetHandler(lake.dataset(), opened::countDown);

  @AfterEach
  void close() {
    lake.close();
  }

  @Test
  void start_waitsForAStoreThatDoesNotAnswer_andIsOverOnceTheBucketIsProven() {
    Rule down = lake.proxy().add(Rule.always(Match.any(), Fault.Answer.s3(503, "SlowDown")));
    assertThatThrownBy(handler::open).isInstanceOf(StoreUnavailableException.class);
    assertThat(opened.getCount()).isEqualTo(1);
    lake.proxy().remove(down);

    handler.open();

    assertThat(opened.getCount()).isZero();
    assertThat(lake.keys()).isEmpty();
  }

  @Test
  void bucketThatIsMissing_isRefused() {
    lake.proxy().add(Rule.always(Match.any(), Fault.Answer.s3(404, "NoSuchBucket")));

    assertThatThrownBy(handler::open).isInstanceOf(StoreRefusedException.class);
  }

  @Test
  void record_isDoneAsAFile_howeverOftenItComes() throws InterruptedException {
    assertThat(handler.handle(TestContext.of("value"))).isEqualTo(HandlerResult.done());
    assertThat(handler.handle(TestContext.of("value"))).isEqualTo(HandlerResult.done());

    assertThat(lake.keys())
        .singleElement()
        .asString()
        .matches("datasets/orders\\.v1/year=1970/month=01/day=01/[0-9a-f]{64}");
    assertThat(lake.listed()).hasSize(1);
  }

  @Test
  void recordWithoutValue_isAnEmptyFile() throws InterruptedException {
    assertThat(handler.handle(TestContext.of((byte[]) null))).isEqualTo(HandlerResult.done());

    assertThat(lake.listed()).singleElement().extracting("bytes").isEqualTo(0L);
  }

  @Test
  void otherContentOfTheSameId_hasFailedForGood() throws InterruptedException {
    handler.handle(TestContext.of("value"));

    assertThat(handler.handle(TestContext.of("other")))
        .isInstanceOfSatisfying(
            HandlerResult.Failed.class,
            failed -> assertThat(failed.cause()).contains("with another content"));
  }

  @Test
  void recordWithoutTimestamp_hasFailedForGood() throws InterruptedException {
    TestContext context = TestContext.of("value");
    ConsumerRecord<byte[], byte[]> timeless =
        new ConsumerRecord<>("orders", 0, 0, new byte[0], "value".getBytes(StandardCharsets.UTF_8));

    assertThat(handler.handle(new TestContext(context.id(), timeless, true)))
        .isInstanceOfSatisfying(
            HandlerResult.Failed.class,
            failed -> assertThat(failed.cause()).contains("-1 ms is not from 1970 to 9999"));
  }

  @Test
  void storeThatDoesNotAnswer_isNoFailureOfTheRecord() throws InterruptedException {
    lake.proxy().add(Rule.always(Match.any(), Fault.Answer.s3(503, "SlowDown")));

    assertThat(handler.handle(TestContext.of("value")))
        .isInstanceOfSatisfying(
            HandlerResult.Unavailable.class,
            unavailable -> assertThat(unavailable.cause()).contains("503 SlowDown"));
  }

  /**
   * Handles a record while others are faster to write the root, for so long; no wait takes time.
   */
  private HandlerResult handleWhileOthersAreFaster(Duration others) throws InterruptedException {
    HastyTime time = new HastyTime();
    lake.proxy()
        .add(
            Rule.always(
                Match.operation("PUT")
                    .and(Match.pathContains(RootObject.PATH))
                    .and(_ -> time.slept().compareTo(others) < 0),
                Fault.Answer.s3(412, "PreconditionFailed")));
    return new DatasetHandler(lake.dataset(time), () -> {}).handle(TestContext.of("value"));
  }

  @Test
  void rootThatOthersWriteFasterForLong_costsTheRecordNothing() throws InterruptedException {
    assertThat(handleWhileOthersAreFaster(Duration.ofSeconds(50))).isEqualTo(HandlerResult.done());
    assertThat(lake.listed()).hasSize(1);
  }

  @Test
  void rootThatOthersAlwaysWriteFaster_isNoFailureOfTheRecord() throws InterruptedException {
    assertThat(handleWhileOthersAreFaster(Duration.ofDays(1)))
        .isInstanceOfSatisfying(
            HandlerResult.Unavailable.class,
            unavailable -> assertThat(unavailable.cause()).contains("others were faster"));
  }

  private static Stream<Arguments> damage() {
    String right =
        RootText.of(Root.empty(Instant.EPOCH)).replace("[]", "[" + " ".repeat(9 << 20) + "]");
    return Stream.of(
        arguments("not JSON", "oops"),
        arguments("empty", ""),
        arguments("truncated", "{\"schemaVersion\": 2, \"version\": 17, \"updatedAt\": \"2026-07"),
        arguments("JSON of something else", "{\"orders\": []}"),
        arguments("JSON that is no object", "[1, 2]"),
        arguments("of a later version", "{\"schemaVersion\": 3, \"partitions\": []}"),
        arguments("far too large", " ".repeat(9 << 20)),
        arguments("right, and far too large", right));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("damage")
  void rootThatIsNone_isNoFailureOfTheRecord_andSaysWhichObjectAndWhatToDo(String kind, String root)
      throws InterruptedException {
    handler.handle(TestContext.of("value"));
    byte[] before = lake.body(RootObject.PATH);
    lake.put(RootObject.PATH, root.getBytes(StandardCharsets.UTF_8));

    for (int i = 0; i < 2; i++) {
      assertThat(handler.handle(TestContext.of("value")))
          .isInstanceOfSatisfying(
              HandlerResult.Unavailable.class,
              unavailable ->
                  assertThat(unavailable.cause())
                      .doesNotContain("\n")
                      .contains(lake.bucket(), RootObject.PATH)
                      .contains(kind.contains("later") ? "update it" : "dataset repair"));
    }
    lake.put(RootObject.PATH, before);

    assertThat(handler.handle(TestContext.of("value"))).isEqualTo(HandlerResult.done());
    assertThat(lake.listed()).hasSize(1);
  }

  @Test
  void lostLease_isWithoutEffect() {
    assertThatThrownBy(() -> handler.handle(TestContext.of("value").lost()))
        .isInstanceOf(LeaseLostException.class);

    assertThat(lake.keys()).isEmpty();
  }
}
