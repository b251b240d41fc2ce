package io.firstclaim.stack;

import java.time.Duration;
import java.util.Optional;

/**
 * Ends this process, in order, when the one that started it has ended: Maven passes no signal on to
 * what it runs.
 */
final class ParentWatch {
  private static final Duration POLL = Duration.ofMillis(200);

  /** The exit code of a process that was terminated (SIGTERM). */
  private static final int TERMINATED = 128 + 15;

  private ParentWatch() {}

  /** Starts watching, without keeping this process alive. */
  static void start() {
    Optional<ProcessHandle> parent = ProcessHandle.current().parent();
    Thread.ofPlatform().daemon().name("parent-watch").start(() -> endAfter(parent));
  }

  /** A dead parent that nobody has reaped is still there, but is no longer the parent. */
  private static void endAfter(Optional<ProcessHandle> parent) {
    try {
      while (ProcessHandle.current().parent().equals(parent)) {
        Thread.sleep(POLL);
      }
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
      return;
    }
    System.exit(TERMINATED);
  }
}
