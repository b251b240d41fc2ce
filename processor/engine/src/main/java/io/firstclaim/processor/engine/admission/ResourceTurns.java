package io.firstclaim.processor.engine.admission;

import io.firstclaim.lock.Moment;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.TimeSource;
import java.time.Duration;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Has the records of this instance that touch one resource go one after the other, so that none of
 * them asks the lock store in vain: first come, first served at each resource. A record has its
 * turn at all its resources at once, or stands in line; the first to have come is first in all its
 * lines, so somebody can always go.
 *
 * <p>At most about 100 records pass one that stands in front and waits for other instances, and so
 * it is not starved:
 *
 * <ul>
 *   <li>Here: a record that the store refuses, as others hold some of its resources, keeps its
 *       place in front of those. In its other lines it lets the next ones pass, {@value #RUN} of
 *       them; then it keeps its place there too.
 *   <li>Elsewhere: each other instance hears that the record waits, and lets {@value #RUN} more of
 *       its own records at any of those resources go first. Then it leaves them all alone until it
 *       hears what became of the record, or for {@link #STAND_BACK} if it hears nothing. The record
 *       is woken by each outcome at its resources, so it asks the store as soon as they are free.
 * </ul>
 *
 * <p>A resource is known here by its {@linkplain RecordId#text() text}, which is distinct for each.
 * Thread-safe; calls nobody that could call back.
 */
public final class ResourceTurns {
  /** How many records may pass one that waits: here, and in each other instance. */
  static final int RUN = 32;

  /** How long resources are left to a record that waits for them elsewhere, at most. */
  public static final Duration STAND_BACK = Duration.ofSeconds(2);

  /** What is heard of others must not fill the memory. */
  private static final int MAX_RIVALS = 1_000;

  /** So many characters the names of their resources have together. */
  private static final long MAX_RIVAL_NAMES = 4L << 20;

  private final TimeSource time;

  // Guarded by this.
  private final Map<String, Line> lines = new HashMap<>();
  private final SequencedMap<RecordId, Rival> rivals = new LinkedHashMap<>();
  private long rivalNames;
  private long numbers;

  /** Nobody stands in line. */
  public ResourceTurns(TimeSource time) {
    this.time = time;
  }

  /** Those who want one resource. */
  private static final class Line {
    private final NavigableSet<Turn> waiting =
        new TreeSet<>(Comparator.comparingLong(turn -> turn.number));
    private @Nullable Turn taken;

    /** The first turn in line that lets nobody pass. */
    @Nullable Turn first(String resource) {
      for (Turn turn : waiting) {
        if (turn.standsAt(resource)) {
          return turn;
        }
      }
      return null;
    }
  }

  /** A record that waits in another instance. */
  private static final class Rival {
    private final Set<String> resources;
    private int passed;
    private @Nullable Moment stoodBack;

    Rival(Collection<String> resources) {
      this.resources = Set.copyOf(resources);
    }

    /** Whether its resources were left to it for long enough. */
    boolean hasHadItsTime(Moment now) {
      return stoodBack != null && now.since(stoodBack).compareTo(STAND_BACK) >= 0;
    }

    long names() {
      return resources.stream().mapToLong(String::length).sum();
    }
  }

  private enum State {
    /** The record is in no line. */
    AWAY,
    /** It is in all its lines, and will be called. */
    WAITS,
    /** It is its turn everywhere. */
    TAKEN,
    /** It is in all its lines, and was refused by the store. */
    BLOCKED
  }

  /** The turn of a record, which it has not taken. */
  Turn turn(Candidate record) {
    return new Turn(record);
  }

  /** What became of a record in another instance was heard: what it touched is free. */
  public synchronized void ended(RecordId record, Collection<String> resources) {
    Rival rival = forget(record);
    if (rival != null) {
      rival.resources.forEach(this::callFirst);
    }
    free(resources);
  }

  /** A record in another instance waits for resources. */
  public synchronized void waits(RecordId record, Collection<String> resources) {
    Rival rival = new Rival(resources);
    if (rivals.putIfAbsent(record, rival) == null) {
      rivalNames += rival.names();
    }
    while (rivals.size() > MAX_RIVALS || rivalNames > MAX_RIVAL_NAMES) {
      Rival _ = forget(rivals.firstEntry().getKey()); // the oldest: its end was never heard of
    }
  }

  private @Nullable Rival forget(RecordId record) {
    Rival rival = rivals.remove(record);
    if (rival != null) {
      rivalNames -= rival.names();
    }
    return rival;
  }

  private void free(Collection<String> resources) {
    for (String resource : resources) {
      Line line = lines.get(resource);
      if (line != null) {
        if (line.taken != null) {
          line.taken.heardOf = true;
        }
        for (Turn turn : line.waiting) {
          if (turn.state == State.BLOCKED && turn.inTheWay.contains(resource)) {
            turn.record.free();
          }
        }
      }
    }
  }

  private void callFirst(String resource) {
    Line line = lines.get(resource);
    Turn first = line == null ? null : line.first(resource);
    if (first != null && first.state == State.WAITS) {
      Duration pause = first.pause();
      if (pause == null || pause.compareTo(Checkpoint.LONG) < 0) {
        first.record.call();
      }
    }
  }

  /** The turn of one record. Taken and given back by any thread. */
  public final class Turn implements Checkpoint {
    private final Candidate record;
    private final List<String> resources;

    // Guarded by the outer class.
    private State state = State.AWAY;
    private long number;
    private int passed;
    private boolean heardOf;
    private Set<String> inTheWay = Set.of();

    private Turn(Candidate record) {
      this.record = record;
      this.resources = record.resources();
    }

    private boolean standsAt(String resource) {
      return state != State.BLOCKED || passed >= RUN || inTheWay.contains(resource);
    }

    /** Takes the turn, if it is this record's, or keeps it; gets in line, if it was in none. */
    @Override
    public @Nullable Duration pass() {
      if (resources.isEmpty()) {
        return null;
      }
      synchronized (ResourceTurns.this) {
        if (state == State.TAKEN) {
          return null;
        }
        if (state == State.AWAY) {
          number = numbers++;
          passed = 0;
          resources.forEach(
              resource -> lines.computeIfAbsent(resource, _ -> new Line()).waiting.add(this));
        }
        state = State.WAITS;
        Duration pause = pause();
        if (pause == null) {
          state = State.TAKEN;
          resources.forEach(resource -> line(resource).taken = this);
          resources.forEach(resource -> line(resource).waiting.remove(this));
        }
        return pause;
      }
    }

    /** A claim is about to be sent: from now on, what is heard of the resources is news. */
    public void asks() {
      synchronized (ResourceTurns.this) {
        heardOf = false;
      }
    }

    /**
     * The store refused the record, as others hold these. It stays in line.
     *
     * @return whether something was heard of its resources since it asked, so that it should ask
     *     again at once
     */
    public boolean blocked(Collection<String> by) {
      synchronized (ResourceTurns.this) {
        if (state != State.TAKEN) {
          return false;
        }
        if (heardOf) {
          return true;
        }
        state = State.BLOCKED;
        inTheWay = Set.copyOf(by);
        for (String resource : resources) {
          line(resource).taken = null;
          line(resource).waiting.add(this);
        }
        resources.forEach(ResourceTurns.this::callFirst);
        return false;
      }
    }

    /** Gives the turn back, or leaves the lines. */
    @Override
    public void leave() {
      if (resources.isEmpty()) {
        return;
      }
      synchronized (ResourceTurns.this) {
        if (state == State.AWAY) {
          return;
        }
        boolean hadIt = state == State.TAKEN;
        state = State.AWAY;
        for (String resource : resources) {
          leaveLine(resource, hadIt);
        }
        if (hadIt) {
          passRivals();
          free(resources);
        }
        resources.forEach(ResourceTurns.this::callFirst);
      }
    }

    private void leaveLine(String resource, boolean hadIt) {
      Line line = line(resource);
      if (hadIt) {
        line.taken = null;
        line.waiting.stream()
            .filter(turn -> turn.number < number && !turn.standsAt(resource))
            .forEach(turn -> turn.passed++);
      } else {
        line.waiting.remove(this);
      }
      if (line.taken == null && line.waiting.isEmpty()) {
        lines.remove(resource);
      }
    }

    private void passRivals() {
      Rival _ = forget(record.id());
      for (Rival rival : rivals.values()) {
        if (!Collections.disjoint(rival.resources, resources) && ++rival.passed == RUN) {
          rival.stoodBack = time.now();
        }
      }
    }

    /** How long to wait for a call; null if it is this record's turn. */
    private @Nullable Duration pause() {
      for (String resource : resources) {
        Line line = line(resource);
        if (line.taken != null || line.first(resource) != this) {
          return Checkpoint.LONG;
        }
      }
      return rivals.isEmpty() ? null : pauseForRivals();
    }

    private @Nullable Duration pauseForRivals() {
      Moment now = time.now();
      List<RecordId> over =
          rivals.entrySet().stream()
              .filter(rival -> rival.getValue().hasHadItsTime(now))
              .map(Map.Entry::getKey)
              .toList();
      over.forEach(ResourceTurns.this::forget);
      Duration longest = null;
      for (Map.Entry<RecordId, Rival> each : rivals.entrySet()) {
        Moment since = each.getValue().stoodBack;
        if (since != null
            && !each.getKey().equals(record.id())
            && !Collections.disjoint(each.getValue().resources, resources)) {
          Duration left = STAND_BACK.minus(now.since(since));
          longest = longest == null || left.compareTo(longest) > 0 ? left : longest;
        }
      }
      return longest;
    }

    private Line line(String resource) {
      return Objects.requireNonNull(lines.get(resource));
    }
  }
}
