package io.firstclaim.processor.service.redrive;

import io.firstclaim.lock.Moment;
import io.firstclaim.processor.service.redrive.LetterState.Completed;
import io.firstclaim.processor.service.redrive.LetterState.DiedAgain;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * How fast a redrive may go: so many records a second, and few under way until the first have ended
 * well. Once most of the last have died again, it is to stop. For one thread.
 */
final class RedrivePace {
  /** How many records must have ended to tell whether it makes sense to go on. */
  static final int WINDOW = 20;

  /** How many records may be under way, once so many have ended. */
  private static final int MOST_UNDER_WAY = 100;

  /** How much unused time is made up for, at most. */
  private static final Duration MOST_CATCH_UP = Duration.ofSeconds(1);

  private final long nanosBetween;
  private final Deque<LetterState> last = new ArrayDeque<>();
  private Moment next;

  /** The pace of a run that begins now. */
  RedrivePace(int recordsASecond, Moment now) {
    this.nanosBetween = Duration.ofSeconds(1).toNanos() / recordsASecond;
    this.next = now;
  }

  /** Whether another record may be moved now. */
  boolean allowsAnother(int underWay, Moment now) {
    int most = last.size() < WINDOW ? WINDOW - last.size() : MOST_UNDER_WAY;
    return underWay < most && !now.since(next).isNegative();
  }

  /** A record was moved. */
  void moved(Moment now) {
    Moment from = now.since(next).compareTo(MOST_CATCH_UP) > 0 ? now : next;
    next = new Moment(from.wall().plusNanos(nanosBetween), from.ticks() + nanosBetween);
  }

  /** This was found out about a record that was moved. */
  void found(LetterState state) {
    if (state instanceof Completed || state instanceof DiedAgain) {
      last.addLast(state);
      if (last.size() > WINDOW) {
        last.removeFirst();
      }
    }
  }

  /** Why it makes no sense to go on, for people; empty if it does. */
  Optional<String> stopReason() {
    long died = last.stream().filter(DiedAgain.class::isInstance).count();
    if (last.size() < WINDOW || died * 2 <= WINDOW) {
      return Optional.empty();
    }
    return last.reversed().stream()
        .flatMap(each -> each instanceof DiedAgain(String why) ? Stream.of(why) : Stream.empty())
        .findFirst()
        .map(
            cause ->
                "%d of the last %d died again, the last of them of: %s"
                    .formatted(died, WINDOW, cause));
  }
}
