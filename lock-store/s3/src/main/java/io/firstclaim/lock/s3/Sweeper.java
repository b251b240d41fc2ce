package io.firstclaim.lock.s3;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ConformanceResult;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.StoreException;
import io.firstclaim.lock.StoreListener;
import io.firstclaim.lock.StoreOperation;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.s3.Markers.Page;
import io.firstclaim.lock.s3.Markers.Read;
import io.firstclaim.lock.store.ClaimRecords.Stored;
import io.firstclaim.lock.store.ClaimRecords.Write;
import io.firstclaim.lock.store.Retirement;
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
 * Deletes the claims of one namespace that are past their retention, which lifecycle rules can only
 * count in days. One of a namespace's sweepers sweeps at a time, under a claim of its own, and the
 * next not before the interval is over.
 *
 * <p>The marker is first taken, by a conditional PUT of a lease that claimants respect like any
 * other, and deleted within it. That DELETE may arrive late, when another has claimed the record,
 * so it is conditional, and the first sweep tests whether the store keeps conditions on deletes:
 * one that ignores them, or compares and deletes in two steps, is not swept at all, and its claims
 * are left to the lifecycle rule. Every sweep looks at the bucket's lifecycle rules, where the role
 * may, and warns of one that removes its claims too early.
 *
 * <p>Not thread-safe: one thread calls {@link #sweep} again and again.
 */
public final class Sweeper {
  private static final Logger LOG = LoggerFactory.getLogger(Sweeper.class);

  /** Claims of the sweepers, one for each namespace swept. */
  private static final String NAMESPACE = "firstclaim-sweeper";

  /** The least time to wait for another's sweep: nothing is lost by coming late. */
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  /** How many are deleted at once, so that the rate is reached over a slow network. */
  private static final int AT_ONCE = 16;

  /** Hears of every page of a sweep. Must not block or throw. */
  @FunctionalInterface
  public interface Listener {
    /**
     * A page was swept.
     *
     * @param listed its objects, up to 1,000
     * @param removed how many were deleted
     */
    void swept(int listed, int removed);
  }

  private final Markers markers;
  private final S3ClaimStore store;
  private final ClaimSettings settings;
  private final Duration interval;
  private final Duration gap;
  private final TimeSource time;
  private final Listener listener;
  private final String name;
  private final S3Bucket bucket;
  private final Lifecycle lifecycle;
  private @Nullable ConformanceResult deletes;

  /**
   * A sweeper of the claims that stores with these settings keep in the bucket.
   *
   * @param interval from one sweep to the next
   * @param perSecond how many claims at most are deleted in a second
   */
  public Sweeper(
      S3Bucket bucket,
      ClaimSettings settings,
      Duration interval,
      int perSecond,
      TimeSource time,
      StoreListener requests,
      Listener listener) {
    this.bucket = bucket;
    this.lifecycle = new Lifecycle(bucket, settings);
    this.markers = new Markers(bucket, settings, time, requests);
    this.store =
        new S3ClaimStore(
            bucket,
            new ClaimSettings(
                NAMESPACE,
                settings.holder(),
                settings.lease(),
                settings.maxSkew(),
                settings.retention()),
            time,
            requests);
    this.settings = settings;
    this.interval = interval;
    this.gap = Duration.ofSeconds(1).dividedBy(perSecond);
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
    Claim claim = Claim.of(RecordId.of(settings.namespace()), Fingerprint.none(), time.now());
    return switch (store.claim(claim)) {
      case ClaimResult.Granted(Lease lease, var takenFrom) -> {
        lifecycle.warnOfShortRules();
        Lease last = mayDelete() ? sweep(lease) : lease;
        if (last != null) {
          var unused = store.release(last, time.now().wall().plus(interval), "swept");
        }
        yield interval;
      }
      case ClaimResult.Later(Instant retryAt, var unused) ->
          atLeastPatience(Duration.between(time.now().wall(), retryAt));
      case ClaimResult.Held held -> atLeastPatience(held.remaining());
      case ClaimResult.Blocked unused -> throw ended();
      case ClaimResult.Done unused -> throw ended();
      case ClaimResult.Dead unused -> throw ended();
      case ClaimResult.Mismatch unused -> throw ended();
    };
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

  private static IllegalStateException ended() {
    return new IllegalStateException("a sweeper never ends its claim");
  }

  private static Duration atLeastPatience(Duration wait) {
    return wait.compareTo(PATIENCE) < 0 ? PATIENCE : wait;
  }

  /** Sweeps as long as the lease can be kept; null if it is another's. */
  private @Nullable Lease sweep(Lease first) throws InterruptedException {
    Lease lease = first;
    String from = null;
    do {
      Page page = markers.list(from);
      AtomicInteger removed = new AtomicInteger();
      AtomicReference<@Nullable StoreException> fault = new AtomicReference<>();
      Semaphore places = new Semaphore(AT_ONCE);
      try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
        Instant kept = page.date().minus(settings.retention());
        for (S3Object object : page.objects()) {
          lease = renewed(lease);
          if (lease == null || lease.isOver(time.now())) {
            return lease;
          }
          if (object.lastModified().isBefore(kept)) {
            time.sleep(gap);
            places.acquire();
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
    } while (from != null);
    return lease;
  }

  /** The lease, renewed if more than a third of it has passed; null if it is another's. */
  private @Nullable Lease renewed(Lease lease) {
    Moment now = time.now();
    if (now.since(lease.start()).compareTo(settings.renewAfter()) < 0) {
      return lease;
    }
    return switch (store.renew(lease)) {
      case SettleResult.Settled(Lease renewed) -> renewed;
      case SettleResult.Unknown unused -> lease;
      case SettleResult.Lost unused -> null;
    };
  }

  /** Takes a marker and deletes it; false if it is needed, or somebody was faster. */
  private boolean remove(String key) {
    Optional<Read> read = markers.read(key);
    Retirement retirement = read.flatMap(this::retirement).orElse(null);
    if (retirement == null) {
      return false;
    }
    String taken = take(retirement, read.get());
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
