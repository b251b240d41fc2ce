package io.firstclaim.processor.engine.admission;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;

/** What a thread that must go on does after a fault that nobody foresaw. */
final class DefectPause {
  private DefectPause() {}

  /**
   * Logs the fault, if there is memory left for that, and pauses: not by a TimeSource, whose sleep
   * may be what failed.
   */
  static void after(Throwable fault, Logger log, String what, Duration pause) {
    try {
      log.error("{} failed in an unforeseen way; trying again", what, fault);
    } catch (RuntimeException | Error e) {
      // The thread must go on even where nothing can be logged.
    }
    LockSupport.parkNanos(pause.toNanos());
  }
}
