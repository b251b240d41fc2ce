package io.firstclaim.processor.dataset;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.lock.mutex.Mutex;
import io.firstclaim.lock.s3.S3DocumentStore;
import io.firstclaim.lock.testkit.fault.Fault;
import io.firstclaim.lock.testkit.fault.Match;
import io.firstclaim.lock.testkit.fault.Request;
import io.firstclaim.lock.testkit.fault.Rule;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MergesTest {
  private static final Duration TIME = Duration.ofMinutes(5);
  private static final String ORDERS = "datasets/orders/year=1970/month=01/day=01";

  private final AtomicReference<Duration> ahead = new AtomicReference<>(Duration.ZERO);
  private final AtomicReference<Duration> suspended = new AtomicReference<>(Duration.ZERO);
  private final LocalLake lake = new LocalLake();
  private final Dataset dataset =
      lake.dataset(
          () -> {
            Moment now = TimeSource.system().now();
            return new Moment(
                now.wall().plus(ahead.get()).plus(suspended.get()),
                now.ticks() + ahead.get().toNanos());
          });

  @AfterEach
  void close() {
    lake.close();
  }

  private DatasetFile store(String id) throws InterruptedException {
    return switch (dataset.store("orders", 0, RecordId.of(id), new byte[3], () -> {})) {
      case StoreResult.Listed(DatasetFile file) -> file;
      case StoreResult.Rejected(String cause) -> throw new AssertionError(cause);
    };
  }

  private List<DatasetFile> storeMany(int files) throws InterruptedException {
    List<DatasetFile> stored = new ArrayList<>();
    for (int i = 0; i < files; i++) {
      stored.add(store("id-" + i)); // one after the other, so each with a manifest
    }
    return stored;
  }

  private void awaitMerged() {
    await().atMost(TIME).until(() -> lake.root().manifests(ORDERS).size() < Merges.MANY / 2);
  }

  @Test
  void manyManifests_becomeOne_thatListsTheSame() throws InterruptedException {
    List<DatasetFile> stored = storeMany(Merges.MANY);

    awaitMerged();

    assertThat(lake.listed()).containsExactlyInAnyOrderElementsOf(stored);
    assertThat(lake.root().files()).isEqualTo(stored.size());
    assertThat(lake.root().bytes()).isEqualTo(3L * stored.size());
  }

  @Test
  void mergedManifests_areKeptForAWhile_andThenRemoved() throws InterruptedException {
    List<DatasetFile> stored = storeMany(Merges.MANY);
    awaitMerged();
    int all = lake.manifests().size();

    dataset.repair();
    ahead.set(OldManifests.KEPT.minusMinutes(1));
    dataset.repair();

    assertThat(lake.manifests()).as("while somebody may read them").hasSize(all);

    ahead.set(OldManifests.KEPT.plusMinutes(1));
    dataset.repair();

    assertThat(lake.manifests()).hasSameSizeAs(lake.root().manifests(ORDERS));
    assertThat(lake.listed()).containsExactlyInAnyOrderElementsOf(stored);
  }

  @Test
  void manifestThatNoRootNames_asItsWriterDied_isRemovedInTheEnd() throws InterruptedException {
    DatasetFile file = store("a");
    String orphan = Manifests.path(ORDERS, "%032x".formatted(7));
    lake.put(orphan, ManifestText.of(ORDERS, List.of()));
    lake.proxy()
        .add(
            Rule.always(
                Match.operation("DELETE").and(Predicate.not(Match.header("If-Match"))),
                Fault.Answer.s3(403, "AccessDenied"))); // as a policy of the bucket may

    dataset.repair();
    ahead.set(OldManifests.KEPT.plusMinutes(1));
    dataset.repair();

    assertThat(lake.manifests()).hasSize(1).doesNotContain(orphan);
    assertThat(lake.listed()).containsExactly(file);
  }

  @Test
  void removalOfAManifest_whoseAnswerIsLost_orThatAnotherHasReplaced_isNoFault()
      throws InterruptedException {
    store("a");
    String name = "%032x".formatted(7);
    String orphan = Manifests.path(ORDERS, name);
    byte[] replaced = ManifestText.of(ORDERS, List.of());
    lake.put(orphan, replaced);
    lake.put(Manifests.path(ORDERS, "%032x".formatted(8)), replaced);
    Predicate<Request> removal = Match.operation("DELETE").and(Match.pathContains("/manifests/"));
    lake.proxy()
        .add(
            Rule.once(
                removal.and(Match.pathContains(name)), Fault.Answer.s3(412, "PreconditionFailed")));
    lake.proxy().add(Rule.once(removal, new Fault.ResetAfterApply()));

    dataset.repair();
    ahead.set(OldManifests.KEPT.plusMinutes(1));
    dataset.repair();

    assertThat(lake.manifests()).hasSize(2).contains(orphan);
  }

  @Test
  void mergeWhoseSwapIsLost_losesNothing() throws InterruptedException {
    List<DatasetFile> stored = storeMany(Merges.MANY - 1);
    lake.proxy()
        .add(
            Rule.once(
                Match.operation("PUT").and(Match.pathContains(RootObject.PATH)),
                new Fault.ResetAfterApply()));
    stored.add(store("last"));

    awaitMerged();

    assertThat(lake.listed()).containsExactlyInAnyOrderElementsOf(stored);
  }

  @ParameterizedTest
  @ValueSource(strings = {"missing", "empty", "not JSON", "truncated", "another's"})
  void manifestThatIsNone_isMadeAnew_byWhoeverNeedsIt(String damage) throws InterruptedException {
    List<DatasetFile> stored = storeMany(3);
    String manifest = lake.manifests().getFirst();
    byte[] right = lake.body(manifest);
    switch (damage) {
      case "missing" -> lake.delete(manifest);
      case "empty" -> lake.put(manifest, new byte[0]);
      case "not JSON" -> lake.put(manifest, new byte[] {'x'});
      case "truncated" -> lake.put(manifest, Arrays.copyOf(right, right.length / 2));
      default -> lake.put(manifest, lake.body(lake.manifests().getLast()));
    }

    for (DatasetFile each : stored) { // whoever finds its file reads what may list it
      assertThat(store("id-" + stored.indexOf(each))).isEqualTo(each);
    }

    assertThat(lake.listed()).containsExactlyInAnyOrderElementsOf(stored);
  }

  @Test
  void partitionsWithADamagedManifest_keepNoOtherFromBeingMerged() throws InterruptedException {
    List<DatasetFile> stored = storeMany(Merges.MANY - 1);
    lake.put(lake.manifests().getFirst(), new byte[] {'x'});
    stored.add(store("last"));

    awaitMerged();

    assertThat(lake.listed()).containsExactlyInAnyOrderElementsOf(stored);
  }

  /** What was written before the machine slept, and is to be named after it, may be gone. */
  @Test
  void mergeOnAMachineThatIsSuspended_namesNothingThatWasWrittenBefore() throws Exception {
    List<DatasetFile> stored = storeMany(Merges.MANY - 1);
    stored.add(unlistedManifest());
    List<String> atFirst = lake.manifests();
    List<String> written = new ArrayList<>();
    lake.proxy()
        .add(
            Rule.times(
                1,
                Match.operation("PUT")
                    .and(Match.pathContains(RootObject.PATH))
                    .and(_ -> suspend(written)),
                Fault.Answer.s3(412, "PreconditionFailed")));

    dataset.merge();

    written.removeAll(atFirst);
    assertThat(written).isNotEmpty();
    assertThat(
            lake.root().manifests(ORDERS).stream().map(one -> Manifests.path(ORDERS, one.name())))
        .doesNotContainAnyElementsOf(written);
    assertThat(lake.listed()).containsExactlyInAnyOrderElementsOf(stored);
  }

  private boolean suspend(List<String> written) {
    if (suspended.get().isZero()) { // what is written after it may well be listed
      written.addAll(lake.manifests());
      suspended.set(OldManifests.KEPT);
    }
    return true;
  }

  /** One more file and its manifest, without the merge that would follow. */
  private DatasetFile unlistedManifest() throws InterruptedException {
    DatasetFile last = DatasetFile.of("orders", 0, RecordId.of("last"), 3);
    lake.put(last.path(), new byte[3]);
    Manifests manifests = new Manifests(lake.client(), lake.bucket(), "");
    List<Manifest> come = manifests.write(ORDERS, List.of(ListedFile.of(last)));
    lake.root(manifests).update(before -> before.with(ORDERS, List.of(), come, Instant.EPOCH));
    return last;
  }

  @Test
  void twoMergesAtOnce_asTheMutexOfOneHasRunOut_loseNothing() throws Exception {
    List<DatasetFile> stored = storeMany(Merges.MANY - 1);
    Manifests manifests = new Manifests(lake.client(), lake.bucket(), "");
    SharedRoot root = lake.root(manifests);
    List<Merges> both = new ArrayList<>();
    for (String each : List.of("one", "other")) {
      ClaimStore claims =
          new MemoryClaimStore(ClaimSettings.of("merges", each), TimeSource.system());
      Mutex mutex = new Mutex(claims, RecordId.of("merge"), TimeSource.system());
      both.add(new Merges(root, manifests, _ -> Repair.NONE, mutex, TimeSource.system()));
    }
    stored.add(unlistedManifest());

    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Callable<Boolean>> merging = new ArrayList<>();
      both.forEach(each -> merging.add(each::mergeAll));
      for (Future<Boolean> one : threads.invokeAll(merging)) {
        assertThat(one.get()).isTrue();
      }
    }

    assertThat(lake.root().manifests(ORDERS)).hasSizeLessThan(Merges.MANY);
    assertThat(lake.listed()).containsExactlyInAnyOrderElementsOf(stored);
  }

  @Test
  void manifestsOfAMerge_areReadSeveralAtOnce() throws Exception {
    List<DatasetFile> stored = storeMany(Merges.MANY - 1);
    stored.add(unlistedManifest());
    AtomicInteger underWay = new AtomicInteger();
    CountDownLatch goOn = new CountDownLatch(1);
    lake.proxy()
        .add(
            Rule.always(
                Match.operation("GET")
                    .and(Match.pathContains(Manifests.FOLDER))
                    .and(_ -> passes(underWay, goOn)),
                new Fault.Refuse()));

    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<Boolean> merging = threads.submit(dataset::merge);
      await().atMost(TIME).until(() -> underWay.get() > 1);
      goOn.countDown();
      assertThat(merging.get()).isTrue();
    }

    assertThat(lake.listed()).containsExactlyInAnyOrderElementsOf(stored);
  }

  /** Counts a request, and holds it until it may go on. */
  private static boolean passes(AtomicInteger underWay, CountDownLatch goOn) {
    underWay.incrementAndGet();
    try {
      return !goOn.await(TIME.toSeconds(), TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void rootThatIsFull_isMerged_andThenFilesAreListedAgain() throws InterruptedException {
    storeMany(Merges.MANY - 1);
    DatasetFile _ = unlistedManifest();
    fillTheRoot();

    assertThatThrownBy(() -> store("late"))
        .isInstanceOf(StoreRefusedException.class)
        .hasMessageContaining("the root of the dataset is full")
        .hasMessageContaining("%d manifests are still to be merged".formatted(Merges.MANY));

    awaitMerged();
    DatasetFile late = store("late");
    assertThat(lake.root().partitions().get(late.partition()))
        .extracting(Root.Partition::files)
        .isEqualTo(Merges.MANY + 1L);
  }

  /** Until it has no room for one manifest more: with those of another day, which are full. */
  private void fillTheRoot() throws InterruptedException {
    SharedRoot root = lake.root(new Manifests(lake.client(), lake.bucket(), ""));
    Root small = lake.root();
    int one = RootText.of(withFull(small, 1)).length();
    int line = RootText.of(withFull(small, 2)).length() - one;
    int fit = (S3DocumentStore.MAX_BYTES - one) / line - 10;
    boolean isFull = false;
    for (int more = 0; !isFull; more++) {
      int full = fit + more;
      try {
        var _ =
            root.update(
                before ->
                    new Root(
                        before.version(), before.updatedAt(), withFull(small, full).partitions()));
      } catch (StoreRefusedException e) {
        assertThat(e).hasMessageContaining("the root of the dataset is full");
        isFull = true;
      }
    }
  }

  private static Root withFull(Root root, int manifests) {
    String partition = "datasets/orders/year=1970/month=01/day=02";
    List<Manifest> full =
        IntStream.range(0, manifests)
            .mapToObj(i -> new Manifest("%032x".formatted(i), Manifests.FULL, Manifests.FULL, 1, 0))
            .toList();
    return root.with(partition, List.of(), full, Instant.EPOCH);
  }

  /** The first time that a merge asks for is an error, and its pauses take no time. */
  private static final class FailingTime implements TimeSource {
    private final AtomicBoolean fails = new AtomicBoolean(true);
    private final Queue<Duration> pauses = new ConcurrentLinkedQueue<>();

    @Override
    public Moment now() {
      if (isOfAMerge() && fails.getAndSet(false)) {
        throw new NoClassDefFoundError("by the test");
      }
      return TimeSource.system().now();
    }

    @Override
    public void sleep(Duration duration) throws InterruptedException {
      if (isOfAMerge()) {
        pauses.add(duration);
      } else {
        TimeSource.system().sleep(duration);
      }
    }

    private static boolean isOfAMerge() {
      return Thread.currentThread().getName().equals("dataset-merge");
    }
  }

  @Test
  void errorInAMerge_endsNoMoreThanThisOne_andTheNextComesAfterAPause() {
    FailingTime time = new FailingTime();
    Dataset dataset = lake.dataset(time);
    AtomicInteger stored = new AtomicInteger();

    await()
        .atMost(TIME)
        .until(
            () -> {
              RecordId id = RecordId.of("id-" + stored.incrementAndGet());
              var _ = dataset.store("orders", 0, id, new byte[3], () -> {});
              return stored.get() > Merges.MANY
                  && lake.root().manifests(ORDERS).size() < Merges.MANY / 2;
            });

    assertThat(time.fails).isFalse();
    assertThat(time.pauses.peek()).isEqualTo(Merges.PAUSE);
    assertThat(lake.listed()).hasSize(stored.get());
  }

  @Test
  void manifestThatIsDamaged_isMendedByAThoroughRepair() throws InterruptedException {
    List<DatasetFile> stored = storeMany(3);
    lake.put(lake.manifests().getFirst(), new byte[] {'x'});

    assertThat(dataset.repair()).contains(new Repair(0, 0, 0));
    assertThat(dataset.repairThoroughly()).contains(new Repair(1, 0, 0));

    assertThat(lake.listed()).containsExactlyInAnyOrderElementsOf(stored);
  }

  private static Root rootWith(int partitions, int manifests, long files) {
    Root root = Root.empty(Instant.EPOCH);
    for (int p = 0; p < partitions; p++) {
      int number = p;
      root =
          root.with(
              "datasets/orders/year=2026/month=01/day=%02d".formatted(p),
              List.of(),
              IntStream.range(0, manifests)
                  .mapToObj(
                      i -> new Manifest("%016x%016x".formatted(number, i), files, files, 0, 0))
                  .toList(),
              Instant.EPOCH);
    }
    return root;
  }

  @Test
  void fewManifests_areLeft_andFullOnesForEver() {
    assertThat(Merges.plan(rootWith(10, Merges.MANY - 1, 5))).isEmpty();
    assertThat(Merges.plan(rootWith(10, 100, Manifests.FULL))).isEmpty();
    assertThat(Merges.plan(rootWith(10, Merges.MANY, 5)))
        .get()
        .satisfies(plan -> assertThat(plan.gone()).hasSize(Merges.MANY));
  }

  @Test
  void manyManifestsInAll_areMerged_howeverFewEachPartitionHas() {
    assertThat(Merges.plan(rootWith(60, 20, 5))).isPresent();
  }

  @Test
  void largeManifest_isNotWrittenAgain_forAFewSmallOnes() {
    Root root = rootWith(1, Merges.MANY, 5);
    String partition = root.partitions().firstKey();
    Manifest large = new Manifest("f".repeat(32), 10_000, 1, 0, 0);

    assertThat(Merges.plan(root.with(partition, List.of(), List.of(large), Instant.EPOCH)))
        .get()
        .satisfies(plan -> assertThat(plan.gone()).hasSize(Merges.MANY).doesNotContain(large));
  }
}
