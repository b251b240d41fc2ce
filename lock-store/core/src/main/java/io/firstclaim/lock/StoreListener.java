package io.firstclaim.lock;

import java.time.Duration;

/** Hears of every call to the store; for metrics. Must not block or throw. Thread-safe. */
public interface StoreListener {
  /** Hears nothing. */
  StoreListener NONE =
      new StoreListener() {
        @Override
        public void called(String op, String result, Duration took) {}

        @Override
        public void clockSkew(Duration skew) {}
      };

  /**
   * A call ended.
   *
   * @param op {@code claim}, {@code renew}, {@code complete}, {@code release}, {@code bury} or
   *     {@code find}, which is any read, even one to learn why a write was refused; for a sweeper
   *     {@code list}, {@code retire} and {@code delete}. Where one call has several writes, that of
   *     the first of them
   * @param result {@code ok}, {@code refused} (the condition failed; for several writes with
   *     conditions of their own {@link #refused} tells of that) or {@code error}
   * @param took from the call to its end, the client's own retries included
   */
  void called(String op, String result, Duration took);

  /**
   * A call that was answered was made of so many writes. They are billed whether their conditions
   * held or not, one that is part of a transaction twice.
   *
   * @param op as in {@link #called}
   */
  default void wrote(String op, int writes) {}

  /**
   * So many of the writes of a call failed by their own conditions, while the call as a whole was
   * {@code ok}. The read of what they failed on is a call of its own.
   *
   * @param op as in {@link #called}
   */
  default void refused(String op, int writes) {}

  /** The store's clock is ahead of this machine's by at least this much; negative: behind. */
  void clockSkew(Duration skew);
}
