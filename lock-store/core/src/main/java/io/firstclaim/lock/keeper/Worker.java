package io.firstclaim.lock.keeper;

import org.jspecify.annotations.Nullable;

/**
 * The thread of one piece of work, which others may interrupt while the work lasts, and not a
 * moment longer. Thread-safe; for one piece of work.
 */
public final class Worker {
  private @Nullable Thread thread;
  private boolean interrupted;
  private boolean abandoned;

  /** The current thread begins to work, and is interrupted at once if it was to be before. */
  public synchronized void begin() {
    thread = Thread.currentThread();
    if (interrupted) {
      thread.interrupt();
    }
  }

  /**
   * The work is through: nobody interrupts the current thread for it any more, and an interruption
   * that is still pending is cleared.
   *
   * @return false if it was abandoned meanwhile and must have no further effect
   */
  public synchronized boolean end() {
    thread = null;
    boolean unused = Thread.interrupted();
    return !abandoned;
  }

  /**
   * Interrupts the work, once however often it is asked for; at its beginning if that is to come.
   */
  public synchronized void interrupt() {
    if (interrupted) {
      return;
    }
    interrupted = true;
    if (thread != null) {
      thread.interrupt();
    }
  }

  /**
   * Leaves the work alone.
   *
   * @return whether that is news: false if it has not begun, is through or was abandoned before
   */
  public synchronized boolean abandon() {
    if (thread == null || abandoned) {
      return false;
    }
    abandoned = true;
    return true;
  }
}
