package io.firstclaim.processor.engine.consumer;

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
final class Places {
  private final int maxInFlight;
  private final int maxParked;
  private final long maxBuffered;

  private volatile Collection<AssignedPartition> partitions = List.of();
  private final AtomicInteger present = new AtomicInteger();
  private final AtomicInteger ready = new AtomicInteger();
  private final AtomicLong buffered = new AtomicLong();

  private volatile Shares flights;
  private volatile Shares parkings;
  private volatile Shares buffers;

  // Guarded by this.
  private int inFlight;

  /** Those in flight beyond what is set aside for their partitions. */
  private int commonInFlight;

  /** Partitions of which records wait for a place in flight; the first one's turn is next. */
  private final SequencedSet<Usage> waiting = new LinkedHashSet<>();

  private volatile @Nullable Thread poller;

  Places(int maxInFlight, int maxParked, long maxBuffered) {
    this.maxInFlight = maxInFlight;
    this.maxParked = maxParked;
    this.maxBuffered = maxBuffered;
    this.flights = new Shares(maxInFlight, 0);
    this.parkings = new Shares(maxParked, 0);
    this.buffers = new Shares(maxBuffered, 0);
  }

  /** What one partition has of everything; belongs to {@link Places} alone. */
  static final class Usage {
    private final AtomicInteger present = new AtomicInteger();

    /** In flight, or waiting for nothing but a place in flight. */
    private final AtomicInteger ready = new AtomicInteger();

    private final AtomicLong buffered = new AtomicLong();

    /** Whether it had no room when the poller looked. */
    private volatile boolean refused;

    // Guarded by the places it belongs to.
    private int inFlight;
    private final Deque<Waiter> waiters = new ArrayDeque<>();

    /** What is set aside for it of the places in flight; nothing once it is lost. */
    private long setAside;

    private int parked() {
      return present.get() - ready.get();
    }
  }

  private static final class Waiter {
    private final Thread thread = Thread.currentThread();
    private volatile boolean granted;
  }

  /** From now on these partitions share everything. */
  synchronized void share(Collection<AssignedPartition> assigned) {
    partitions.forEach(partition -> partition.usage().setAside = 0);
    partitions = new ArrayList<>(assigned);
    flights = new Shares(maxInFlight, partitions.size());
    parkings = new Shares(maxParked, partitions.size());
    buffers = new Shares(maxBuffered, partitions.size());
    partitions.forEach(partition -> partition.usage().setAside = flights.setAside());
    commonInFlight = (int) beyondShares(flights, inFlight, usage -> usage.inFlight);
    while (grantNext()) {
      // as long as there is a place for somebody
    }
  }

  /** A record was delivered. */
  void arrive(Delivery delivery) {
    Usage usage = delivery.partition().usage();
    int _ = present.incrementAndGet();
    int _ = usage.present.incrementAndGet();
    long _ = buffered.addAndGet(delivery.bytes());
    long _ = usage.buffered.addAndGet(delivery.bytes());
  }

  /** A record is done, or waits with nothing but its offset. */
  void depart(Delivery delivery) {
    Usage usage = delivery.partition().usage();
    long _ = usage.buffered.addAndGet(-delivery.bytes());
    long _ = buffered.addAndGet(-delivery.bytes());
    int _ = usage.present.decrementAndGet();
    int _ = present.decrementAndGet();
    wakePoller(usage);
  }

  /** Waits for a place in flight. */
  void takeOff(AssignedPartition partition) throws InterruptedException {
    Usage usage = partition.usage();
    makeReady(usage, 1);
    Waiter waiter;
    synchronized (this) {
      if (mayTakeOff(usage)) {
        takeOff(usage);
        return;
      }
      waiter = new Waiter();
      usage.waiters.addLast(waiter);
      boolean _ = waiting.add(usage);
    }
    while (!waiter.granted) {
      LockSupport.park(this);
      if (Thread.interrupted()) {
        giveUp(usage, waiter);
        throw new InterruptedException();
      }
    }
  }

  private void giveUp(Usage usage, Waiter waiter) {
    synchronized (this) {
      if (!waiter.granted) {
        boolean _ = usage.waiters.remove(waiter);
        if (usage.waiters.isEmpty()) {
          boolean _ = waiting.remove(usage);
        }
        makeReady(usage, -1);
        return;
      }
    }
    land(usage);
  }

  private void makeReady(Usage usage, int more) {
    int _ = ready.addAndGet(more);
    int _ = usage.ready.addAndGet(more);
  }

  /** Gives back the place in flight. */
  void land(AssignedPartition partition) {
    land(partition.usage());
  }

  private void land(Usage usage) {
    synchronized (this) {
      inFlight--;
      if (usage.inFlight > usage.setAside) {
        commonInFlight--;
      }
      usage.inFlight--;
      boolean _ = grantNext();
    }
    makeReady(usage, -1);
    wakePoller(usage);
  }

  private boolean mayTakeOff(Usage usage) {
    return inFlight < maxInFlight
        && (usage.inFlight < usage.setAside || flights.allow(usage.inFlight, commonInFlight));
  }

  private void takeOff(Usage usage) {
    inFlight++;
    usage.inFlight++;
    if (usage.inFlight > usage.setAside) {
      commonInFlight++;
    }
  }

  /** Grants a place to the next that may have one, the partitions taking turns. */
  private boolean grantNext() {
    for (Usage usage : waiting) {
      if (mayTakeOff(usage)) {
        Waiter waiter = usage.waiters.removeFirst();
        takeOff(usage);
        boolean _ = waiting.remove(usage);
        if (!usage.waiters.isEmpty()) {
          waiting.addLast(usage);
        }
        waiter.granted = true;
        LockSupport.unpark(waiter.thread);
        return true;
      }
    }
    return false;
  }

  /** Records that are being claimed or handled. */
  synchronized int inFlight() {
    return inFlight;
  }

  /** Whether a record of this partition that wants a place in flight would have to wait. */
  synchronized boolean isFull(AssignedPartition partition) {
    return !mayTakeOff(partition.usage());
  }

  /** Records that wait: for another holder, a retry, their head start, or their turn. */
  int parked() {
    return Math.max(0, present.get() - inFlight());
  }

  /** Bytes of the records in memory: keys, values and headers. */
  long buffered() {
    return buffered.get();
  }

  boolean isEmpty() {
    return present.get() == 0;
  }

  /**
   * Those of the partitions that share everything of which more records may come. Waits this long
   * until there is one, by the one thread that polls.
   */
  Collection<AssignedPartition> awaitRoom(Duration atMost) {
    poller = Thread.currentThread();
    long deadline = System.nanoTime() + atMost.toNanos();
    while (true) {
      Collection<AssignedPartition> room = withRoom();
      long left = deadline - System.nanoTime();
      if (!room.isEmpty() || partitions.isEmpty() || left <= 0) {
        return room;
      }
      LockSupport.parkNanos(this, left);
    }
  }

  private Collection<AssignedPartition> withRoom() {
    // Before the counts are read: whoever changes one after that sees it, and wakes this thread.
    partitions.forEach(partition -> partition.usage().refused = true);
    long commonReady = beyondShares(flights, ready.get(), usage -> usage.ready.get());
    long commonParked = beyondShares(parkings, present.get() - ready.get(), Usage::parked);
    long commonBytes = beyondShares(buffers, buffered.get(), usage -> usage.buffered.get());
    List<AssignedPartition> room = new ArrayList<>(partitions.size());
    for (AssignedPartition partition : partitions) {
      Usage usage = partition.usage();
      if (flights.allow(usage.ready.get(), commonReady)
          && parkings.allow(usage.parked(), commonParked)
          && buffers.allow(usage.buffered.get(), commonBytes)) {
        usage.refused = false;
        room.add(partition);
      }
    }
    return room;
  }

  /** What is taken of the common half: all that is not within the part of a partition. */
  private long beyondShares(Shares shares, long all, ToLongFunction<Usage> own) {
    long within = 0;
    for (AssignedPartition partition : partitions) {
      within += Math.min(own.applyAsLong(partition.usage()), shares.setAside());
    }
    return all - within;
  }

  /** Only if there may be room for it now: the poller would find none, record after record. */
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
