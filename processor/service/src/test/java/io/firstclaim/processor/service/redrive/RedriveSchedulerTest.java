package io.firstclaim.processor.service.redrive;

import static org.awaitility.Awaitility.await;

import io.firstclaim.lock.Moment;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.testkit.ManualTime;
import io.firstclaim.processor.service.acts.ActMessage;
import io.firstclaim.processor.service.acts.Range;
import io.firstclaim.processor.service.acts.RedriveSpec;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Which redrives an instance works on, by a clock that the test drives. */
class RedriveSchedulerTest {
  private static final Duration PATIENCE = Duration.ofMinutes(2);
  private static final Duration LOOK = Duration.ofMillis(200);

  /** The test's time; once it is told so, whoever asks for it finds no memory left. */
  private static final class Clock implements TimeSource {
    private final ManualTime time = ManualTime.start();
    private final AtomicBoolean lacksMemory = new AtomicBoolean();

    @Override
    public Moment now() {
      if (lacksMemory.getAndSet(false)) {
        throw new OutOfMemoryError("of a test");
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
  private final RedriveScheduler scheduler = new RedriveScheduler(book, this::run, clock);

  @AfterEach
  void close() {
    scheduler.close();
  }

  private void run(String id, BooleanSupplier mayGoOn) {
    begun.add(id);
  }

  private void inTheBook(String id) {
    RedriveSpec spec =
        RedriveSpec.ofRecord("r").withRanges(List.of(new Range("orders.dlt", 0, 0, 1)));
    book.hear(new ActMessage.RedriveBegun(id, spec, "otto", "mended", "2026-01-01T00:00:00Z"));
  }

  @Test
  void errorWhileItLooks_keepsNoRedriveFromBeingBegun() throws InterruptedException {
    inTheBook("job-1");
    scheduler.start();
    clock.lacksMemory.set(true);
    clock.time.awaitSleeper("firstclaim-redrives");
    clock.time.advance(LOOK);
    await().atMost(PATIENCE).until(() -> !clock.lacksMemory.get());

    scheduler.expect("job-1");

    await()
        .atMost(PATIENCE)
        .until(
            () -> {
              clock.time.advance(LOOK);
              return begun.contains("job-1");
            });
  }
}
