package io.firstclaim.processor.engine;

import io.firstclaim.processor.engine.admission.Admission;
import io.firstclaim.processor.engine.admission.InFlightLimit;
import io.firstclaim.processor.engine.api.EngineState;
import io.firstclaim.processor.engine.api.HeldRecord;
import io.firstclaim.processor.engine.api.OtherInstance;
import io.firstclaim.processor.engine.api.Page;
import io.firstclaim.processor.engine.api.ParkedRecord;
import io.firstclaim.processor.engine.api.ShadowReport;
import io.firstclaim.processor.engine.flow.Findings;
import io.firstclaim.processor.engine.flow.Roster;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.jspecify.annotations.Nullable;

/** One instance at work. Started once and stopped once; safe to read from any thread. */
final class Instance {
  private static final Duration CLOSE_LIMIT = Duration.ofMillis(500);

  private final Parts parts;
  private final Roster roster;
  private final Thread poller;

  /**
   * An instance that is not running yet.
   *
   * @param onDefect called if it ends by itself
   */
  Instance(Parts parts, Consumer<? super Throwable> onDefect) {
    this.parts = parts;
    this.roster = new Roster(parts.records());
    this.poller =
        Thread.ofPlatform()
            .name("firstclaim-poll")
            .uncaughtExceptionHandler((_, defect) -> onDefect.accept(defect))
            .unstarted(parts.loop());
  }

  /** Starts to process. Returns once the recent outcomes are known and polling has begun. */
  void start() throws InterruptedException {
    listen();
    parts.watchdog().start();
    Thread _ = poll();
  }

  /** Starts to hear outcomes. */
  void listen() throws InterruptedException {
    parts.outcomes().listen(parts.records());
  }

  /** Starts to take records in, once this instance's store is announced, on the thread returned. */
  Thread poll() {
    parts.outcomes().announce();
    poller.start();
    return poller;
  }

  /**
   * Stops in good order: lets handlers finish within the grace period, releases the rest for the
   * other zones, commits and leaves the group.
   */
  void stop() throws InterruptedException {
    parts.loop().stop();
    poller.join();
    parts.watchdog().stop();
    close();
  }

  /** Closes everything that the poll loop does not. */
  void close() {
    if (poller.getState() == Thread.State.NEW) {
      // The loop was never begun; once it is, it closes the input itself.
      parts.input().close(CloseOptions.timeout(CLOSE_LIMIT));
    }
    parts.outcomes().finish(CLOSE_LIMIT);
    parts.outcomes().close();
    parts.deadLetters().close(CLOSE_LIMIT);
  }

  /** Takes no more records, for this reason. */
  void pause(String reason) {
    parts.loop().pause(reason);
  }

  /** Takes records again. */
  void resume() {
    parts.loop().resume();
  }

  /** A page of the records under a lease. */
  Page<HeldRecord> held(int limit, @Nullable String after) {
    return roster.held(limit, after);
  }

  /** A page of the records that wait. */
  Page<ParkedRecord> parked(int limit, @Nullable String after) {
    return roster.parked(limit, after);
  }

  /** The other instances of the application; empty if that is not known. */
  Optional<List<OtherInstance>> others() {
    return parts.outcomes().others();
  }

  /** What was found out in shadow mode; empty in any other. */
  Optional<ShadowReport> shadow() {
    return Optional.ofNullable(parts.findings()).map(Findings::report);
  }

  /** What it is doing now. */
  EngineState.Running state() {
    Admission admission = parts.admission();
    InFlightLimit limit = admission.limit();
    return new EngineState.Running(
        limit.inFlight(),
        limit.parked(),
        parts.handlers().abandoned(),
        limit.buffered(),
        parts.loop().lag(),
        parts.loop().lastPoll(),
        parts.outcomes().obstacle().or(() -> Optional.ofNullable(admission.gate().fault())),
        parts.outcomes().otherStores(),
        admission.downstreamFault(),
        Optional.ofNullable(parts.loop().paused()),
        Optional.ofNullable(parts.watchdog().fault()));
  }
}
