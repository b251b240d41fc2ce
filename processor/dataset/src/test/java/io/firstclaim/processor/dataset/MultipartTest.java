package io.firstclaim.processor.dataset;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.testkit.fault.Fault;
import io.firstclaim.lock.testkit.fault.Match;
import io.firstclaim.lock.testkit.fault.Request;
import io.firstclaim.lock.testkit.fault.Rule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Values larger than one part. */
class MultipartTest {
  private static final RecordId ID = RecordId.of("film-1");
  private static final byte[] VALUE = new byte[2 * LocalLake.PART + 1];
  private static final DatasetFile FILE = DatasetFile.of("films", 0, ID, VALUE.length);
  private static final Predicate<Request> PART = Match.pathContains("partNumber=");
  private static final Predicate<Request> COMPLETION =
      Match.operation("POST").and(Match.pathContains("uploadId="));
  private static final Predicate<Request> ABORT = Match.operation("DELETE");

  static {
    new Random(1).nextBytes(VALUE);
  }

  private final LocalLake lake = new LocalLake();
  private final Dataset dataset = lake.dataset();

  @AfterEach
  void close() {
    lake.close();
  }

  private StoreResult store(byte[] value) throws InterruptedException {
    return dataset.store("films", 0, ID, value, () -> {});
  }

  private void assertStored() {
    assertThat(lake.keys()).containsExactly(FILE.path());
    assertThat(lake.body(FILE.path())).isEqualTo(VALUE);
    assertThat(lake.listed()).containsExactly(FILE);
    assertThat(lake.uploads()).isEmpty();
  }

  private Rule seen(Predicate<Request> requests) {
    return lake.proxy().add(Rule.always(requests, new Fault.DelayRequest(Duration.ZERO)));
  }

  @Test
  void largeValue_isUploadedInParts_andCompletedOnCondition() throws InterruptedException {
    Rule parts = seen(PART);
    Rule conditional = seen(COMPLETION.and(Match.header("If-None-Match")));

    assertThat(store(VALUE)).isEqualTo(new StoreResult.Listed(FILE));

    assertThat(parts.hits()).isEqualTo(3);
    assertThat(conditional.hits()).isEqualTo(1);
    assertStored();
  }

  @Test
  void valueOfOnePart_isNotUploadedInParts() throws InterruptedException {
    Rule uploads = seen(Match.operation("POST"));

    assertThat(store(new byte[LocalLake.PART])).isInstanceOf(StoreResult.Listed.class);

    assertThat(uploads.hits()).isZero();
  }

  @Test
  void largeValueThatComesAgain_isNotUploadedAgain() throws InterruptedException {
    store(VALUE);
    Rule uploads = seen(Match.operation("POST"));

    assertThat(store(VALUE)).isEqualTo(new StoreResult.Listed(FILE));

    assertThat(uploads.hits()).isZero();
    assertStored();
  }

  @Test
  void otherContentOfTheSameSize_isRefused() throws InterruptedException {
    store(VALUE);

    assertThat(store(new byte[VALUE.length])).isInstanceOf(StoreResult.Rejected.class);

    assertStored();
  }

  @Test
  void twoUploadsAtOnce_makeOneObject_andLeaveNoParts() throws Exception {
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<StoreResult>> both = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        both.add(threads.submit(() -> store(VALUE)));
      }
      for (Future<StoreResult> one : both) {
        assertThat(one.get()).isEqualTo(new StoreResult.Listed(FILE));
      }
    }

    assertStored();
  }

  @Test
  void uploadThatAnotherWasFasterThan_isAborted_andComparedWithIt() throws InterruptedException {
    Runnable other = () -> lake.put(FILE.path(), VALUE);

    assertThat(dataset.store("films", 0, ID, VALUE, other)).isEqualTo(new StoreResult.Listed(FILE));

    assertStored();
  }

  @Test
  void uploadThatOtherContentWasFasterThan_isAborted_andRefused() throws InterruptedException {
    Runnable other = () -> lake.put(FILE.path(), new byte[1]);

    assertThat(dataset.store("films", 0, ID, VALUE, other))
        .isInstanceOf(StoreResult.Rejected.class);

    assertThat(lake.body(FILE.path())).isEqualTo(new byte[1]);
    assertThat(lake.uploads()).isEmpty();
  }

  /** The SDK repeats it, and of the first one only S3 knows. */
  @Test
  void beginningWhoseAnswerIsLost_isAbortedByARepair() throws InterruptedException {
    lake.proxy()
        .add(
            Rule.once(
                Match.operation("POST").and(Match.pathContains("uploads")),
                new Fault.ResetAfterApply()));

    assertThat(store(VALUE)).isEqualTo(new StoreResult.Listed(FILE));
    assertThat(lake.uploads()).hasSize(1);

    assertThat(lake.datasetAhead(Duration.ofHours(25)).repair()).contains(new Repair(0, 0, 1));
    assertStored();
  }

  @Test
  void completionWhoseAnswerIsLost_isFoundToHaveTaken() throws InterruptedException {
    lake.proxy().add(Rule.once(COMPLETION, new Fault.ResetAfterApply()));

    assertThat(store(VALUE)).isEqualTo(new StoreResult.Listed(FILE));

    assertStored();
  }

  @Test
  void partThatFails_abortsTheUpload() {
    lake.proxy().add(Rule.always(PART, Fault.Answer.s3(503, "SlowDown")));

    assertThatThrownBy(() -> store(VALUE)).isInstanceOf(StoreUnavailableException.class);

    assertThat(lake.uploads()).isEmpty();
    assertThat(lake.keys()).isEmpty();
  }

  @Test
  void completionThatFails_abortsTheUpload() {
    lake.proxy().add(Rule.always(COMPLETION, Fault.Answer.s3(503, "SlowDown")));

    assertThatThrownBy(() -> store(VALUE)).isInstanceOf(StoreUnavailableException.class);

    assertThat(lake.uploads()).isEmpty();
    assertThat(lake.keys()).isEmpty();
  }

  @Test
  void leaseLostBeforeTheCompletion_abortsTheUpload() {
    assertThatThrownBy(
            () ->
                dataset.store(
                    "films",
                    0,
                    ID,
                    VALUE,
                    () -> {
                      throw new IllegalStateException("lost");
                    }))
        .hasMessage("lost");

    assertThat(lake.uploads()).isEmpty();
    assertThat(lake.keys()).isEmpty();
  }

  @Test
  void interruptedUpload_isAborted() throws Exception {
    Rule part = lake.proxy().add(Rule.once(PART, new Fault.LoseResponse()));
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<StoreResult> upload = threads.submit(() -> store(VALUE));
      assertThat(part.awaitHits(1, Duration.ofMinutes(5))).isTrue();
      upload.cancel(true);
    }

    assertThat(lake.uploads()).isEmpty();
    assertThat(lake.keys()).isEmpty();
  }

  @Test
  void abortThatFails_leavesTheFaultAsItWas() {
    lake.proxy().add(Rule.always(COMPLETION, Fault.Answer.s3(503, "SlowDown")));
    lake.proxy().add(Rule.always(ABORT, Fault.Answer.s3(403, "AccessDenied")));

    assertThatThrownBy(() -> store(VALUE))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining("503 SlowDown");
  }
}
