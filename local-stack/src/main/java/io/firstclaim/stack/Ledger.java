package io.firstclaim.stack;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What is known from outside about every event: how often it was published, handled and recorded as
 * completed. The feeder, the handler and the watcher of outcomes write to it, each on its own
 * thread.
 */
final class Ledger {

  /** One event's account. */
  static final class Entry {
    private final Event event;
    private final boolean poison;
    private final AtomicInteger publications = new AtomicInteger();
    private final Set<Long> completions = ConcurrentHashMap.newKeySet();
    private final List<String> runs = new ArrayList<>(1);
    private volatile @Nullable String completedBy;
    private volatile boolean dead;

    private Entry(Event event, boolean poison) {
      this.event = event;
      this.poison = poison;
    }

    /** Whether its handler always fails, so that it is to be given up. */
    boolean isPoison() {
      return poison;
    }

    Event event() {
      return event;
    }

    /** Notes that it was published; returns how often that is now. */
    int published() {
      return publications.incrementAndGet();
    }

    int publications() {
      return publications.get();
    }

    /** How many claims completed it; one may be announced more than once. */
    int completions() {
      return completions.size();
    }

    @Nullable String completedBy() {
      return completedBy;
    }

    boolean isDead() {
      return dead;
    }

    boolean isSettled() {
      return dead || !completions.isEmpty();
    }

    /** The zones that ran the handler, in that order. */
    List<String> runs() {
      synchronized (runs) {
        return List.copyOf(runs);
      }
    }

    private void ran(String zone) {
      synchronized (runs) {
        runs.add(zone);
      }
    }
  }

  private final Map<String, Entry> entries = new LinkedHashMap<>();
  private final AtomicInteger settled = new AtomicInteger();
  private final AtomicInteger takeovers = new AtomicInteger();
  private final AtomicInteger strangers = new AtomicInteger();
  private final AtomicInteger mismatches = new AtomicInteger();
  private final AtomicLong lastSettled = new AtomicLong(System.nanoTime());

  /** Events of which none is poison. */
  Ledger(List<Event> events) {
    this(events, 0);
  }

  /**
   * Events of which one in so many is poison.
   *
   * @param poisonEvery 0 for none
   */
  Ledger(List<Event> events, int poisonEvery) {
    for (Event event : events) {
      boolean poison = poisonEvery > 0 && entries.size() % poisonEvery == poisonEvery - 1;
      entries.put(event.id(), new Entry(event, poison));
    }
  }

  Collection<Entry> entries() {
    return entries.values();
  }

  int size() {
    return entries.size();
  }

  /** Whether every event was published at least once. */
  boolean isPublished() {
    return entries.values().stream().allMatch(entry -> entry.publications() > 0);
  }

  /** A handler run of {@code zone} begins. */
  void ran(String id, String zone) {
    Entry entry = entries.get(id);
    if (entry == null) {
      strangers.incrementAndGet();
    } else {
      entry.ran(zone);
    }
  }

  /** Whether the handler of this event always fails. */
  boolean isPoison(String id) {
    Entry entry = entries.get(id);
    return entry != null && entry.isPoison();
  }

  boolean knows(String id) {
    return entries.containsKey(id);
  }

  /** An outcome was published, of the claim with this token. */
  void outcome(String id, String outcome, String zone, long token) {
    Entry entry = entries.get(id);
    if (entry == null) {
      strangers.incrementAndGet();
      return;
    }
    switch (outcome) {
      case "COMPLETED" -> {
        boolean first = !entry.isSettled();
        entry.completedBy = zone;
        entry.completions.add(token);
        settle(first);
      }
      case "DEAD" -> {
        boolean first = !entry.isSettled();
        entry.dead = true;
        settle(first);
      }
      case "TAKEN_OVER" -> takeovers.incrementAndGet();
      case "MISMATCH" -> mismatches.incrementAndGet();
      default -> {
        // FAILED and LEASE_LOST: the record is on its way to one of the above.
      }
    }
  }

  private void settle(boolean first) {
    if (first) {
      settled.incrementAndGet();
      lastSettled.set(System.nanoTime());
    }
  }

  /** How many events are completed or dead. */
  int settled() {
    return settled.get();
  }

  /** {@link System#nanoTime()} of the last event that became settled. */
  long lastSettled() {
    return lastSettled.get();
  }

  int takeovers() {
    return takeovers.get();
  }

  int mismatches() {
    return mismatches.get();
  }

  /** Handler runs and outcomes of IDs that nobody published. */
  int strangers() {
    return strangers.get();
  }

  /** How often events were published; every zone gets each of those. */
  int publications() {
    return entries.values().stream().mapToInt(Entry::publications).sum();
  }

  /** One line that says how far these zones have got. */
  String progress(Duration sinceBegin, List<String> zones) {
    String byZone =
        zones.stream()
            .map(zone -> "%s %,d".formatted(zone, completedBy(zone)))
            .collect(Collectors.joining(", "));
    return "  %3.0f s  published %,d, done %,d of %,d (%s)"
        .formatted(sinceBegin.toMillis() / 1000.0, publications(), settled(), size(), byZone);
  }

  long completedBy(String zone) {
    return entries.values().stream().filter(each -> zone.equals(each.completedBy)).count();
  }
}
