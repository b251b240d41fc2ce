package io.firstclaim.processor.engine.admission;

import io.firstclaim.lock.Backoff;
import io.firstclaim.lock.OncePerMinute;
import io.firstclaim.lock.StoreException;
import io.firstclaim.lock.TimeSource;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has what failed at the {@link StoreGate} tried by one after the other, less and less often, until
 * the store answers. Each lane that is shut has a thread for that. Thread-safe.
 */
final class GateMending {
  static final Backoff PAUSES = new Backoff(Duration.ofMillis(200), Duration.ofSeconds(4));

  /** How long somebody may take to come who tries what failed: those who failed come again. */
  static final Duration CALL = PAUSES.longest().plusSeconds(1);

  private static final Logger LOG = LoggerFactory.getLogger(StoreGate.class);

  private final StoreGate gate;
  private final Runnable question;
  private final TimeSource time;
  private final Duration call;

  /** The pauses between two tries: short enough to save leases once the store answers. */
  private final Backoff pauses;

  private final OncePerMinute told;
  private volatile boolean outageTold;

  /**
   * Nothing is to be mended.
   *
   * @param question asks the store something when nobody comes who would try
   * @param lease the length of a lease
   * @param call how long somebody may take to come
   */
  GateMending(StoreGate gate, Runnable question, Duration lease, TimeSource time, Duration call) {
    this.gate = gate;
    this.question = question;
    this.time = time;
    this.call = call;
    Duration sixth = lease.dividedBy(6);
    this.pauses =
        new Backoff(
            PAUSES.first(), sixth.compareTo(PAUSES.longest()) < 0 ? sixth : PAUSES.longest());
    this.told = new OncePerMinute(time);
  }

  /** Shuts a lane, for this reason, until the store answers there. Under the gate's lock. */
  void shut(GateLane lane, String why) {
    lane.fault = why;
    if (lane.mended) {
      return; // the thread that mends the lane has just seen it open, and will see this too
    }
    lane.mended = true;
    boolean started = false;
    try {
      // Not a virtual thread: handlers may occupy all that carry those.
      var _ =
          Thread.ofPlatform()
              .daemon()
              .name("firstclaim-store-probe-" + lane.name)
              .start(() -> mend(lane));
      started = true;
    } finally {
      if (!started) {
        lane.mended = false;
        lane.fault = null;
      }
    }
  }

  /** Whether there is something to mend still; if not, whoever shuts the lane starts another. */
  private boolean goesOn(GateLane lane) {
    gate.lock.lock();
    try {
      lane.mended = lane.fault != null;
      return lane.mended;
    } finally {
      gate.lock.unlock();
    }
  }

  private void mend(GateLane lane) {
    while (goesOn(lane)) {
      try {
        tell(lane);
        time.sleep(pauses.after(lane.failures.get()));
        if (!isTried(lane)) {
          ask(lane);
        }
      } catch (InterruptedException e) {
        LOG.debug("Nobody interrupts this thread", e);
      } catch (RuntimeException | Error e) { // or the gate would stay shut: no other thread comes
        DefectPause.after(e, LOG, "Having the lock store tried", pauses.first());
      }
    }
    if (outageTold && gate.isOpen()) {
      outageTold = false;
      LOG.info("The lock store answers again");
    }
  }

  private void tell(GateLane lane) {
    if (told.isDue()) {
      outageTold = true;
      LOG.warn(
          "The lock store answers no {}; no record is begun until it does: {}",
          lane.name,
          lane.fault);
    }
  }

  /**
   * Lets one try and waits for what comes of it. One that need not ask any more, as its record has
   * ended, makes way for the next at once.
   *
   * @return false if nobody came who had to ask
   */
  private boolean isTried(GateLane lane) throws InterruptedException {
    gate.lock.lockInterruptibly();
    try {
      GateLane.Retry retry;
      do {
        lane.offerRetry();
        gate.wake(lane);
        retry = lane.awaitRetry(call);
      } while (retry == GateLane.Retry.NONE);
      return retry == GateLane.Retry.ANSWERED;
    } finally {
      gate.lock.unlock();
    }
  }

  /** Asks the store something else, so that a fault does not outlive those who met it. */
  private void ask(GateLane lane) {
    @Nullable String fault = null;
    try {
      question.run();
    } catch (StoreException e) {
      fault = String.valueOf(e.getMessage());
    } catch (RuntimeException | Error e) {
      LOG.error("Asking the lock store failed in an unforeseen way; trying again", e);
      fault = e.toString();
    }
    String found = fault;
    gate.locked(
        () -> {
          lane.hasAsked(found);
          gate.wake();
        });
  }
}
