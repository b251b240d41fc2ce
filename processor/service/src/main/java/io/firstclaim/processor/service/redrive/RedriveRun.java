package io.firstclaim.processor.service.redrive;

import io.firstclaim.lock.Moment;
import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.StoreException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.service.acts.ActMessage.End;
import io.firstclaim.processor.service.redrive.Letters.ReadResult;
import java.time.Duration;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;

/**
 * One instance's work on a redrive, from where it was left to its end, or until it may not go on.
 *
 * <p>It deals with one letter after the other, by its {@link LetterSteps}, as fast as its {@link
 * RedrivePace} allows, and reports its {@link Progress}. It may end anywhere: the next run begins
 * at the oldest letter that is not counted. For one thread.
 */
final class RedriveRun {
  private static final Duration PAUSE = Duration.ofMillis(100);
  private static final Duration PAUSE_AFTER_FAULT = Duration.ofSeconds(1);

  private final Job job;
  private final FrozenSet set;
  private final Letters.Reading letters;
  private final LetterSteps steps;
  private final BooleanSupplier mayGoOn;
  private final Consumer<RunReport> report;
  private final TimeSource time;
  private final Progress progress;
  private final RedrivePace pace;

  /** Why the last record that could not be published could not. */
  private Optional<String> failure = Optional.empty();

  /** The letter that was read last, until it has been dealt with. */
  private ReadResult.@Nullable Letter current;

  /**
   * A run of this redrive.
   *
   * @param letters from the redrive's position on
   * @param mayGoOn whether this instance still has the redrive, and it is to run
   * @param report told again and again
   */
  RedriveRun(
      Job job,
      Letters.Reading letters,
      LetterSteps steps,
      BooleanSupplier mayGoOn,
      Consumer<RunReport> report,
      TimeSource time) {
    this.job = job;
    this.set = new FrozenSet(job.spec());
    this.letters = letters;
    this.steps = steps;
    this.mayGoOn = mayGoOn;
    this.report = report;
    this.time = time;
    this.progress = new Progress(job.counts());
    this.pace = new RedrivePace(job.spec().rate(), time.now());
  }

  /** Works until the redrive is at its end, or may not go on. */
  void run() throws InterruptedException {
    while (mayGoOn.getAsBoolean()) {
      try {
        lookAgain();
        progress.count();
        if (reportEnd()) {
          return;
        }
        if (!goOn()) {
          time.sleep(PAUSE);
        }
      } catch (StoreException e) {
        waitFor("the lock store: " + OneLine.of(e));
      } catch (KafkaException e) {
        waitFor("Kafka: " + OneLine.of(e));
      }
    }
    progress.count();
    report(failure, Optional.empty(), true);
  }

  /** Looks what has become of the records under way. */
  private void lookAgain() {
    for (Progress.TakenLetter entry : progress.toLookAt(time.now())) {
      pace.found(progress.looked(entry, steps.look(entry.record()), time.now()));
    }
  }

  /** Says how far the run is; true if it is at its end. */
  private boolean reportEnd() {
    Optional<String> stopReason = pace.stopReason();
    Optional<End> end =
        stopReason.isPresent()
            ? Optional.of(End.STOPPED)
            : Optional.of(End.DONE).filter(_ -> isDone());
    report(stopReason.or(() -> failure), end, end.isPresent());
    return end.isPresent();
  }

  private boolean isDone() {
    return progress.position().isEmpty() && current == null && (letters.isAtEnd() || isEnough());
  }

  private boolean isEnough() {
    return progress.taken() >= job.spec().limit();
  }

  private void report(Optional<String> note, Optional<End> end, boolean isLast) {
    Position unread = current == null ? letters.position() : current.at();
    report.accept(
        new RunReport(
            progress.position().orElse(unread),
            progress.counts(),
            progress.underWay(),
            note,
            end,
            isLast));
  }

  private void waitFor(String what) throws InterruptedException {
    String note = "waits for " + what;
    report(
        Optional.of(current == null ? note : "%s, at %s".formatted(note, current.letter().id())),
        Optional.empty(),
        false);
    time.sleep(PAUSE_AFTER_FAULT);
  }

  /** Deals with the next letter; false if there is none now, or it is not its time. */
  private boolean goOn() throws InterruptedException {
    if (current != null) {
      dealWith(current);
      return true;
    }
    boolean isItsTime =
        !progress.isFull() && !isEnough() && pace.allowsAnother(progress.underWay(), time.now());
    return isItsTime && readOn();
  }

  private boolean readOn() throws InterruptedException {
    return switch (letters.next()) {
      case ReadResult.Letter found when set.contains(found.letter()) -> {
        current = found;
        dealWith(found);
        yield true;
      }
      case ReadResult.Letter _, ReadResult.PassedOver _ -> true;
      case ReadResult.Nothing _ -> false;
    };
  }

  private void dealWith(ReadResult.Letter letter) throws InterruptedException {
    LetterState state = steps.redrive(letter.letter());
    Moment now = time.now();
    progress.add(letter.at(), letter.letter().id(), state, now);
    if (state.isMoved()) {
      pace.moved(now);
      pace.found(state);
    }
    if (state instanceof LetterState.Unpublishable(String why)) {
      failure = Optional.of("%s cannot be published: %s".formatted(letter.letter().id(), why));
    }
    current = null;
  }
}
