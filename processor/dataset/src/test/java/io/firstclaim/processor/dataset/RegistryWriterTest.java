package io.firstclaim.processor.dataset;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.testkit.fault.Fault;
import io.firstclaim.lock.testkit.fault.Match;
import io.firstclaim.lock.testkit.fault.Request;
import io.firstclaim.lock.testkit.fault.Rule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** How many records share one update of the registry. */
class RegistryWriterTest {
  private static final Duration TIME = Duration.ofMinutes(5);
  private static final int RECORDS = 1_000;
  private static final Duration INTERVAL = Duration.ofSeconds(5);
  private static final Predicate<Request> UPDATE =
      Match.operation("PUT").and(Match.pathContains(RootObject.PATH));

  private final LocalLake lake = new LocalLake();

  @AfterEach
  void close() {
    lake.close();
  }

  private static DatasetFile store(Dataset dataset, int number) throws InterruptedException {
    byte[] value = new byte[number % 100];
    RecordId id = RecordId.of("id-" + number);
    return switch (dataset.store("orders", 0, id, value, () -> {})) {
      case StoreResult.Listed(DatasetFile file) -> file;
      case StoreResult.Rejected(String cause) -> throw new AssertionError(cause);
    };
  }

  @Test
  void recordsOfTwoInstances_areAllListed_withAnUpdateForTwentyFiveAtMost() throws Exception {
    Rule updates = lake.proxy().add(Rule.always(UPDATE, new Fault.DelayRequest(Duration.ZERO)));
    List<Dataset> instances = List.of(lake.dataset(INTERVAL), lake.dataset(INTERVAL));
    Set<DatasetFile> stored = new HashSet<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<DatasetFile>> running = new ArrayList<>();
      for (int i = 0; i < RECORDS; i++) {
        int number = i;
        running.add(threads.submit(() -> store(instances.get(number % 2), number)));
      }
      for (Future<DatasetFile> one : running) {
        stored.add(one.get());
      }
    }

    assertThat(stored).hasSize(RECORDS);
    assertThat(lake.keys()).hasSize(RECORDS);
    assertThat(lake.listed()).containsExactlyInAnyOrderElementsOf(stored);
    assertThat(updates.hits()).isLessThanOrEqualTo(RECORDS / 25);
  }

  @Test
  void recordsThatComeWhileAnUpdateIsWritten_shareTheNext() throws Exception {
    Dataset dataset = lake.dataset();
    AtomicInteger updates = new AtomicInteger();
    CountDownLatch goOn = new CountDownLatch(1);
    lake.proxy().add(Rule.always(UPDATE.and(_ -> passes(updates, goOn)), new Fault.Refuse()));
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<DatasetFile>> running = new ArrayList<>();
      running.add(threads.submit(() -> store(dataset, 0)));
      await().atMost(TIME).until(() -> updates.get() == 1);
      for (int i = 1; i <= 50; i++) {
        int number = i;
        running.add(threads.submit(() -> store(dataset, number)));
      }
      await().atMost(TIME).until(() -> lake.keys().size() == 51);
      goOn.countDown();
      for (Future<DatasetFile> one : running) {
        assertThat(one).succeedsWithin(TIME);
      }
    }

    assertThat(lake.listed()).hasSize(51);
    assertThat(updates.get()).isBetween(2, 3);
  }

  @Test
  void soManyRecordsThatAnUpdateIsWorthwhile_doNotWaitForTheInterval() throws Exception {
    Rule updates = lake.proxy().add(Rule.always(UPDATE, new Fault.DelayRequest(Duration.ZERO)));
    Dataset dataset = lake.dataset(Duration.ofMinutes(1));
    var _ = store(dataset, 0); // the interval begins
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<DatasetFile>> running = new ArrayList<>();
      for (int i = 1; i <= 150; i++) {
        int number = i;
        running.add(threads.submit(() -> store(dataset, number)));
      }
      for (Future<DatasetFile> one : running) {
        assertThat(one).succeedsWithin(TIME);
      }
    }

    assertThat(lake.listed()).hasSize(151);
    assertThat(updates.hits()).isEqualTo(2);
  }

  @Test
  void manifest_isWrittenBeforeTheRootIsRead_soThatFewerAreOvertaken() throws Exception {
    Rule manifests =
        lake.proxy()
            .add(
                Rule.always(
                    Match.operation("PUT").and(Match.pathContains(Manifests.FOLDER)),
                    new Fault.DelayRequest(Duration.ZERO)));
    List<Long> writtenAtRead = new CopyOnWriteArrayList<>();
    Predicate<Request> read =
        Match.operation("GET")
            .and(Match.pathContains(RootObject.PATH))
            .and(_ -> writtenAtRead.add(manifests.hits()));
    lake.proxy().add(Rule.always(read, new Fault.DelayRequest(Duration.ZERO)));

    DatasetFile file = store(lake.dataset(), 1);

    assertThat(writtenAtRead).containsExactly(1L);
    assertThat(lake.listed()).containsExactly(file);
  }

  @Test
  void record_isNotSettled_beforeItsFileIsListed() throws Exception {
    Dataset dataset = lake.dataset();
    AtomicInteger updates = new AtomicInteger();
    CountDownLatch goOn = new CountDownLatch(1);
    lake.proxy().add(Rule.always(UPDATE.and(_ -> passes(updates, goOn)), new Fault.Refuse()));
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<DatasetFile> record = threads.submit(() -> store(dataset, 1));
      await().atMost(TIME).until(() -> updates.get() == 1);
      assertThat(lake.keys()).hasSize(1);
      assertThat(record).isNotDone();

      goOn.countDown();

      assertThat(record).succeedsWithin(TIME);
    }
    assertThat(lake.listed()).hasSize(1);
  }

  /** Counts an update, and holds it until it may go on. */
  private static boolean passes(AtomicInteger updates, CountDownLatch goOn) {
    updates.incrementAndGet();
    try {
      return !goOn.await(TIME.toSeconds(), TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void updateThatFails_failsEveryRecordOfItsBatch_andTheNextIsWritten() throws Exception {
    Dataset dataset = lake.dataset();
    Rule denied =
        lake.proxy()
            .add(
                Rule.always(
                    Match.pathContains(RootObject.PATH), Fault.Answer.s3(403, "AccessDenied")));
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<DatasetFile>> running = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        int number = i;
        running.add(threads.submit(() -> store(dataset, number)));
      }
      for (Future<DatasetFile> one : running) {
        assertThat(one)
            .failsWithin(TIME)
            .withThrowableOfType(ExecutionException.class)
            .withCauseInstanceOf(StoreRefusedException.class);
      }
    }
    lake.proxy().remove(denied);

    DatasetFile next = store(dataset, 20);

    assertThat(lake.listed()).containsExactly(next);
    assertThat(dataset.repair()).contains(new Repair(20, 0, 0));
  }

  @Test
  void error_isAStoreThatDoesNotAnswer_toThoseWhoWait_andTheNextFileIsListed()
      throws InterruptedException {
    AtomicBoolean fails = new AtomicBoolean(true);
    Dataset dataset =
        lake.dataset(
            () -> {
              if (Thread.currentThread().getName().equals("dataset-registry")
                  && fails.getAndSet(false)) {
                throw new OutOfMemoryError("by the test");
              }
              return TimeSource.system().now();
            });

    assertThatThrownBy(() -> store(dataset, 1))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessage("files were not listed: java.lang.OutOfMemoryError: by the test");

    DatasetFile next = store(dataset, 2);
    assertThat(lake.listed()).containsExactly(next);
  }

  @Test
  void updateWhoseAnswerIsLost_isMadeOnce() throws InterruptedException {
    lake.proxy().add(Rule.once(UPDATE, new Fault.ResetAfterApply()));

    DatasetFile file = store(lake.dataset(), 7);

    assertThat(lake.listed()).containsExactly(file);
  }

  @Test
  void eightWritersAtOneRoot_listEverything_andNoneGivesUp() throws Exception {
    List<Dataset> instances = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      instances.add(lake.dataset());
    }
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<Integer>> running = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        int writer = i;
        running.add(
            threads.submit(
                () -> {
                  for (int n = 0; n < 25; n++) {
                    store(instances.get(writer), writer * 1_000 + n);
                  }
                  return writer;
                }));
      }
      for (Future<Integer> one : running) {
        assertThat(one).succeedsWithin(TIME.multipliedBy(3));
      }
    }

    assertThat(lake.listed()).hasSize(200).doesNotHaveDuplicates();
    assertThat(lake.root().files()).isEqualTo(200);
  }

  @Test
  void recordThatStopsWaiting_leavesTheOthersOfItsBatchAsTheyAre() throws Exception {
    Dataset dataset = lake.dataset();
    AtomicInteger updates = new AtomicInteger();
    CountDownLatch goOn = new CountDownLatch(1);
    lake.proxy().add(Rule.always(UPDATE.and(_ -> passes(updates, goOn)), new Fault.Refuse()));
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<DatasetFile> stopped = threads.submit(() -> store(dataset, 1));
      await().atMost(TIME).until(() -> updates.get() == 1);
      Future<DatasetFile> next = threads.submit(() -> store(dataset, 2));
      await().atMost(TIME).until(() -> lake.keys().size() == 2);

      stopped.cancel(true);
      goOn.countDown();

      assertThat(next).succeedsWithin(TIME);
    }
    assertThat(lake.listed()).hasSize(2);
  }
}
