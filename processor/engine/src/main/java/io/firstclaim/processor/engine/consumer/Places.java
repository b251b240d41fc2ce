package io.firstclaim.processor.engine.consumer;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.SequencedSet;
import java.util.concurrent.locks.LockSupport;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * How many records are in flight (being claimed or handled), how many wait, and how many bytes they
 * have: of each partition, and of all. Those in flight are bounded strictly; all three bounds stop
 * the polling. What one partition may have of each is said by {@link Shares}. Thread-safe.
 */
final class Places {
  private final int maxInFlight;
  private final int maxParked;
  private final long maxBuffered;

  private volatile Collection<AssignedPartition> partitions = List.of();
  private Shares flights;
  private int present;
  private int inFlight;
  private int ready;
  private long buffered;

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
  }

  /** What one partition has of everything; belongs to {@link Places} alone. */
  static final class Usage {
    private int present;
    private int inFlight;
    private long buffered;
    private final Deque<Waiter> waiters = new ArrayDeque<>();

    /** What is set aside for it of the places in flight; nothing once it is lost. */
    private long setAside;

    /** Whether it had no room when the poller looked. */
    private boolean refused;

    /** In flight, or waiting for nothing but a place in flight. */
    private int ready() {
      return inFlight + waiters.size();
    }

    private int parked() {
      return present - ready();
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
    partitions.forEach(partition -> partition.usage().setAside = flights.setAside());
    commonInFlight = (int) beyondShares(flights, inFlight, usage -> usage.inFlight);
    while (grantNext()) {
      // as long as there is a place for somebody
    }
  }

  /** A record was delivered. */
  synchronized void arrive(Delivery delivery) {
    Usage usage = delivery.partition().usage();
    present++;
    usage.present++;
    buffered += delivery.bytes();
    usage.buffered += delivery.bytes();
  }

  /** A record is done, or waits with nothing but its offset. */
  synchronized void depart(Delivery delivery) {
    Usage usage = delivery.partition().usage();
    present--;
    usage.present--;
    buffered -= delivery.bytes();
    usage.buffered -= delivery.bytes();
    wakePoller(usage);
  }

  /** Waits for a place in flight. */
  void takeOff(AssignedPartition partition) throws InterruptedException {
    Usage usage = partition.usage();
    Waiter waiter;
    synchronized (this) {
      ready++;
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
        ready--;
        return;
      }
    }
    land(usage);
  }

  /** Gives back the place in flight. */
  void land(AssignedPartition partition) {
    land(partition.usage());
  }

  private synchronized void land(Usage usage) {
    ready--;
    inFlight--;
    if (usage.inFlight > usage.setAside) {
      commonInFlight--;
    }
    usage.inFlight--;
    boolean _ = grantNext();
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
  synchronized int parked() {
    return present - inFlight;
  }

  /** Bytes of the records in memory: keys, values and headers. */
  synchronized long buffered() {
    return buffered;
  }

  synchronized boolean isEmpty() {
    return present == 0;
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

  private synchronized Collection<AssignedPartition> withRoom() {
    Shares parked = new Shares(maxParked, partitions.size());
    Shares bytes = new Shares(maxBuffered, partitions.size());
    long commonReady = beyondShares(flights, ready, Usage::ready);
    long commonParked = beyondShares(parked, present - ready, Usage::parked);
    long commonBytes = beyondShares(bytes, buffered, usage -> usage.buffered);
    List<AssignedPartition> room = new ArrayList<>(partitions.size());
    for (AssignedPartition partition : partitions) {
      Usage usage = partition.usage();
      usage.refused =
          !flights.allow(usage.ready(), commonReady)
              || !parked.allow(usage.parked(), commonParked)
              || !bytes.allow(usage.buffered, commonBytes);
      if (!usage.refused) {
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

  private void wakePoller(Usage usage) {
    if (usage.refused) {
      usage.refused = false;
      LockSupport.unpark(poller);
    }
  }
}
