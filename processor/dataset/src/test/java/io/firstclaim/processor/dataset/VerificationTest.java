package io.firstclaim.processor.dataset;

import static io.firstclaim.processor.dataset.Verification.Fault.LISTED_TWICE;
import static io.firstclaim.processor.dataset.Verification.Fault.UNREADABLE_MANIFEST;
import static io.firstclaim.processor.dataset.Verification.Fault.WITHOUT_ENTRY;
import static io.firstclaim.processor.dataset.Verification.Fault.WITHOUT_FILE;
import static io.firstclaim.processor.dataset.Verification.Fault.WRONG_HASH;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.firstclaim.lock.Moment;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.testkit.fault.Fault;
import io.firstclaim.lock.testkit.fault.Match;
import io.firstclaim.lock.testkit.fault.Rule;
import io.firstclaim.processor.dataset.Verification.Discrepancy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.core.sync.RequestBody;

/** What readers of the dataset see, and what is told of a dataset that is not right. */
class VerificationTest {
  private static final Duration TIME = Duration.ofMinutes(5);
  private static final long DAY = Duration.ofDays(1).toMillis();

  private final LocalLake lake = new LocalLake();
  private final Dataset dataset = lake.dataset();
  private final DatasetReader reader = new DatasetReader(lake.client(), lake.bucket(), "");

  @AfterEach
  void close() {
    lake.close();
  }

  private DatasetFile store(String id, int day) throws InterruptedException {
    byte[] value = id.getBytes(UTF_8);
    return switch (dataset.store("orders", day * DAY, RecordId.of(id), value, () -> {})) {
      case StoreResult.Listed(DatasetFile file) -> file;
      case StoreResult.Rejected(String cause) -> throw new AssertionError(cause);
    };
  }

  private List<Discrepancy> findings() throws InterruptedException {
    List<Discrepancy> findings = new ArrayList<>();
    new Verification(lake.client(), lake.bucket(), "", Duration.ZERO, TimeSource.system())
        .run(findings::add);
    return findings;
  }

  private List<DatasetFile> read(@Nullable String first, @Nullable String last)
      throws InterruptedException {
    List<DatasetFile> files = new ArrayList<>();
    reader.snapshot().forEach(first, last, one -> files.add(one.file()));
    return files;
  }

  @Test
  void bucketThatIsEmpty_isRight_andHasNoFiles() throws InterruptedException {
    assertThat(findings()).isEmpty();
    assertThat(read(null, null)).isEmpty();
  }

  @Test
  void datasetThatIsRight_hasNoFindings() throws InterruptedException {
    store("a", 0);
    store("b", 1);

    assertThat(findings()).isEmpty();
  }

  @Test
  void partitionRange_isThatOfDays_orOfWhatTheyBeginWith() throws InterruptedException {
    DatasetFile first = store("a", 0);
    DatasetFile second = store("b", 1);
    DatasetFile february = store("c", 31);

    String january = "datasets/orders/year=1970/month=01";
    assertThat(read(null, null)).containsExactly(first, second, february);
    assertThat(read(null, january)).containsExactly(first, second);
    assertThat(read(null, january + "/")).containsExactly(first, second);
    assertThat(read(january + "/", null)).containsExactly(first, second, february);
    assertThat(read(january + "/day=02", null)).containsExactly(second, february);
    assertThat(read(second.partition(), second.partition())).containsExactly(second);
  }

  @Test
  void snapshot_staysAsItWas_whileOthersWriteAndMerge() throws InterruptedException {
    DatasetFile file = store("a", 0);
    DatasetReader.Snapshot before = reader.snapshot();
    for (int i = 0; i < Merges.MANY; i++) {
      store("more-" + i, 0);
    }
    dataset.merge();
    dataset.repair();

    List<DatasetFile> seen = new ArrayList<>();
    before.forEach(null, null, one -> seen.add(one.file()));

    assertThat(seen).containsExactly(file);
    assertThat(before.files()).isEqualTo(1);
    assertThat(before.bytes()).isEqualTo(1);
  }

  @Test
  void fileWithoutEntry_isTold() throws InterruptedException {
    store("a", 0);
    DatasetFile stray = DatasetFile.of("orders", 0, RecordId.of("b"), 1);
    DatasetFile elsewhere = DatasetFile.of("other", 0, RecordId.of("b"), 1);
    lake.put(stray.path(), new byte[1]);
    lake.put(elsewhere.path(), new byte[1]);

    assertThat(findings())
        .containsExactly(
            new Discrepancy(WITHOUT_ENTRY, stray.path()),
            new Discrepancy(WITHOUT_ENTRY, elsewhere.path()));
  }

  @Test
  void fileThatIsListedSoonAfterItWasWritten_isNotTold() throws InterruptedException {
    store("a", 0);
    Duration given = Duration.ofMinutes(2);
    Moment written = TimeSource.system().now();
    DatasetFile inFlight = DatasetFile.of("orders", 0, RecordId.of("b"), 1);
    lake.put(inFlight.path(), new byte[1]);
    HastyTime time =
        new HastyTime(
            sleep -> {
              if (sleep == 3) {
                dataset.store("orders", 0, RecordId.of("b"), new byte[1], () -> {});
              }
            });
    List<Discrepancy> findings = new ArrayList<>();
    DatasetFile stray = DatasetFile.of("stray", 0, RecordId.of("b"), 1);
    lake.put(stray.path(), new byte[1]);

    new Verification(lake.client(), lake.bucket(), "", given, time).run(findings::add);

    assertThat(findings).containsExactly(new Discrepancy(WITHOUT_ENTRY, stray.path()));
    Duration took = TimeSource.system().now().since(written).plusSeconds(1); // the store's second
    assertThat(time.slept().plus(took))
        .as("the stray one was given its time")
        .isGreaterThanOrEqualTo(given);
  }

  @Test
  void datasetThatIsWrittenMeanwhile_hasNoFindings() throws Exception {
    Dataset writer = lake.dataset(Duration.ofMillis(200));
    AtomicBoolean isOver = new AtomicBoolean();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<Integer>> writes = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        int thread = i;
        writes.add(
            threads.submit(
                () -> {
                  int written = 0;
                  do {
                    RecordId id = RecordId.of(thread + "-" + written++);
                    writer.store("orders", thread % 2 * DAY, id, new byte[1], () -> {});
                  } while (!isOver.get());
                  return written;
                }));
      }
      List<Discrepancy> findings = new ArrayList<>();
      for (int i = 0; i < 5; i++) {
        new Verification(
                lake.client(), lake.bucket(), "", Verification.IN_FLIGHT, TimeSource.system())
            .run(findings::add);
      }
      isOver.set(true);
      for (Future<Integer> one : writes) {
        assertThat(one.get()).isPositive();
      }
      assertThat(findings).isEmpty();
    }
  }

  @Test
  void entryWithoutFile_isTold() throws InterruptedException {
    DatasetFile file = store("a", 0);
    lake.delete(file.path());

    assertThat(findings()).containsExactly(new Discrepancy(WITHOUT_FILE, file.path()));
  }

  @ParameterizedTest
  @ValueSource(strings = {"b", "longer"})
  void otherContent_isTold(String other) throws InterruptedException {
    DatasetFile file = store("a", 0);
    lake.put(file.path(), other.getBytes(UTF_8));

    assertThat(findings()).containsExactly(new Discrepancy(WRONG_HASH, file.path()));
  }

  @Test
  void fileThatIsListedTwice_isTold() throws InterruptedException {
    DatasetFile file = store("a", 0);
    lake.delete(file.path());
    store("a", 0);

    assertThat(findings()).containsExactly(new Discrepancy(LISTED_TWICE, file.path()));
  }

  @Test
  void manifestThatIsNone_isTold_withItsFiles() throws InterruptedException {
    DatasetFile file = store("a", 0);
    String manifest = lake.manifests().getFirst();
    lake.put(manifest, "x".getBytes(UTF_8));

    assertThat(findings())
        .containsExactly(
            new Discrepancy(UNREADABLE_MANIFEST, manifest),
            new Discrepancy(WITHOUT_ENTRY, file.path()));
  }

  @Test
  void whateverIsWrong_isMendedByAThoroughRepair() throws InterruptedException {
    store("a", 0);
    DatasetFile gone = store("b", 0);
    DatasetFile twice = store("c", 1);
    lake.delete(twice.path());
    store("c", 1);
    lake.delete(gone.path());
    lake.put(DatasetFile.of("orders", 0, RecordId.of("d"), 1).path(), new byte[1]);
    assertThat(findings()).hasSize(3);

    dataset.repairThoroughly();

    assertThat(findings()).isEmpty();
  }

  /** As the document says who means to store another content of a record; without the repair. */
  private DatasetFile storeAnother(DatasetFile file) throws InterruptedException {
    lake.delete(file.path());
    byte[] other = {'x'};
    assertThat(dataset.store("orders", 0, RecordId.of("a"), other, () -> {}))
        .isEqualTo(new StoreResult.Listed(file));
    return file;
  }

  private List<ListedFile> entries() throws InterruptedException {
    List<ListedFile> entries = new ArrayList<>();
    reader.snapshot().forEach(null, null, entries::add);
    return entries;
  }

  private void assertListedAsItIsNow(DatasetFile file) throws InterruptedException {
    assertThat(findings()).isEmpty();
    String sha256 = DatasetObjects.sha256(new byte[] {'x'});
    assertThat(entries()).contains(new ListedFile(file, sha256, "a", Instant.EPOCH));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void fileWithAnotherContentThanItsFirstEntry_isMendedByARepair(boolean isThorough)
      throws InterruptedException {
    DatasetFile file = storeAnother(store("a", 0));

    var _ = isThorough ? dataset.repairThoroughly() : dataset.repair();

    assertListedAsItIsNow(file);
  }

  @Test
  void entryWithAHashThatTheFileHasNoMore_isMendedByAThoroughRepair() throws InterruptedException {
    DatasetFile file = store("a", 0);
    lake.delete(file.path());
    lake.client()
        .putObject(
            put ->
                put.bucket(lake.bucket())
                    .key(file.path())
                    .metadata(Map.of("firstclaim-sha256", DatasetObjects.sha256(new byte[] {'x'}))),
            RequestBody.fromString("x"));
    assertThat(findings()).containsExactly(new Discrepancy(WRONG_HASH, file.path()));

    dataset.repairThoroughly();

    assertThat(findings()).isEmpty();
  }

  @Test
  void fileThatIsListedTwice_isListedAsItIs_afterAMerge() throws InterruptedException {
    DatasetFile file = storeAnother(store("a", 0));
    for (int i = 0; i < Merges.MANY; i++) {
      store("more-" + i, 0);
    }

    await()
        .atMost(TIME)
        .until(() -> lake.root().manifests(file.partition()).size() < Merges.MANY / 2);

    assertListedAsItIsNow(file);
  }

  @Test
  void rootIsReadOnce_forAllPartitionsThatAreRight() throws InterruptedException {
    for (int day = 0; day < 20; day++) {
      store("id-" + day, day);
    }
    Rule reads = lake.countReadsOfTheRoot();
    List<Discrepancy> findings = new ArrayList<>();

    new Verification(lake.proxied(), lake.bucket(), "", Duration.ZERO, new HastyTime())
        .run(findings::add);

    assertThat(findings).isEmpty();
    assertThat(reads.hits()).isEqualTo(1);
  }

  @Test
  void rootIsReadAgain_onceItIsOld() throws InterruptedException {
    DatasetFile first = store("a", 0);
    DatasetFile gone = store("b", 1);
    HastyTime time = new HastyTime();
    List<Discrepancy> findings = new ArrayList<>();
    lake.proxy()
        .add(
            Rule.once(
                Match.operation("GET")
                    .and(Match.pathContains(first.name()))
                    .and(_ -> repair(gone, time)),
                new Fault.DelayRequest(Duration.ZERO)));

    new Verification(lake.proxied(), lake.bucket(), "", Duration.ZERO, time).run(findings::add);

    assertThat(findings).isEmpty();
  }

  /** While a file of the first day is read, one of the second is taken away, as is its entry. */
  private boolean repair(DatasetFile gone, HastyTime time) {
    try {
      lake.delete(gone.path());
      assertThat(dataset.repair()).contains(new Repair(0, 1, 0));
      time.sleep(Duration.ofHours(1));
      return true;
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void answerThatBreaksOff_isAskedForAgain() throws Exception {
    store("a", 0);
    Rule broken =
        lake.proxy()
            .add(
                Rule.once(
                    Match.operation("GET").and(Match.pathContains("/datasets/orders/")),
                    new Fault.BreakOff()));
    List<Discrepancy> findings = new ArrayList<>();

    new Verification(lake.proxied(), lake.bucket(), "", Duration.ZERO, TimeSource.system())
        .run(findings::add);

    assertThat(broken.hits()).isEqualTo(1);
    assertThat(findings).isEmpty();
  }

  @Test
  void registryOfVersionOne_isReadToo() throws InterruptedException {
    DatasetFile file = store("a", 0);
    lake.put(
        RootObject.PATH,
        "{\"partitions\":{\"%s\":{\"sizes\":{\"%s\":1}}}}"
            .formatted(file.partition(), file.name())
            .getBytes(UTF_8));

    assertThat(read(null, null)).containsExactly(file);
    assertThat(findings()).isEmpty();
  }
}
