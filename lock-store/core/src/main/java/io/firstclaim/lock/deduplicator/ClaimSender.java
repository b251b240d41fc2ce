package io.firstclaim.lock.deduplicator;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Patience;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.StoreException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.TimeSource;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends claims until they are answered, and remembers those that never were. One of them may have
 * been granted: sent again, the store knows it by its nonce, where another claim would find the ID
 * held by nobody who works on it. Each is handed to one caller alone, so that no two work under one
 * token. Bounded: the oldest is forgotten, and its lease runs out. Thread-safe.
 */
final class ClaimSender {
  private static final Logger LOG = LoggerFactory.getLogger(ClaimSender.class);

  /** How long a claim is sent again while the store does not answer. */
  private static final Duration TO_ANSWER = Duration.ofSeconds(10);

  private static final int MOST = 10_000;

  private final ClaimStore store;
  private final TimeSource time;

  /** Guarded by itself. */
  private final SequencedMap<RecordId, Claim> unanswered = new LinkedHashMap<>();

  /** Whether nothing is claimed any more. Guarded by those that were not answered. */
  private boolean closed;

  ClaimSender(ClaimStore store, TimeSource time) {
    this.store = store;
    this.time = time;
  }

  /** Claims this ID, with the claim that had no answer before if there is one. */
  ClaimResult send(RecordId id, Fingerprint fingerprint) throws InterruptedException {
    Claim before = take(id, fingerprint);
    Claim claim = before == null ? Claim.of(id, fingerprint, time.now()) : before;
    ClaimResult answer = null;
    try {
      answer = untilAnswered(claim);
      return answer;
    } finally {
      if (answer == null) { // whatever the last fault was, an earlier request may have been applied
        keep(claim);
      }
    }
  }

  private ClaimResult untilAnswered(Claim claim) throws InterruptedException {
    Patience patience = new Patience(time, TO_ANSWER);
    while (true) {
      try {
        return store.claim(claim);
      } catch (StoreUnavailableException e) {
        if (patience.isOver()) {
          throw e;
        }
      }
      patience.pause();
    }
  }

  /**
   * Gives back what may have been granted without an answer, as far as the patience goes. A claim
   * that is still under way and ends without one is given back when it does.
   */
  void close(Patience patience) {
    for (Claim claim : takeAll()) {
      if (!patience.isOver()) {
        giveBack(claim);
      }
    }
  }

  private void giveBack(Claim claim) {
    through(
        claim.id(),
        () -> {
          if (store.claim(claim) instanceof ClaimResult.Granted(Lease lease, var unused)) {
            release(lease);
          }
        });
  }

  /** Gives back what was granted and is not worked on, as all is closed. */
  void giveBack(Lease lease) {
    through(lease.id(), () -> release(lease));
  }

  private void release(Lease lease) {
    SettleResult given =
        store.release(lease.ofAttempt(lease.attempt() - 1), ClaimStore.AT_ONCE, "closed");
    LOG.debug("Gave back the claim on {} that came too late: {}", lease.id(), given);
  }

  /** Does this though the thread is interrupted, on which no request would be sent. */
  private static void through(RecordId id, Runnable givingBack) {
    boolean interrupted = Thread.interrupted();
    try {
      givingBack.run();
    } catch (StoreException e) {
      LOG.debug("The claim on {} is left to its lease", id, e);
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private void keep(Claim claim) {
    synchronized (unanswered) {
      if (!closed) {
        unanswered.putLast(claim.id(), claim);
        if (unanswered.size() > MOST) {
          unanswered.pollFirstEntry();
        }
        return;
      }
    }
    giveBack(claim);
  }

  private @Nullable Claim take(RecordId id, Fingerprint fingerprint) {
    synchronized (unanswered) {
      Claim claim = unanswered.get(id);
      return claim != null && claim.fingerprint().equals(fingerprint)
          ? unanswered.remove(id)
          : null;
    }
  }

  private List<Claim> takeAll() {
    synchronized (unanswered) {
      closed = true;
      List<Claim> all = List.copyOf(unanswered.values());
      unanswered.clear();
      return all;
    }
  }
}
