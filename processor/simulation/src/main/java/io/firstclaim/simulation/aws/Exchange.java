package io.firstclaim.simulation.aws;

import java.io.IOException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** A request that is waited for. */
final class Exchange {
  private final Thread waiter = Thread.currentThread();
  private Service.@Nullable Answer answer;
  private boolean reset;
  private boolean aborted;

  void answered(Service.Answer given) {
    answer = given;
    LockSupport.unpark(waiter);
  }

  void reset() {
    reset = true;
    LockSupport.unpark(waiter);
  }

  void abort() {
    aborted = true;
    LockSupport.unpark(waiter);
  }

  /** Waits for the answer. */
  Service.Answer await(Duration limit) throws IOException {
    long deadline = System.nanoTime() + limit.toNanos();
    while (answer == null) {
      if (reset) {
        throw new SocketException("Connection reset");
      }
      if (aborted || Thread.currentThread().isInterrupted()) {
        throw new IOException("Aborted");
      }
      long left = deadline - System.nanoTime();
      if (left <= 0) {
        throw new SocketTimeoutException("Read timed out");
      }
      LockSupport.parkNanos(this, left);
    }
    return answer;
  }
}
