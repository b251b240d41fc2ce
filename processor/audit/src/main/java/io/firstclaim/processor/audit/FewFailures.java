package io.firstclaim.processor.audit;

import io.firstclaim.lock.Moment;
import io.firstclaim.lock.TimeSource;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;

/** Says whether failures are few enough to go on. Thread-safe. */
final class FewFailures {
  private final int most;
  private final Duration within;
  private final TimeSource time;
  private final Deque<Moment> last = new ArrayDeque<>();

  /** Tolerates so many within this time at most. */
  FewFailures(int most, Duration within, TimeSource time) {
    this.most = most;
    this.within = within;
    this.time = time;
  }

  /** One more has happened; whether that is still few. */
  synchronized boolean isOneMore() {
    Moment now = time.now();
    last.addLast(now);
    while (now.since(last.getFirst()).compareTo(within) > 0) {
      last.removeFirst();
    }
    return last.size() <= most;
  }
}
