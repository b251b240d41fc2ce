package io.firstclaim.processor.engine.admission;

import io.firstclaim.lock.TimeSource;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Lets so many records a second go to their handlers, one after the other in the order in which
 * they came. A record waits for its turn before it is claimed, so it holds no lease meanwhile; a
 * turn that comes to no handler, as the record is another's or done, is the next one's. What has
 * its turn and is not with its handler yet is bounded by what may go in a second, or all that a
 * slow store kept back would come to the handlers at once. Thread-safe.
 *
 * <p>Resilience4j's rate limiter hands out permits for good, a period's at once at its beginning:
 * half of them would be lost where another zone wins half of the records.
 */
final class HandlerRate {
  private static final long SECOND = Duration.ofSeconds(1).toNanos();

  /** How late a turn may be taken, as timers are, without the later ones being put off. */
  private static final long LATE = Duration.ofMillis(20).toNanos();

  private final TimeSource time;

  /** Between two turns, in nanoseconds; zero if there is no limit. */
  private final long interval;

  private final int mostOnTheirWay;

  // Guarded by this.
  private final Deque<Slot> waiting = new ArrayDeque<>();
  private long next;
  private int onTheirWay;

  /**
   * A rate.
   *
   * @param perSecond how many handlers may begin in a second; empty for any number
   */
  HandlerRate(Optional<Integer> perSecond, TimeSource time) {
    this.time = time;
    this.interval = perSecond.map(most -> SECOND / most).orElse(0L);
    this.mostOnTheirWay = perSecond.orElse(0);
    this.next = time.now().ticks();
  }

  Slot slot(Candidate record) {
    return new Slot(record);
  }

  /** One record, as often as it is tried. By its own thread, but {@link #leave()}. */
  final class Slot implements Checkpoint {
    private final Candidate record;
    private boolean waits;
    private boolean taken;

    private Slot(Candidate record) {
      this.record = record;
    }

    @Override
    public @Nullable Duration pass() {
      if (interval == 0) {
        return null;
      }
      synchronized (HandlerRate.this) {
        if (taken) {
          return null;
        }
        if (!waits) {
          waits = true;
          waiting.addLast(this);
        }
        if (waiting.getFirst() != this || onTheirWay >= mostOnTheirWay) {
          return LONG;
        }
        long early = next - time.now().ticks();
        if (early > 0) {
          return Duration.ofNanos(early);
        }
        waits = false;
        taken = true;
        onTheirWay++;
        waiting.removeFirst();
        use();
        callFirst();
        return null;
      }
    }

    /** The handler begins. One that was let pass without its turn takes one now. */
    void begins() {
      if (interval == 0) {
        return;
      }
      synchronized (HandlerRate.this) {
        if (taken) {
          taken = false;
          onTheirWay--;
          callFirst();
        } else {
          use();
        }
      }
    }

    @Override
    public void leave() {
      if (interval == 0) {
        return;
      }
      synchronized (HandlerRate.this) {
        if (taken) {
          taken = false;
          onTheirWay--;
          next -= interval;
          callFirst();
        } else if (waits) {
          waits = false;
          boolean first = waiting.getFirst() == this;
          waiting.remove(this);
          if (first) {
            callFirst();
          }
        }
      }
    }
  }

  private void use() {
    long latest = time.now().ticks() - LATE;
    next = (next - latest > 0 ? next : latest) + interval;
  }

  private void callFirst() {
    Slot first = waiting.peekFirst();
    if (first != null) {
      first.record.call();
    }
  }
}
