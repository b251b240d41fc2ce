package io.firstclaim.processor.engine.admission;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.SequencedSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * How many records are in flight (being claimed or handled), how many wait, and how many bytes they
 * have: of each partition, and of all. Those in flight are bounded strictly; all three bounds stop
 * the polling. What one partition may have of each is said by {@link Shares}. Thread-safe; the
 * thread that polls takes no lock that every record takes, as it would wait behind them all.
 */
public final class InFlightLimit {
  private final int maxInFlight;
  private final int maxParked;
  private final long maxBuffered;

  private volatile Collection<Usage> partitions = List.of();
  private final AtomicInteger present = new AtomicInteger();
  private final AtomicInteger ready = new AtomicInteger();
  private final AtomicLong buffered = new AtomicLong();

  private volatile Shares flights;
  private volatile Shares parkings;
  private volatile Shares buffers;

  // Guarded by this.
  private int inFlight;

  /** How many are in flight beyond what is set aside for their partitions. */
  private int commonInFlight;

  /** Partitions of which records wait for a permit; the first one's turn is next. */
  private final SequencedSet<Usage> waiting = new LinkedHashSet<>();

  private volatile @Nullable Thread poller;

  /** Nothing is in flight. */
  public InFlightLimit(int maxInFlight, int maxParked, long maxBuffered) {
    this.maxInFlight = maxInFlight;
    this.maxParked = maxParked;
    this.maxBuffered = maxBuffered;
    this.flights = new Shares(maxInFlight, 0);
    this.parkings = new Shares(maxParked, 0);
    this.buffers = new Shares(maxBuffered, 0);
  }

  /** What one partition has of everything; belongs to {@link InFlightLimit} alone. */
  public static final class Usage {
    private final AtomicInteger present = new AtomicInteger();

    /** How many are in flight, or wait for nothing but a permit. */
    private final AtomicInteger ready = new AtomicInteger();

    private final AtomicLong buffered = new AtomicLong();

    /** Whether it had no room when the poller looked. */
    private volatile boolean refused;

    // Guarded by the limit it belongs to.
    private int inFlight;
    private final Deque<Permit> waiters = new ArrayDeque<>();

    /** How many permits are set aside for the partition; none once it is lost. */
    private long setAside;

    /** The usage of a partition that has nothing yet. */
    public Usage() {}

    private int parked() {
      return present.get() - ready.get();
    }
  }

  /** From now on these partitions share everything. */
  public synchronized void share(Collection<Usage> assigned) {
    partitions.forEach(usage -> usage.setAside = 0);
    partitions = new ArrayList<>(assigned);
    flights = new Shares(maxInFlight, partitions.size());
    parkings = new Shares(maxParked, partitions.size());
    buffers = new Shares(maxBuffered, partitions.size());
    partitions.forEach(usage -> usage.setAside = flights.setAside());
    commonInFlight = (int) beyondShares(flights, inFlight, usage -> usage.inFlight);
    while (grantNext()) {
      // goes on as long as there is a permit for somebody
    }
  }

  /** A record was delivered. */
  public void arrive(Usage usage, long bytes) {
    present.incrementAndGet();
    usage.present.incrementAndGet();
    buffered.addAndGet(bytes);
    usage.buffered.addAndGet(bytes);
  }

  /** A record is done, or waits with nothing but its offset. */
  public void depart(Usage usage, long bytes) {
    usage.buffered.addAndGet(-bytes);
    buffered.addAndGet(-bytes);
    usage.present.decrementAndGet();
    present.decrementAndGet();
    wakePoller(usage);
  }

  /** The permit of a record, which it does not have yet. */
  Permit permit(Candidate record) {
    return new Permit(record);
  }

  /** The permit of one record to be in flight. */
  final class Permit implements Checkpoint {
    private final Candidate record;
    private final Usage usage;

    // Guarded by the outer class.
    private boolean waits;
    private boolean granted;

    private Permit(Candidate record) {
      this.record = record;
      this.usage = record.usage();
    }

    @Override
    public @Nullable Duration pass() {
      synchronized (InFlightLimit.this) {
        if (!granted && !waits) {
          makeReady(usage, 1);
          if (mayAcquire(usage)) {
            acquire();
          } else {
            waits = true;
            usage.waiters.addLast(this);
            waiting.add(usage);
          }
        }
        return granted ? null : LONG;
      }
    }

    private void acquire() {
      granted = true;
      inFlight++;
      usage.inFlight++;
      if (usage.inFlight > usage.setAside) {
        commonInFlight++;
      }
    }

    private void grant() {
      waits = false;
      acquire();
      record.call();
    }

    @Override
    public void leave() {
      synchronized (InFlightLimit.this) {
        if (granted) {
          release();
        } else if (waits) {
          giveUp();
        } else {
          return;
        }
      }
      makeReady(usage, -1);
      wakePoller(usage);
    }

    private void release() {
      granted = false;
      inFlight--;
      if (usage.inFlight > usage.setAside) {
        commonInFlight--;
      }
      usage.inFlight--;
      grantNext();
    }

    private void giveUp() {
      waits = false;
      usage.waiters.remove(this);
      if (usage.waiters.isEmpty()) {
        waiting.remove(usage);
      }
    }
  }

  private void makeReady(Usage usage, int more) {
    ready.addAndGet(more);
    usage.ready.addAndGet(more);
  }

  private boolean mayAcquire(Usage usage) {
    return inFlight < maxInFlight
        && (usage.inFlight < usage.setAside || flights.allow(usage.inFlight, commonInFlight));
  }

  /** Grants a permit to the next that may have one, the partitions taking turns. */
  private boolean grantNext() {
    for (Usage usage : waiting) {
      if (mayAcquire(usage)) {
        Permit next = usage.waiters.removeFirst();
        waiting.remove(usage);
        if (!usage.waiters.isEmpty()) {
          waiting.addLast(usage);
        }
        next.grant();
        return true;
      }
    }
    return false;
  }

  /** Records that are being claimed or handled. */
  public synchronized int inFlight() {
    return inFlight;
  }

  /** Whether a record of this partition that wants a permit would have to wait. */
  public synchronized boolean isFull(Usage usage) {
    return !mayAcquire(usage);
  }

  /** Records that wait: for another holder, a retry, their head start, or their turn. */
  public int parked() {
    return Math.max(0, present.get() - inFlight());
  }

  /** Bytes of the records in memory: keys, values and headers. */
  public long buffered() {
    return buffered.get();
  }

  /** Whether no record is here. */
  public boolean isEmpty() {
    return present.get() == 0;
  }

  /**
   * The partitions of which more records may come. If there is none, the one thread that polls
   * waits here for one, this long at most.
   */
  public Collection<Usage> awaitRoom(Duration atMost) {
    poller = Thread.currentThread();
    long deadline = System.nanoTime() + atMost.toNanos();
    while (true) {
      Collection<Usage> room = withRoom();
      long left = deadline - System.nanoTime();
      if (!room.isEmpty() || partitions.isEmpty() || left <= 0) {
        return room;
      }
      LockSupport.parkNanos(this, left);
    }
  }

  private Collection<Usage> withRoom() {
    // Before the counts are read, so that whoever changes one later sees it and wakes this thread.
    partitions.forEach(usage -> usage.refused = true);
    long commonReady = beyondShares(flights, ready.get(), usage -> usage.ready.get());
    long commonParked = beyondShares(parkings, present.get() - ready.get(), Usage::parked);
    long commonBytes = beyondShares(buffers, buffered.get(), usage -> usage.buffered.get());
    List<Usage> room = new ArrayList<>(partitions.size());
    for (Usage usage : partitions) {
      if (flights.allow(usage.ready.get(), commonReady)
          && parkings.allow(usage.parked(), commonParked)
          && buffers.allow(usage.buffered.get(), commonBytes)) {
        usage.refused = false;
        room.add(usage);
      }
    }
    return room;
  }

  /** What is taken of the common half: all that is not within the part of a partition. */
  private long beyondShares(Shares shares, long all, ToLongFunction<Usage> own) {
    long within = 0;
    for (Usage usage : partitions) {
      within += Math.min(own.applyAsLong(usage), shares.setAside());
    }
    return all - within;
  }

  /**
   * Wakes the poller only if there may be room now; else it would look in vain, record after
   * record.
   */
  private void wakePoller(Usage usage) {
    if (usage.refused
        && flights.mayAllow(usage.ready.get(), ready.get())
        && parkings.mayAllow(usage.parked(), present.get() - ready.get())
        && buffers.mayAllow(usage.buffered.get(), buffered.get())) {
      usage.refused = false;
      LockSupport.unpark(poller);
    }
  }
}
