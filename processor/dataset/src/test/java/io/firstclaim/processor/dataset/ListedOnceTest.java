package io.firstclaim.processor.dataset;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.firstclaim.lock.Moment;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.testkit.fault.Fault;
import io.firstclaim.lock.testkit.fault.Match;
import io.firstclaim.lock.testkit.fault.Request;
import io.firstclaim.lock.testkit.fault.Rule;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.core.sync.RequestBody;

/** Each file is listed once, whoever writes it, finds it, or comes late. */
class ListedOnceTest {
  private static final Duration TIME = Duration.ofMinutes(5);

  private final LocalLake lake = new LocalLake();

  @AfterEach
  void close() {
    lake.close();
  }

  private static DatasetFile store(Dataset dataset, String id) throws InterruptedException {
    return switch (dataset.store("orders", 0, RecordId.of(id), new byte[3], () -> {})) {
      case StoreResult.Listed(DatasetFile file) -> file;
      case StoreResult.Rejected(String cause) -> throw new AssertionError(cause);
    };
  }

  @Test
  void recordThatComesAgain_isNotListedAgain() throws InterruptedException {
    DatasetFile file = store(lake.dataset(), "a");

    assertThat(store(lake.dataset(), "a")).isEqualTo(file);

    assertThat(lake.listed()).containsExactly(file);
    assertThat(lake.root().files()).isEqualTo(1);
  }

  /**
   * Has a first instance store a file, which has written its object when it is held up at writing
   * this; does the other thing meanwhile.
   */
  private DatasetFile storeWhile(String written, CheckedAction meanwhile) throws Exception {
    Dataset first = lake.dataset();
    store(first, "before"); // so that it has seen a root
    CountDownLatch goOn = new CountDownLatch(1);
    Predicate<Request> write = Match.operation("PUT").and(Match.pathContains(written));
    Rule held = lake.proxy().add(Rule.once(write.and(_ -> passes(goOn)), new Fault.Refuse()));
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<DatasetFile> late = threads.submit(() -> store(first, "a"));
      await().atMost(TIME).until(() -> lake.keys().size() == 2);
      await().atMost(TIME).until(() -> isHeld);
      meanwhile.run();
      goOn.countDown();
      DatasetFile file = late.get(TIME.toSeconds(), TimeUnit.SECONDS);
      lake.proxy().remove(held);
      return file;
    }
  }

  private volatile boolean isHeld;

  private boolean passes(CountDownLatch goOn) {
    if (isHeld) {
      return false; // a write of the other instance
    }
    isHeld = true;
    try {
      return !goOn.await(TIME.toSeconds(), TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private interface CheckedAction {
    void run() throws Exception;
  }

  @ParameterizedTest
  @ValueSource(strings = {Manifests.FOLDER, RootObject.PATH})
  void fileThatARepairListsBeforeItsWriterDoes_isListedOnce(String held) throws Exception {
    DatasetFile file =
        storeWhile(held, () -> assertThat(lake.dataset().repair()).contains(new Repair(1, 0, 0)));

    assertThat(lake.listed()).hasSize(2).containsOnlyOnce(file);
  }

  @ParameterizedTest
  @ValueSource(strings = {Manifests.FOLDER, RootObject.PATH})
  void fileThatTheNextAttemptListsBeforeAPausedOneDoes_isListedOnce(String held) throws Exception {
    DatasetFile file = storeWhile(held, () -> store(lake.dataset(), "a"));

    assertThat(lake.listed()).hasSize(2).containsOnlyOnce(file);
  }

  @ParameterizedTest
  @ValueSource(strings = {Manifests.FOLDER, RootObject.PATH})
  void fileThatIsListedInARootMadeAnew_whereTheClockIsBehind_isListedOnce(String held)
      throws Exception {
    DatasetFile file =
        storeWhile(
            held,
            () -> {
              lake.delete(RootObject.PATH);
              assertThat(lake.datasetAhead(Duration.ofDays(-1)).repair())
                  .contains(new Repair(2, 0, 0));
            });

    assertThat(lake.listed()).hasSize(2).containsOnlyOnce(file);
  }

  @Test
  void fileThatIsListedTwice_isTakenOffOnceByARepair() throws InterruptedException {
    Dataset dataset = lake.dataset();
    DatasetFile file = store(dataset, "a");
    lake.delete(file.path());
    store(dataset, "a"); // written anew, while its entry was there still
    assertThat(lake.listed()).containsExactly(file, file);

    dataset.repair();

    assertThat(lake.listed()).containsExactly(file);
  }

  /** Entries that know nothing, as of a registry of version 1, or little, as of a repair. */
  private static Stream<ListedFile> poorEntries() {
    DatasetFile file = DatasetFile.of("orders", 0, RecordId.of("a"), 3);
    String sha256 = DatasetObjects.sha256(new byte[3]);
    return Stream.of(ListedFile.of(file), new ListedFile(file, sha256, null, null));
  }

  /** Has the root list this as the first of its partition, by a manifest of its own. */
  private void list(ListedFile entry) throws InterruptedException {
    Manifests manifests = new Manifests(lake.client(), lake.bucket(), "");
    String partition = entry.file().partition();
    List<Manifest> come = manifests.write(partition, List.of(entry));
    lake.root(manifests).update(before -> before.with(partition, List.of(), come, Instant.EPOCH));
  }

  private List<ListedFile> entries(DatasetFile file) throws InterruptedException {
    List<ListedFile> entries = new ArrayList<>();
    new DatasetReader(lake.client(), lake.bucket(), "")
        .snapshot()
        .forEach(null, null, entries::add);
    entries.removeIf(one -> !one.file().equals(file));
    return entries;
  }

  private static ListedFile full(DatasetFile file) {
    return new ListedFile(file, DatasetObjects.sha256(new byte[3]), "a", Instant.EPOCH);
  }

  @ParameterizedTest
  @MethodSource("poorEntries")
  void ofTwoEntries_aRepairKeepsTheOneThatSaysMore(ListedFile poor) throws InterruptedException {
    Dataset dataset = lake.dataset();
    list(poor); // and its object is deleted
    DatasetFile file = store(dataset, "a");
    assertThat(entries(file)).containsExactly(poor, full(file));

    dataset.repair();

    assertThat(entries(file)).containsExactly(full(file));
  }

  @ParameterizedTest
  @MethodSource("poorEntries")
  void ofTwoEntries_aMergeKeepsTheOneThatSaysMore(ListedFile poor) throws InterruptedException {
    Dataset dataset = lake.dataset();
    list(poor);
    DatasetFile file = store(dataset, "a");
    for (int i = 1; i < Merges.MANY; i++) {
      DatasetFile other = DatasetFile.of("orders", 0, RecordId.of("other-" + i), 3);
      lake.put(other.path(), new byte[3]);
      list(ListedFile.of(other));
    }

    assertThat(dataset.merge()).isTrue();

    assertThat(entries(file)).containsExactly(full(file));
    assertThat(lake.root().manifests(file.partition())).hasSizeLessThan(Merges.MANY);
    assertThat(lake.listed()).hasSize(Merges.MANY).doesNotHaveDuplicates();
  }

  @Test
  void ofTwoEntries_theOneOfAnotherContentIsNotKept_thoughItSaysMore() throws InterruptedException {
    DatasetFile file = DatasetFile.of("orders", 0, RecordId.of("a"), 3);
    String earlier = DatasetObjects.sha256(new byte[] {1, 2, 3});
    list(new ListedFile(file, earlier, "a", Instant.EPOCH));
    list(ListedFile.of(file));
    lake.client()
        .putObject(
            put ->
                put.bucket(lake.bucket())
                    .key(file.path())
                    .metadata(
                        Map.of("firstclaim-sha256", DatasetObjects.sha256(new byte[] {4, 5, 6}))),
            RequestBody.fromBytes(new byte[] {4, 5, 6}));

    lake.dataset().repair();

    assertThat(entries(file)).containsExactly(ListedFile.of(file));
  }

  @Test
  void manifests_areReadOnce_howeverOftenOthersAreFasterToWriteTheRoot()
      throws InterruptedException {
    Dataset dataset = lake.dataset();
    DatasetFile file = store(dataset, "a");
    for (int i = 0; i < 4; i++) {
      store(dataset, "more-" + i);
    }
    Rule reads = lake.countReadsOfManifests();
    lake.refuseRoots(3);
    DatasetFile stray = DatasetFile.of("orders", 0, RecordId.of("stray"), 3);
    lake.put(stray.path(), new byte[3]);

    assertThat(store(dataset, "stray")).isEqualTo(stray);

    assertThat(reads.hits()).isEqualTo(5);
    assertThat(lake.listed()).hasSize(6).contains(file, stray);
  }

  @Test
  void manifests_areReadNoMore_onceThisInstanceHasSeenThatAnEarlierRootWasPutBack()
      throws InterruptedException {
    Dataset dataset = lake.dataset();
    store(dataset, "a");
    byte[] early = lake.body(RootObject.PATH);
    for (int i = 0; i < 5; i++) {
      store(dataset, "more-" + i);
    }
    lake.put(RootObject.PATH, early);
    store(dataset, "first");
    Rule reads = lake.countReadsOfManifests();

    store(dataset, "second");
    store(dataset, "third");

    assertThat(reads.hits()).isZero();
    assertThat(lake.listed()).hasSize(4).doesNotHaveDuplicates();
  }

  @Test
  void manifestsOfASuspendedMachine_areWrittenAgain_asTheyMayBeGone() throws InterruptedException {
    Manifests manifests = new Manifests(lake.client(), lake.bucket(), "");
    AtomicReference<Moment> now = new AtomicReference<>(new Moment(Instant.EPOCH, 0));
    ListedFile file = ListedFile.of(DatasetFile.of("orders", 0, RecordId.of("a"), 3));
    Flush flush = new Flush(List.of(new Addition(file, false, 0)), manifests, now::get);
    Root root = Root.empty(Instant.EPOCH);
    List<Manifest> first = flush.apply(root).manifests(file.file().partition());
    assertThat(flush.apply(root).manifests(file.file().partition())).isEqualTo(first);

    now.set(new Moment(Instant.EPOCH.plus(OldManifests.KEPT), 0)); // its ticks stood still

    assertThat(flush.apply(root).manifests(file.file().partition())).isNotEqualTo(first);
  }

  @Test
  void entry_hasHashIdAndTime() throws InterruptedException {
    store(lake.dataset(), "a");

    assertThat(lake.body(lake.manifests().getFirst()))
        .asString(UTF_8)
        .contains("\"sha256\":\"" + DatasetObjects.sha256(new byte[3]) + "\"")
        .contains("\"id\":\"a\"")
        .contains("\"timestamp\":\"1970-01-01T00:00:00Z\"");
  }
}
