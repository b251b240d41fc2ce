package io.firstclaim.lock.keeper;

import io.firstclaim.lock.LeaseLostException;

/**
 * A lease as seen by the holder who works under it.
 *
 * <p>It can be lost, to a pause of the whole process or a store that does not answer, and nothing
 * can stop a holder that does not look. So ask {@link #ensureHeld} right before each effect that
 * cannot be undone, and pass {@link #token} to whatever can refuse a lower one. Thread-safe.
 */
public interface HeldLease {
  /** Rises with every holder; a sink that remembers the highest it has seen refuses stale ones. */
  long token();

  /** How many attempts on this ID there have been, this one included. */
  int attempt();

  /**
   * Whether the lease still runs, by the monotonic clock; asks no store. Not while it is in doubt:
   * after the wall clock was set or the machine was suspended, until a renewal has succeeded.
   */
  boolean isHeld();

  /**
   * Does nothing while {@link #isHeld}.
   *
   * @throws LeaseLostException otherwise
   */
  void ensureHeld();

  /**
   * Runs this once when the lease is lost, or has been held for longer than was agreed, on another
   * thread, or here and now if it is lost already; never after its holder has let it go, who waits
   * for it if it is under way, unless he lets it go while he is told of a loss.
   */
  void whenLost(Runnable told);
}
