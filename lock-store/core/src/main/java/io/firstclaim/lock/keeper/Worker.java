package io.firstclaim.lock.keeper;

import org.jspecify.annotations.Nullable;

/**
 * The thread of one piece of work, which others may interrupt while the work lasts and not a moment
 * longer. Thread-safe; for one piece of work.
 */
public final class Worker {
  private @Nullable Thread thread;
  private boolean interrupted;
  private boolean abandoned;

  /** The current thread begins to work, and is interrupted at once if that was asked for before. */
  public synchronized void begin() {
    thread = Thread.currentThread();
    if (interrupted) {
      thread.interrupt();
    }
  }

  /**
   * The work is done: nobody interrupts the current thread for it any more. An interruption that
   * was sent here and is still pending is cleared; anybody else's is left to whom it was meant for.
   *
   * @return false if it has been abandoned and must have no further effect
   */
  public synchronized boolean end() {
    thread = null;
    if (interrupted) {
      boolean unused = Thread.interrupted();
    }
    return !abandoned;
  }

  /**
   * Interrupts the work, once however often that is asked for; as soon as it begins, if it has not
   * yet.
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
   * Abandons the work.
   *
   * @return whether that changed anything: false if it has not begun, is done or was abandoned
   *     before
   */
  public synchronized boolean abandon() {
    if (thread == null || abandoned) {
      return false;
    }
    abandoned = true;
    return true;
  }
}
