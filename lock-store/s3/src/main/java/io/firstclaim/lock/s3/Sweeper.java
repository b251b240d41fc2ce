package io.firstclaim.lock.s3;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimState.Dead;
import io.firstclaim.lock.ClaimState.Done;
import io.firstclaim.lock.ClaimState.Free;
import io.firstclaim.lock.ClaimState.Held;
import io.firstclaim.lock.ConformanceResult;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.StoreException;
import io.firstclaim.lock.StoreListener;
import io.firstclaim.lock.StoreOperation;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.s3.Markers.Page;
import io.firstclaim.lock.s3.Markers.Read;
import io.firstclaim.lock.store.ClaimRecords.Stored;
import io.firstclaim.lock.store.ClaimRecords.Write;
import io.firstclaim.lock.store.Retirement;
import io.firstclaim.lock.store.SweepTurn;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.services.s3.model.S3Object;

/**
 * Deletes the claims of one namespace that are past their retention, where no lifecycle rule of the
 * bucket does. One of a namespace's sweepers sweeps at a time, under a claim of its own, and the
 * next not before the interval is over.
 *
 * <p>Each sweep looks at the bucket's lifecycle rules first, where the role may, and warns of one
 * that removes claims too early. If one removes all that is under the prefix, which costs nothing,
 * the sweep leaves it to that.
 *
 * <p>Else a marker that is done or dead is read and deleted, on the condition that it is still what
 * was read; one that is not finished is first taken, by a conditional PUT of a lease that claimants
 * respect like any other, and deleted within it. A DELETE may arrive late, when another has claimed
 * the record, so the first sweep tests whether the store keeps its condition: one that ignores it,
 * or compares and deletes in two steps, is not swept at all, and its claims are left to a lifecycle
 * rule.
 *
 * <p>It is as fast as a bounded number of requests at once, so that it does not fall behind the
 * claims that end. Where the store asks to slow down, these back off as the client does.
 *
 * <p>Not thread-safe: one thread calls {@link #sweep} again and again.
 */
public final class Sweeper {
  private static final Logger LOG = LoggerFactory.getLogger(Sweeper.class);

  /**
   * How many are deleted at once: where a request takes 20 ms, some 1,600 a second, as many as S3
   * takes claims under a prefix that it has not split.
   */
  static final int AT_ONCE = 64;

  private final Markers markers;
  private final SweepTurn turn;
  private final ClaimSettings settings;
  private final TimeSource time;
  private final SweepTurn.Listener listener;
  private final String name;
  private final S3Bucket bucket;
  private final Lifecycle lifecycle;
  private @Nullable ConformanceResult deletes;

  /**
   * A sweeper of the claims that stores with these settings keep in the bucket.
   *
   * @param interval from one sweep to the next
   */
  public Sweeper(
      S3Bucket bucket,
      ClaimSettings settings,
      Duration interval,
      TimeSource time,
      StoreListener requests,
      SweepTurn.Listener listener) {
    this.bucket = bucket;
    this.lifecycle = new Lifecycle(bucket, settings);
    this.markers = new Markers(bucket, settings, time, requests);
    ClaimSettings turns = SweepTurn.settings(settings);
    this.turn =
        new SweepTurn(
            new S3ClaimStore(bucket, turns, time, requests),
            RecordId.of(settings.namespace()),
            turns,
            interval,
            time);
    this.settings = settings;
    this.time = time;
    this.listener = listener;
    this.name = "sweeper of " + settings.holder();
  }

  /**
   * Sweeps once, unless another sweeper is at it or it is not yet due.
   *
   * @return how long until the next call
   * @throws StoreException if the store does not answer, or the role may not delete
   */
  public Duration sweep() throws InterruptedException {
    return turn.take(
        () -> {
          if (!lifecycle.removes() && mayDelete()) {
            sweepAll();
          }
        });
  }

  private boolean mayDelete() {
    if (deletes == null) {
      deletes = bucket.deletes();
      if (!deletes.kept()) {
        LOG.warn(
            "S3 bucket {} is not swept, as it does not keep conditions on deletes ({}): finished"
                + " claims under {} stay until a lifecycle rule removes them",
            bucket.name(),
            deletes.seen(),
            bucket.prefix());
      }
    }
    return deletes.kept();
  }

  /** Sweeps as long as the turn is kept. */
  private void sweepAll() throws InterruptedException {
    String from = null;
    do {
      Page page = markers.list(from);
      AtomicInteger removed = new AtomicInteger();
      AtomicReference<@Nullable StoreException> fault = new AtomicReference<>();
      Semaphore places = new Semaphore(AT_ONCE);
      try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
        Instant kept = page.date().minus(settings.retention());
        for (S3Object object : page.objects()) {
          if (object.lastModified().isBefore(kept)) {
            places.acquire();
            if (!turn.isKept()) {
              return;
            }
            threads.execute(
                () -> {
                  try {
                    removed.addAndGet(remove(object.key()) ? 1 : 0);
                  } catch (StoreException e) {
                    fault.set(e);
                  } finally {
                    places.release();
                  }
                });
          }
        }
      }
      StoreException last = fault.get();
      if (last != null) {
        LOG.warn("Not everything could be swept: {}", last.getMessage());
      }
      listener.swept(page.objects().size(), removed.get());
      from = page.next();
    } while (from != null && turn.isKept());
  }

  /** Deletes a marker; false if it is needed, or somebody was faster. */
  private boolean remove(String key) {
    Optional<Read> read = markers.read(key);
    Retirement retirement = read.flatMap(this::retirement).orElse(null);
    if (retirement == null) {
      return false;
    }
    return switch (read.get().marker().claim().state()) {
      case Done unused -> markers.delete(key, read.get().version());
      case Dead unused -> markers.delete(key, read.get().version());
      case Held unused -> takeAndDelete(key, retirement, read.get());
      case Free unused -> takeAndDelete(key, retirement, read.get());
    };
  }

  private boolean takeAndDelete(String key, Retirement retirement, Read read) {
    String taken = take(retirement, read);
    return taken != null && hasTimeToDelete(retirement.lease()) && markers.delete(key, taken);
  }

  private Optional<Retirement> retirement(Read read) {
    Marker marker = read.marker();
    return marker.namespace().equals(settings.namespace())
        ? Retirement.of(
            marker.claim(),
            marker.id(),
            read.age().minus(Marker.CUT),
            name,
            read.at(),
            keeping(marker.retention()))
        : Optional.empty();
  }

  /** The settings, but with the retention of the marker's writer if that is longer. */
  private ClaimSettings keeping(Duration asWritten) {
    return asWritten.compareTo(settings.retention()) <= 0
        ? settings
        : new ClaimSettings(
            settings.namespace(),
            settings.holder(),
            settings.lease(),
            settings.maxSkew(),
            asWritten);
  }

  /** The version under which the marker is ours now; null if it is not. */
  private @Nullable String take(Retirement retirement, Read read) {
    Lease lease = retirement.lease();
    return switch (markers.write(
        StoreOperation.RETIRE, lease.id(), retirement.claim(), read.stored(), lease.start())) {
      case Write.Took took -> took.version();
      case Write.Differs(Stored found) ->
          // Another wrote it, or this very request did: its answer was lost, and the SDK sent it
          // again.
          found != null && found.claim().nonce().equals(lease.nonce()) ? found.version() : null;
    };
  }

  /** Whether a DELETE would end, one way or the other, before others may take the record. */
  private boolean hasTimeToDelete(Lease lease) {
    return lease.remaining(time.now()).compareTo(settings.storeTimeout()) > 0;
  }
}
