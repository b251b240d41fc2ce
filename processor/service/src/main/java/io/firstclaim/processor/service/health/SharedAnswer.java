package io.firstclaim.processor.service.health;

import io.firstclaim.lock.Moment;
import io.firstclaim.lock.TimeSource;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What something else answers, asked once at a time, on a thread that may wait: its answer counts
 * for a second, so that however many look at the health, what it depends on is spared. Thread-safe.
 *
 * @param <T> the answer
 */
final class SharedAnswer<T> {
  private static final Duration KNOWN = Duration.ofSeconds(1);

  private final Supplier<T> question;
  private final Executor threads;
  private final TimeSource time;
  private @Nullable CompletableFuture<Answer<T>> last; // guarded by this

  private record Answer<T>(T value, Moment at) {}

  /** Asks this on such a thread, when it is first looked at. */
  SharedAnswer(Supplier<T> question, Executor threads, TimeSource time) {
    this.question = question;
    this.threads = threads;
    this.time = time;
  }

  /** What was answered within the last second, or will be to whoever has asked before. */
  CompletableFuture<T> get() {
    return answer().thenApply(Answer::value);
  }

  private synchronized CompletableFuture<Answer<T>> answer() {
    CompletableFuture<Answer<T>> known = last;
    if (known == null || isOver(known)) {
      known =
          CompletableFuture.supplyAsync(() -> new Answer<>(question.get(), time.now()), threads);
      last = known;
    }
    return known;
  }

  private boolean isOver(CompletableFuture<Answer<T>> known) {
    return known.isCompletedExceptionally()
        || (known.isDone() && time.now().since(known.join().at()).compareTo(KNOWN) >= 0);
  }
}
