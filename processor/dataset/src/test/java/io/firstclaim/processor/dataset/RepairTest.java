package io.firstclaim.processor.dataset;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;
import static org.assertj.core.api.InstanceOfAssertFactories.THROWABLE;

import io.firstclaim.lock.Moment;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.document.DocumentKey;
import io.firstclaim.lock.document.SharedDocuments;
import io.firstclaim.lock.s3.S3DocumentStore;
import io.firstclaim.lock.testkit.fault.Fault;
import io.firstclaim.lock.testkit.fault.Match;
import io.firstclaim.lock.testkit.fault.Request;
import io.firstclaim.lock.testkit.fault.Rule;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.s3.model.MultipartUpload;
import software.amazon.awssdk.services.s3.model.S3Object;

class RepairTest {
  private static final Duration TIME = Duration.ofMinutes(5);
  private static final Predicate<Request> LISTING = Match.pathContains("list-type=2");
  private static final Predicate<Request> LOCK =
      Match.operation("PUT").and(Match.pathContains("metastore/locks/"));
  private static final Predicate<Request> UPDATE =
      Match.operation("PUT").and(Match.pathContains(RootObject.PATH));

  private final LocalLake lake = new LocalLake();
  private final Dataset dataset = lake.dataset();

  @AfterEach
  void close() {
    lake.close();
  }

  private DatasetFile store(String id) throws InterruptedException {
    return store(dataset, id);
  }

  private static DatasetFile store(Dataset dataset, String id) throws InterruptedException {
    return switch (dataset.store("orders", 0, RecordId.of(id), new byte[3], () -> {})) {
      case StoreResult.Listed(DatasetFile file) -> file;
      case StoreResult.Rejected(String cause) -> throw new AssertionError(cause);
    };
  }

  /** What a crash between object and registry leaves. */
  private DatasetFile unlisted(String id) {
    DatasetFile file = DatasetFile.of("orders", 0, RecordId.of(id), 3);
    lake.put(file.path(), new byte[3]);
    return file;
  }

  @Test
  void rootThatIsRight_isNotWritten() throws InterruptedException {
    store("a");
    Rule updates = lake.proxy().add(Rule.always(UPDATE, new Fault.DelayRequest(Duration.ZERO)));

    assertThat(dataset.repair()).contains(new Repair(0, 0, 0));

    assertThat(updates.hits()).isZero();
  }

  @Test
  void fileOfACrashBeforeTheRegistry_isAdded() throws InterruptedException {
    DatasetFile listed = store("a");
    DatasetFile unlisted = unlisted("b");

    assertThat(dataset.repair()).contains(new Repair(1, 0, 0));

    assertThat(lake.listed()).containsExactlyInAnyOrder(listed, unlisted);
  }

  @Test
  void fileThatIsMissing_isRemoved() throws InterruptedException {
    DatasetFile kept = store("a");
    lake.delete(store("b").path());

    assertThat(dataset.repair()).contains(new Repair(0, 1, 0));

    assertThat(lake.listed()).containsExactly(kept);
  }

  @Test
  void lostRoot_isMadeAnew() throws InterruptedException {
    DatasetFile a = store("a");
    DatasetFile b = store("b");
    lake.delete(RootObject.PATH);

    assertThat(dataset.repair()).contains(new Repair(2, 0, 0));

    assertThat(lake.listed()).containsExactlyInAnyOrder(a, b);
  }

  @Test
  void rootOfABucketThatIsEmpty_listsNothing() throws InterruptedException {
    assertThat(dataset.repair()).contains(new Repair(0, 0, 0));

    assertThat(lake.listed()).isEmpty();
  }

  @Test
  void documentThatIsNoRoot_isNotUpdated_butMadeAnew() throws InterruptedException {
    DatasetFile file = unlisted("a");
    new SharedDocuments(new S3DocumentStore(lake.client(), lake.bucket()), TimeSource.system())
        .update(DocumentKey.of(RootObject.PATH), Duration.ZERO, _ -> "[]");

    assertThatThrownBy(() -> store("b"))
        .isInstanceOf(UnreadableException.class)
        .hasMessageContaining("is not the root of a dataset")
        .hasMessageContaining(RootObject.PATH)
        .hasMessageContaining("dataset repair");
    dataset.repair();

    assertThat(lake.listed())
        .containsExactlyInAnyOrder(file, DatasetFile.of("orders", 0, RecordId.of("b"), 3));
  }

  @Test
  void objectOfSomethingElse_isPassedOver() throws InterruptedException {
    lake.put("datasets/README.md", new byte[1]);
    lake.put("datasets/orders/_SUCCESS", new byte[0]);

    assertThat(dataset.repair()).contains(new Repair(0, 0, 0));
  }

  @Test
  void filesThatAreWrittenMeanwhile_areNoReasonToReadWhatOthersAreListed()
      throws InterruptedException {
    DatasetFile old = store("a");
    Dataset later = whereAllSoFarIsOld();
    DatasetFile listed = store("b");
    DatasetFile unlisted = unlisted("c");
    Rule reads = lake.countReadsOfManifests();

    assertThat(later.repair()).contains(new Repair(1, 0, 0));

    assertThat(reads.hits()).as("of the one that lists b").isEqualTo(1);
    assertThat(lake.listed()).containsExactlyInAnyOrder(old, listed, unlisted);
  }

  @Test
  void oldFileThatIsMissing_isRemoved_thoughOthersAreWrittenMeanwhile()
      throws InterruptedException {
    DatasetFile old = store("a");
    DatasetFile missing = store("b");
    Dataset later = whereAllSoFarIsOld();
    lake.delete(missing.path());
    DatasetFile unlisted = unlisted("c");

    assertThat(later.repair()).contains(new Repair(1, 1, 0));

    assertThat(lake.listed()).containsExactlyInAnyOrder(old, unlisted);
  }

  @Test
  void youngFileThatIsMissing_isRemoved() throws InterruptedException {
    DatasetFile old = store("a");
    Dataset later = whereAllSoFarIsOld();
    lake.delete(store("b").path());

    assertThat(later.repair()).contains(new Repair(0, 1, 0));

    assertThat(lake.listed()).containsExactly(old);
  }

  @Test
  void fileThatIsWrittenAgain_isYoung_andListedOnce() throws InterruptedException {
    DatasetFile file = store("a");
    DatasetFile another = store("b");
    Dataset later = whereAllSoFarIsOld();
    lake.delete(file.path());
    DatasetFile again = unlisted("a");

    assertThat(later.repair()).contains(new Repair(0, 0, 0));

    assertThat(lake.listed()).containsExactlyInAnyOrder(again, another);
  }

  /** An instance whose clock says that what is there now is old, and what comes is young. */
  private Dataset whereAllSoFarIsOld() {
    Instant last = lastWritten().values().stream().max(Comparator.naturalOrder()).orElseThrow();
    Instant now = last;
    while (!now.isAfter(last)) { // the store tells seconds
      lake.put("probe", new byte[0]);
      now = lastWritten().get("probe");
    }
    Instant wall = now.plus(Mending.YOUNG);
    return lake.dataset(() -> new Moment(wall, System.nanoTime()));
  }

  private Map<String, Instant> lastWritten() {
    return lake
        .client()
        .listObjectsV2Paginator(list -> list.bucket(lake.bucket()))
        .contents()
        .stream()
        .collect(
            Collectors.toMap(
                S3Object::key, one -> one.lastModified().truncatedTo(ChronoUnit.SECONDS)));
  }

  @Test
  void moreFilesThanOneAnswerOfS3Has_areAllSeen() throws InterruptedException {
    List<DatasetFile> files = new ArrayList<>();
    for (int i = 0; i < 1001; i++) {
      files.add(unlisted("id-" + i));
    }

    assertThat(dataset.repair()).contains(new Repair(1001, 0, 0));

    assertThat(lake.listed()).containsExactlyInAnyOrderElementsOf(files);
  }

  @Test
  void fileOfAnotherSize_isListedWithIt() throws InterruptedException {
    DatasetFile before = store("a");
    lake.put(before.path(), new byte[4]);

    assertThat(dataset.repair()).contains(new Repair(1, 1, 0));

    assertThat(lake.listed())
        .containsExactly(new DatasetFile(before.partition(), before.name(), 4));
  }

  @Test
  void manifests_areReadOnce_howeverOftenOthersAreFasterToWriteTheRoot()
      throws InterruptedException {
    Dataset dataset = lake.dataset();
    for (int i = 0; i < 5; i++) {
      dataset.store("orders", 0, RecordId.of("id-" + i), new byte[3], () -> {});
    }
    DatasetFile stray = DatasetFile.of("orders", 0, RecordId.of("stray"), 3);
    lake.put(stray.path(), new byte[3]);
    Manifests unnamed = new Manifests(lake.client(), lake.bucket(), "");
    ListedFile known = new ListedFile(stray, DatasetObjects.sha256(new byte[3]), "stray", null);
    for (int i = 0; i < 3; i++) {
      unnamed.write(stray.partition(), List.of(known));
    }
    Rule reads = lake.countReadsOfManifests();
    lake.refuseRoots(3);

    assertThat(dataset.repair()).contains(new Repair(1, 0, 0));

    assertThat(reads.hits()).isEqualTo(8);
    assertThat(lake.listed()).hasSize(6).contains(stray);
    assertThat(lake.manifests()).as("none is written for each attempt").hasSize(5 + 3 + 1);
  }

  @Test
  void repair_waitsForThatOfAnotherInstance() throws Exception {
    unlisted("a");
    Rule held = lake.proxy().add(Rule.once(LISTING, new Fault.LoseResponse()));
    Rule lock = lake.proxy().add(Rule.always(LOCK, new Fault.DelayRequest(Duration.ZERO)));
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<Optional<Repair>> first = threads.submit(dataset::repair);
      assertThat(held.awaitHits(1, TIME)).isTrue();
      long claims = lock.hits();
      Rule listings = lake.proxy().add(Rule.always(LISTING, new Fault.DelayRequest(Duration.ZERO)));
      Future<Optional<Repair>> second = threads.submit(lake.dataset()::repair);
      assertThat(lock.awaitHits(claims + 2, TIME)).as("the lock was asked for").isTrue();
      assertThat(listings.hits()).as("of the second").isZero();

      first.cancel(true);

      assertThat(second).succeedsWithin(TIME).isEqualTo(Optional.of(new Repair(1, 0, 0)));
    }
  }

  @Test
  void repairsAmongWrites_loseNothing() throws Exception {
    Set<DatasetFile> stored = ConcurrentHashMap.newKeySet();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> writers = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        int writer = i;
        writers.add(
            threads.submit(
                () -> {
                  for (int n = 0; n < 10; n++) {
                    stored.add(store("%d-%d".formatted(writer, n)));
                  }
                  return null;
                }));
      }
      while (!writers.stream().allMatch(Future::isDone)) {
        assertThat(lake.dataset().repair()).get().extracting(Repair::removed).isEqualTo(0L);
      }
      for (Future<?> writer : writers) {
        writer.get();
      }
    }

    assertThat(stored).hasSize(80);
    assertThat(lake.listed()).containsExactlyInAnyOrderElementsOf(stored);
  }

  @Test
  void uploadThatNobodyCompletes_isAbortedAfterADay() throws InterruptedException {
    String file = DatasetFile.of("orders", 0, RecordId.of("a"), 0).path();
    lake.client().createMultipartUpload(create -> create.bucket(lake.bucket()).key(file));
    lake.client().createMultipartUpload(create -> create.bucket(lake.bucket()).key("datasets/x"));

    assertThat(dataset.repair()).contains(new Repair(0, 0, 0));
    assertThat(lake.datasetAhead(Duration.ofHours(25)).repair()).contains(new Repair(0, 0, 1));

    assertThat(lake.uploads())
        .as("those of something else are left alone")
        .singleElement()
        .extracting(MultipartUpload::key)
        .isEqualTo("datasets/x");
  }

  @Test
  void rootIsReadOnce_forAllPartitionsThatAreRight() throws InterruptedException {
    for (int day = 0; day < 20; day++) {
      long timestamp = Duration.ofDays(day).toMillis();
      dataset.store("orders", timestamp, RecordId.of("id-" + day), new byte[3], () -> {});
    }
    dataset.repair();
    Rule reads = lake.countReadsOfTheRoot();

    assertThat(dataset.repair()).contains(new Repair(0, 0, 0));

    assertThat(reads.hits()).as("whether it is one, the files, the old manifests").isEqualTo(3);
  }

  @Test
  void whatMustNotBeDone_keepsNothingElseFromBeingDone_andIsTold() throws InterruptedException {
    HastyTime time = new HastyTime();
    Dataset dataset = lake.dataset(time);
    store(dataset, "a");
    Manifests manifests = new Manifests(lake.client(), lake.bucket(), "");
    DatasetFile unlisted = unlisted("b");
    manifests.write(unlisted.partition(), List.of(ListedFile.of(unlisted)));
    dataset.repair();
    lake.proxy()
        .add(
            Rule.always(
                Match.operation("DELETE").and(Match.pathContains(Manifests.FOLDER)),
                Fault.Answer.s3(403, "AccessDenied")));
    time.sleep(OldManifests.KEPT.plusMinutes(1));
    DatasetFile another = unlisted("c");
    lake.client().createMultipartUpload(create -> create.bucket(lake.bucket()).key(another.path()));
    time.sleep(Duration.ofHours(25));

    assertThatThrownBy(dataset::repair)
        .isInstanceOf(StoreRefusedException.class)
        .hasMessageContaining("s3:DeleteObject");

    assertThat(lake.listed()).hasSize(3).contains(another);
    assertThat(lake.uploads()).isEmpty();
  }

  @Test
  void allThatMustNotBeDone_isTold() throws InterruptedException {
    HastyTime time = new HastyTime();
    Dataset dataset = lake.dataset(time);
    Manifests manifests = new Manifests(lake.client(), lake.bucket(), "");
    DatasetFile unlisted = unlisted("a");
    manifests.write(unlisted.partition(), List.of(ListedFile.of(unlisted)));
    dataset.repair();
    lake.proxy()
        .add(
            Rule.always(
                Match.operation("DELETE").and(Match.pathContains(Manifests.FOLDER)),
                Fault.Answer.s3(403, "AccessDenied")));
    lake.proxy()
        .add(
            Rule.always(
                Match.operation("GET").and(Match.pathContains("uploads")),
                Fault.Answer.s3(403, "AccessDenied")));
    time.sleep(OldManifests.KEPT.plusMinutes(1));

    try (Warnings warnings = new Warnings(Dataset.class)) {
      assertThatThrownBy(dataset::repair)
          .isInstanceOf(StoreRefusedException.class)
          .hasMessageContaining("s3:DeleteObject")
          .satisfies(
              first ->
                  assertThat(first.getSuppressed())
                      .singleElement(THROWABLE)
                      .hasMessageContaining("s3:ListBucketMultipartUploads"));

      assertThat(warnings.with(lake.bucket()))
          .singleElement(STRING)
          .contains("s3:ListBucketMultipartUploads");
    }
  }

  @Test
  void storeThatDoesNotAnswer_isUnavailable() {
    lake.proxy().add(Rule.always(LISTING, Fault.Answer.s3(503, "SlowDown")));

    assertThatThrownBy(dataset::repair).isInstanceOf(StoreUnavailableException.class);
  }

  @Test
  void refusalOfTheBucket_namesTheRemedy() {
    lake.proxy().add(Rule.always(LISTING, Fault.Answer.s3(403, "AccessDenied")));

    assertThatThrownBy(dataset::repair)
        .isInstanceOf(StoreRefusedException.class)
        .hasMessageContaining("s3:ListBucket and s3:ListBucketMultipartUploads");
  }
}
