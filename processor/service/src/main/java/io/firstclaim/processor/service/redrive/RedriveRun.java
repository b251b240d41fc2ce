package io.firstclaim.processor.service.redrive;

import io.firstclaim.lock.ClaimOperations;
import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.ClaimState;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.RedriveId;
import io.firstclaim.lock.RedriveResult;
import io.firstclaim.lock.StoreException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.UnreadableClaimException;
import io.firstclaim.processor.engine.api.DeadLetter;
import io.firstclaim.processor.service.acts.ActMessage.End;
import io.firstclaim.processor.service.acts.RedriveCounts;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;

/**
 * One instance's work on a redrive, from where it was left to its end, or until it may not go on.
 *
 * <p>Per record: free its claim in the name of the redrive, publish it again, look what becomes of
 * it. Each step may be repeated, so a run may end anywhere: the next one begins at the oldest
 * record whose end was not known, and the store says of each what has been done. A few records are
 * under way at once; once most of the last died again, the run stops. For one thread.
 */
final class RedriveRun {
  /** As many verdicts tell whether it makes sense to go on. */
  static final int WINDOW = 20;

  /** Records under way, once the first verdicts are good. */
  static final int MOST_UNDER_WAY = 100;

  /** Letters passed over behind a record that is under way. */
  private static final int MOST_WAITING = 1_000;

  /** How long a record is watched. */
  private static final Duration PATIENCE = Duration.ofMinutes(10);

  private static final Duration LOOK_AGAIN = Duration.ofSeconds(1);
  private static final Duration PAUSE = Duration.ofMillis(100);
  private static final Duration PAUSE_AFTER_FAULT = Duration.ofSeconds(1);

  /** One record may have several letters: it is moved by the first. */
  private static final int REMEMBERED = 10_000;

  /** Publishes dead letters again. */
  @FunctionalInterface
  interface Publisher {
    /**
     * Publishes it and waits for the acknowledgement.
     *
     * @throws KafkaException if there is none
     * @throws UnpublishableException if there will never be one
     */
    void publish(DeadLetter letter, RedriveId by) throws InterruptedException;
  }

  /** Told how far the run is. */
  @FunctionalInterface
  interface Report {
    void progress(
        int range,
        long offset,
        RedriveCounts counts,
        int underWay,
        @Nullable String note,
        @Nullable End end);
  }

  private enum Verdict {
    UNDER_WAY,
    COMPLETED,
    DIED_AGAIN,
    OPEN,
    FAILED,
    SKIPPED
  }

  /** A letter that was dealt with; it is counted when all before it are. */
  private static final class Passed {
    private final int range;
    private final long offset;
    private final RecordId id;
    private final Moment since;
    private Moment looked;
    private Verdict verdict;
    private String why;

    private Passed(int range, long offset, RecordId id, Verdict verdict, String why, Moment now) {
      this.range = range;
      this.offset = offset;
      this.id = id;
      this.verdict = verdict;
      this.why = why;
      this.since = now;
      this.looked = now;
    }
  }

  private final Job job;
  private final RedriveId id;
  private final LetterFilter filter;
  private final Predicate<DeadLetter> isOurs;
  private final Predicate<RecordId> isDismissed;
  private final ClaimOperations claims;
  private final Letters.Reading letters;
  private final Publisher publisher;
  private final BooleanSupplier mayGoOn;
  private final Report report;
  private final TimeSource time;
  private final Deque<Passed> passed = new ArrayDeque<>();
  private final Deque<Verdict> last = new ArrayDeque<>();
  private final Map<RecordId, Boolean> seen =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<RecordId, Boolean> eldest) {
          return size() > REMEMBERED;
        }
      };
  private RedriveCounts counts;
  private @Nullable String note;
  private @Nullable String lastCause;
  private Moment nextMove;

  /**
   * A run of this redrive.
   *
   * @param isOurs whether a letter is of this application
   * @param isDismissed whether a record's end was judged to need no redrive: those are passed over,
   *     unless the redrive is for one record
   * @param letters from the redrive's place on
   * @param mayGoOn whether this instance still has the redrive, and it is to run
   * @param report told again and again
   */
  RedriveRun(
      Job job,
      Predicate<DeadLetter> isOurs,
      Predicate<RecordId> isDismissed,
      ClaimOperations claims,
      Letters.Reading letters,
      Publisher publisher,
      BooleanSupplier mayGoOn,
      Report report,
      TimeSource time) {
    this.job = job;
    this.id = new RedriveId(job.id());
    this.filter = new LetterFilter(job.spec());
    this.isOurs = isOurs;
    this.isDismissed = isDismissed;
    this.claims = claims;
    this.letters = letters;
    this.publisher = publisher;
    this.mayGoOn = mayGoOn;
    this.report = report;
    this.time = time;
    this.counts = job.counts();
    this.nextMove = time.now();
  }

  /** Works until the redrive is at its end, or may not go on. */
  void run() throws InterruptedException {
    while (mayGoOn.getAsBoolean()) {
      try {
        lookAgain();
        count();
        Optional<End> end = end();
        tell(end.orElse(null));
        if (end.isPresent()) {
          return;
        }
        if (isFull() || !takeNext()) {
          time.sleep(PAUSE);
        }
        note = null;
      } catch (StoreException e) {
        waitFor("the lock store: " + OneLine.of(e));
      } catch (KafkaException e) {
        waitFor("Kafka: " + OneLine.of(e));
      }
    }
    count();
    tell(null);
  }

  private void waitFor(String what) throws InterruptedException {
    note = "waits for " + what;
    tell(null);
    time.sleep(PAUSE_AFTER_FAULT);
  }

  private Optional<End> end() {
    long died = last.stream().filter(verdict -> verdict == Verdict.DIED_AGAIN).count();
    if (last.size() == WINDOW && died * 2 > WINDOW) {
      note =
          "%d of the last %d died again, the last of them of: %s"
              .formatted(died, WINDOW, lastCause);
      return Optional.of(End.STOPPED);
    }
    return passed.isEmpty() && (letters.isAtEnd() || isEnough())
        ? Optional.of(End.DONE)
        : Optional.empty();
  }

  private void tell(@Nullable End end) {
    Passed first = passed.peekFirst();
    report.progress(
        first == null ? letters.range() : first.range,
        first == null ? letters.offset() : first.offset,
        counts,
        underWay(),
        note,
        end);
  }

  private int underWay() {
    return (int) passed.stream().filter(each -> each.verdict == Verdict.UNDER_WAY).count();
  }

  private boolean isEnough() {
    long moved = passed.stream().filter(each -> each.verdict != Verdict.SKIPPED).count();
    return counts.moved() + counts.failed() + moved >= job.spec().limit();
  }

  private boolean isFull() {
    int most = last.size() < WINDOW ? WINDOW - last.size() : MOST_UNDER_WAY;
    return passed.size() >= MOST_WAITING
        || underWay() >= most
        || isEnough()
        || time.now().since(nextMove).isNegative();
  }

  /** Deals with the next letter; false if there is none now. */
  private boolean takeNext() throws InterruptedException {
    int range = letters.range();
    long offset = letters.offset();
    if (!letters.next()) {
      return letters.range() != range || letters.offset() != offset;
    }
    Optional<DeadLetter> letter = letters.letter().filter(filter::takes);
    if (letter.isPresent()) {
      passPatiently(range, offset, letter.get());
    }
    return true;
  }

  /** A letter is not left before it is dealt with, unless the run may not go on. */
  private void passPatiently(int range, long offset, DeadLetter letter)
      throws InterruptedException {
    while (true) {
      try {
        pass(range, offset, letter);
        return;
      } catch (StoreException e) {
        waitAt(range, offset, letter, "the lock store: " + OneLine.of(e));
      } catch (KafkaException e) {
        waitAt(range, offset, letter, "Kafka: " + OneLine.of(e));
      }
      if (!mayGoOn.getAsBoolean()) {
        // Who goes on begins with it.
        enter(range, offset, letter.id(), Verdict.UNDER_WAY, "");
        return;
      }
    }
  }

  private void waitAt(int range, long offset, DeadLetter letter, String what)
      throws InterruptedException {
    note = "waits for " + what;
    Passed first = passed.peekFirst();
    report.progress(
        first == null ? range : first.range,
        first == null ? offset : first.offset,
        counts,
        underWay(),
        "%s, at %s".formatted(note, letter.id()),
        null);
    time.sleep(PAUSE_AFTER_FAULT);
  }

  private void pass(int range, long offset, DeadLetter letter) throws InterruptedException {
    if (!isOurs.test(letter)) {
      skip(range, offset, letter, "of another application");
    } else if (!letter.whole()) {
      skip(range, offset, letter, "too large for its dead letter");
    } else if (seen.containsKey(letter.id())) {
      skip(range, offset, letter, "another letter of the same record");
    } else if (job.spec().record() == null && isDismissed.test(letter.id())) {
      skip(range, offset, letter, "dismissed");
    } else {
      free(range, offset, letter);
    }
  }

  private void free(int range, long offset, DeadLetter letter) throws InterruptedException {
    RedriveResult answer;
    try {
      answer = claims.redrive(letter.id(), letter.payload(), id);
    } catch (UnreadableClaimException e) {
      skip(range, offset, letter, "unreadable claim");
      return;
    }
    switch (answer) {
      case RedriveResult.Freed _ -> publish(range, offset, letter);
      case RedriveResult.FreedBefore before -> {
        if (before.isFree()) {
          publish(range, offset, letter);
        } else {
          moved(range, offset, letter);
          judge(passed.getLast(), before.present(), time.now());
        }
      }
      case RedriveResult.NotDead(ClaimRecord present) ->
          skip(range, offset, letter, present == null ? "forgotten" : state(present));
      case RedriveResult.Mismatch _ -> skip(range, offset, letter, "mismatch");
    }
  }

  private static String state(ClaimRecord claim) {
    return switch (claim.state()) {
      case ClaimState.Held _ -> "held";
      case ClaimState.Free _ -> "free";
      case ClaimState.Done _ -> "done";
      case ClaimState.Dead _ -> "dead";
    };
  }

  private void publish(int range, long offset, DeadLetter letter) throws InterruptedException {
    try {
      publisher.publish(letter, id);
      moved(range, offset, letter);
    } catch (UnpublishableException e) {
      enter(range, offset, letter.id(), Verdict.FAILED, OneLine.of(e));
    }
  }

  private void moved(int range, long offset, DeadLetter letter) {
    enter(range, offset, letter.id(), Verdict.UNDER_WAY, "");
    seen.put(letter.id(), true);
    Moment now = time.now();
    long nanos = Duration.ofSeconds(1).toNanos() / job.spec().rate();
    Moment from = now.since(nextMove).compareTo(Duration.ofSeconds(1)) > 0 ? now : nextMove;
    nextMove = new Moment(from.wall().plusNanos(nanos), from.ticks() + nanos);
  }

  private void skip(int range, long offset, DeadLetter letter, String why) {
    enter(range, offset, letter.id(), Verdict.SKIPPED, why);
  }

  private void enter(int range, long offset, RecordId record, Verdict verdict, String why) {
    passed.addLast(new Passed(range, offset, record, verdict, why, time.now()));
  }

  /** Looks what has become of the records under way. */
  private void lookAgain() {
    for (Passed each : passed) {
      Moment now = time.now();
      if (each.verdict == Verdict.UNDER_WAY && now.since(each.looked).compareTo(LOOK_AGAIN) >= 0) {
        each.looked = now;
        judge(each, claims.find(each.id).orElse(null), now);
      }
    }
  }

  private void judge(Passed record, @Nullable ClaimRecord stored, Moment now) {
    record.verdict = verdict(record, stored, now);
    if (record.verdict == Verdict.COMPLETED || record.verdict == Verdict.DIED_AGAIN) {
      last.addLast(record.verdict);
      if (last.size() > WINDOW) {
        last.removeFirst();
      }
    }
  }

  private Verdict verdict(Passed record, @Nullable ClaimRecord stored, Moment now) {
    if (stored == null || !id.equals(stored.redrive())) {
      return Verdict.OPEN; // another redrive's by now, or forgotten
    }
    return switch (stored.state()) {
      case ClaimState.Done _ -> Verdict.COMPLETED;
      case ClaimState.Dead(var _, var _, String cause) -> {
        lastCause = cause;
        yield Verdict.DIED_AGAIN;
      }
      case ClaimState.Free _, ClaimState.Held _ ->
          now.since(record.since).compareTo(PATIENCE) > 0 ? Verdict.OPEN : Verdict.UNDER_WAY;
    };
  }

  /** Counts the letters before the oldest record that is under way. */
  private void count() {
    while (!passed.isEmpty() && passed.getFirst().verdict != Verdict.UNDER_WAY) {
      Passed first = passed.removeFirst();
      counts =
          switch (first.verdict) {
            case COMPLETED -> counts.plusCompleted();
            case DIED_AGAIN -> counts.plusDiedAgain();
            case OPEN -> counts.plusOpen();
            case FAILED -> counts.plusFailed();
            case SKIPPED -> counts.plusSkipped(first.why);
            case UNDER_WAY -> throw new AssertionError("counted before its time");
          };
    }
  }
}
