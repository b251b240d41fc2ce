package io.firstclaim.processor.service.redrive;

import io.firstclaim.lock.Moment;
import io.firstclaim.lock.RecordId;
import io.firstclaim.processor.service.acts.RedriveCounts;
import io.firstclaim.processor.service.redrive.LetterState.Final;
import io.firstclaim.processor.service.redrive.LetterState.UnderWay;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/**
 * How far a redrive is: what became of the letters up to a position, counted, and of each that has
 * been dealt with since. A letter is counted once all before it have been, so whoever goes on at
 * the position counts none twice and leaves none out. For one thread.
 */
final class Progress {
  /** How many letters may wait to be counted, behind one whose record is under way. */
  private static final int MOST_WAITING = 1_000;

  /** How long a record is watched. */
  private static final Duration PATIENCE = Duration.ofMinutes(10);

  private static final Duration LOOK_AGAIN = Duration.ofSeconds(1);

  /** A letter that was dealt with and not counted yet. */
  static final class TakenLetter {
    private final Position at;
    private final RecordId record;
    private final Moment since;
    private Moment looked;
    private LetterState state;

    private TakenLetter(Position at, RecordId record, LetterState state, Moment now) {
      this.at = at;
      this.record = record;
      this.state = state;
      this.since = now;
      this.looked = now;
    }

    RecordId record() {
      return record;
    }
  }

  private final Deque<TakenLetter> waiting = new ArrayDeque<>();
  private RedriveCounts counts;

  /** The progress of a redrive that has counted these so far. */
  Progress(RedriveCounts counts) {
    this.counts = counts;
  }

  /** Adds a letter that was dealt with. */
  void add(Position at, RecordId record, LetterState state, Moment now) {
    waiting.addLast(new TakenLetter(at, record, state, now));
  }

  /** The records under way at which nobody has looked for a second. */
  List<TakenLetter> toLookAt(Moment now) {
    return waiting.stream()
        .filter(each -> each.state instanceof UnderWay)
        .filter(each -> now.since(each.looked).compareTo(LOOK_AGAIN) >= 0)
        .toList();
  }

  /** A record was looked at; returns its state, which is open once it was under way for long. */
  LetterState looked(TakenLetter entry, LetterState found, Moment now) {
    boolean isLong = now.since(entry.since).compareTo(PATIENCE) > 0;
    entry.looked = now;
    entry.state = found instanceof UnderWay && isLong ? new LetterState.Open() : found;
    return entry.state;
  }

  /** Counts the letters before the oldest record that is under way. */
  void count() {
    while (!waiting.isEmpty() && waiting.getFirst().state instanceof Final settled) {
      counts = plus(settled);
      waiting.removeFirst();
    }
  }

  private RedriveCounts plus(Final letter) {
    return switch (letter) {
      case LetterState.Completed _ -> counts.plusCompleted();
      case LetterState.DiedAgain _ -> counts.plusDiedAgain();
      case LetterState.Open _ -> counts.plusOpen();
      case LetterState.Unpublishable _ -> counts.plusFailed();
      case LetterState.Skipped(String why) -> counts.plusSkipped(why);
    };
  }

  /** What has been counted. */
  RedriveCounts counts() {
    return counts;
  }

  /** The position before which all is counted; empty if everything that was read is. */
  Optional<Position> position() {
    return Optional.ofNullable(waiting.peekFirst()).map(entry -> entry.at);
  }

  /** How many records are under way. */
  int underWay() {
    return (int) waiting.stream().filter(each -> each.state instanceof UnderWay).count();
  }

  /** How many letters were not passed over, counted or not. */
  long taken() {
    return counts.moved()
        + counts.failed()
        + waiting.stream().filter(each -> !(each.state instanceof LetterState.Skipped)).count();
  }

  /** Whether no more letters are to be dealt with before some are counted. */
  boolean isFull() {
    return waiting.size() >= MOST_WAITING;
  }
}
