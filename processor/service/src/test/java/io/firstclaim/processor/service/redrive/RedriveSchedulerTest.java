package io.firstclaim.processor.service.redrive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.firstclaim.lock.Moment;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.testkit.ManualTime;
import io.firstclaim.processor.service.acts.ActMessage;
import io.firstclaim.processor.service.acts.ActMessage.Command;
import io.firstclaim.processor.service.acts.ActMessage.End;
import io.firstclaim.processor.service.acts.Range;
import io.firstclaim.processor.service.acts.RedriveCounts;
import io.firstclaim.processor.service.acts.RedriveSpec;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Which redrives an instance works on, by a clock that the test drives. */
class RedriveSchedulerTest {
  private static final Duration PATIENCE = Duration.ofMinutes(10);
  private static final Duration LOOK = Duration.ofMillis(200);

  /** Twice as long as nothing is heard of a redrive before somebody else tries to get it. */
  private static final int LOOKS_FOR_LONG = 100;

  /** The test's time; once it is told so, whoever asks for it lacks a class. */
  private static final class Clock implements TimeSource {
    private final ManualTime time = ManualTime.start();
    private final AtomicBoolean lacksClass = new AtomicBoolean();

    @Override
    public Moment now() {
      if (lacksClass.getAndSet(false)) {
        throw new LinkageError("of a test");
      }
      return time.now();
    }

    @Override
    public void sleep(Duration duration) throws InterruptedException {
      time.sleep(duration);
    }
  }

  private final Clock clock = new Clock();
  private final JobBook book = new JobBook();
  private final List<String> begun = new CopyOnWriteArrayList<>();
  private final Semaphore ends = new Semaphore(0);
  private final RedriveScheduler scheduler = new RedriveScheduler(book, this::run, clock);

  @AfterEach
  void close() {
    scheduler.close();
  }

  /** A run that goes on until the test ends one, which is at its end then. */
  private void run(String id, BooleanSupplier mayGoOn) {
    begun.add(id);
    try {
      ends.acquire();
      book.hear(
          new ActMessage.RedriveProgress(
              id, 1, "a/one", "now", 1, 0, RedriveCounts.NONE, 0, null, End.DONE));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static String id(int number) {
    return "job-" + number;
  }

  private static List<String> ids(int count) {
    return IntStream.range(0, count).mapToObj(RedriveSchedulerTest::id).toList();
  }

  private void inTheBook(String id) {
    RedriveSpec spec =
        RedriveSpec.ofRecord("r").withRanges(List.of(new Range("orders.dlt", 0, 0, 1)));
    book.hear(new ActMessage.RedriveBegun(id, spec, "otto", "mended", "2026-01-01T00:00:00Z"));
  }

  private void beginHere(int count) {
    for (String id : ids(count)) {
      scheduler.expect(id);
      inTheBook(id);
    }
  }

  /** The scheduler looks so many times. */
  private void look(int times) throws InterruptedException {
    for (int i = 0; i < times; i++) {
      clock.time.awaitSleeper("firstclaim-redrives");
      clock.time.advance(LOOK);
    }
    clock.time.awaitSleeper("firstclaim-redrives");
  }

  private void awaitBegun(int count) {
    await().atMost(PATIENCE).until(() -> begun.size() >= count);
  }

  @Test
  void hundredRedrives_areWorkedOnByEights_inTheBooksOrder() throws InterruptedException {
    beginHere(100);
    scheduler.start();
    look(LOOKS_FOR_LONG);
    awaitBegun(8);
    assertThat(begun).containsExactlyInAnyOrderElementsOf(ids(8));

    ends.release(3);

    await()
        .atMost(PATIENCE)
        .until(
            () -> {
              look(1);
              return begun.size() >= 11;
            });
    assertThat(begun).containsExactlyInAnyOrderElementsOf(ids(11));
  }

  @Test
  void redriveThatWaits_isNotBegunOnceItIsCancelled() throws InterruptedException {
    beginHere(9);
    inTheBook("elsewhere");
    scheduler.start();
    look(1);
    awaitBegun(8);
    book.hear(new ActMessage.RedriveTold(id(8), Command.CANCEL, "otto", "needless", "now"));

    ends.release(1);

    await()
        .atMost(PATIENCE)
        .until(
            () -> {
              look(10);
              return begun.contains("elsewhere");
            });
    assertThat(begun).doesNotContain(id(8));
  }

  @Test
  void errorWhileItLooks_keepsNoRedriveFromBeingBegun() throws InterruptedException {
    inTheBook(id(0));
    scheduler.start();
    clock.lacksClass.set(true);
    clock.time.awaitSleeper("firstclaim-redrives");
    clock.time.advance(LOOK);
    await().atMost(PATIENCE).until(() -> !clock.lacksClass.get());

    scheduler.expect(id(0));

    await()
        .atMost(PATIENCE)
        .until(
            () -> {
              clock.time.advance(LOOK);
              return begun.contains(id(0));
            });
  }
}
