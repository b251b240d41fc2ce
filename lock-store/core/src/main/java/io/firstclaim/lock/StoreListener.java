package io.firstclaim.lock;

import java.time.Duration;

/** Hears of every call to the store, for metrics. Must not block or throw. Thread-safe. */
public interface StoreListener {
  /** Hears nothing. */
  StoreListener NONE =
      new StoreListener() {
        @Override
        public void called(StoreOperation op, StoreOperation.Result result, Duration took) {}

        @Override
        public void clockSkew(Duration skew) {}
      };

  /**
   * A call ended.
   *
   * @param op what it was for; where one call has several writes, what the first of them was for
   * @param result how it ended; for several writes with conditions of their own {@link #refused}
   *     tells which of them failed
   * @param took from the call to its end, the client's own retries included
   */
  void called(StoreOperation op, StoreOperation.Result result, Duration took);

  /**
   * A call that was answered was made of so many writes. They are billed whether their conditions
   * held or not, one that is part of a transaction twice.
   *
   * @param op as in {@link #called}
   */
  default void wrote(StoreOperation op, int writes) {}

  /**
   * So many of the writes of a call failed by their own conditions, while the call as a whole was
   * {@code ok}. The read of what they failed on is a call of its own.
   *
   * @param op as in {@link #called}
   */
  default void refused(StoreOperation op, int writes) {}

  /** The store's clock is ahead of this machine's by at least this much; negative: behind. */
  void clockSkew(Duration skew);
}
