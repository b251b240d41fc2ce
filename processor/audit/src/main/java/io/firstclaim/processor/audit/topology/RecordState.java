package io.firstclaim.processor.audit.topology;

import io.firstclaim.lock.OneLine;
import io.firstclaim.processor.audit.api.ViolationKind;
import io.firstclaim.processor.engine.api.Outcome;
import io.firstclaim.processor.engine.api.OutcomeMessage;
import java.io.DataInputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * All that is kept of one ID: its outcomes, and what verdicts rest on. Bounded, whatever comes.
 * Immutable.
 *
 * @param lanes one for each payload that came under the ID
 * @param events the outcomes, oldest first
 */
record RecordState(List<Lane> lanes, List<Event> events) {
  /** Many more than a record needs that is given up after its last attempt. */
  static final int MAX_EVENTS = 50;

  private static final int MAX_LANES = 8;

  /** A claim is forgotten by the store a little before that is a retention ago here. */
  private static final long ROOM = Duration.ofMinutes(1).toMillis();

  private static final RecordState EMPTY = new RecordState(List.of(), List.of());

  /**
   * An outcome as it is kept.
   *
   * @param json not read unless somebody asks for it
   */
  @SuppressWarnings("ArrayRecordComponent") // these are never compared
  record Event(Outcome.Kind kind, byte[] json) {}

  /**
   * What an outcome changed.
   *
   * @param known whether it was known already, and so changed nothing
   * @param found what is wrong with it
   */
  record Change(RecordState state, boolean known, Optional<Lane.Found> found) {}

  /** Keeps copies. */
  RecordState {
    lanes = List.copyOf(lanes);
    events = List.copyOf(events);
  }

  /** Nothing is known. */
  static RecordState empty() {
    return EMPTY;
  }

  /**
   * What this message changes.
   *
   * @param json the outcome, as it is to be kept
   * @param now the stream's time
   * @param retention lanes in which nothing happened for so long do not count
   */
  Change with(OutcomeMessage message, byte[] json, long now, Duration retention) {
    long since = now - Math.max(retention.toMillis() - ROOM, retention.toMillis() / 2);
    List<Lane> living = lanes.stream().filter(lane -> lane.seen() > since).toList();
    Lane fresh = Lane.of(message);
    Lane lane = living.stream().filter(fresh::isSameAs).findFirst().orElse(fresh);
    Outcome outcome = message.outcome();
    if (lane.knows(outcome) && !isCompletedByAnother(outcome)) {
      return new Change(this, true, Optional.empty());
    }
    List<Lane> others = living.stream().filter(other -> !fresh.isSameAs(other)).toList();
    Optional<Lane.Found> found =
        lane.judge(outcome).or(() -> completedWithAnotherPayload(fresh, outcome, others));
    List<Lane> after = new ArrayList<>(others);
    after.add(lane.with(outcome, now));
    RecordState state =
        new RecordState(
            after.size() > MAX_LANES ? after.subList(1, after.size()) : after,
            added(new Event(outcome.kind(), json)));
    return new Change(state, false, found);
  }

  /**
   * Whether somebody else completed the record under this token. Whoever announces an end again
   * says whose it was; but a claim that got lost is claimed anew, and its tokens begin at 1 again.
   */
  private boolean isCompletedByAnother(Outcome outcome) {
    List<Outcome> completions =
        events.stream()
            .filter(event -> event.kind == Outcome.Kind.COMPLETED)
            .flatMap(event -> Outcome.ofJson(event.json).stream())
            .filter(known -> known.token() == outcome.token())
            .toList();
    return outcome.kind() == Outcome.Kind.COMPLETED
        && !completions.isEmpty()
        && completions.stream().noneMatch(known -> holder(known).equals(holder(outcome)));
  }

  private static String holder(Outcome of) {
    return of.zone() + "/" + OneLine.of(of.instance(), Judge.MAX_NAME);
  }

  private static Optional<Lane.Found> completedWithAnotherPayload(
      Lane fresh, Outcome outcome, List<Lane> others) {
    if (outcome.kind() != Outcome.Kind.COMPLETED) {
      return Optional.empty();
    }
    return others.stream()
        .filter(other -> other.store() == fresh.store() && !other.completed().isEmpty())
        .findFirst()
        .map(other -> new Lane.Found(ViolationKind.COMPLETED_TWICE, other.completed().getLast()));
  }

  /**
   * A record that waits says so again and again: the last time is kept. Where there are too many,
   * those go first that no verdict rests on.
   */
  private List<Event> added(Event event) {
    List<Event> all = new ArrayList<>(events);
    if (event.kind == Outcome.Kind.BLOCKED
        && !all.isEmpty()
        && all.getLast().kind == Outcome.Kind.BLOCKED) {
      all.removeLast();
    }
    all.add(event);
    if (all.size() > MAX_EVENTS) {
      int minor = 0;
      while (minor < all.size() - 1 && !isMinor(all.get(minor).kind)) {
        minor++;
      }
      Event _ = all.remove(minor < all.size() - 1 ? minor : 0);
    }
    return all;
  }

  private static boolean isMinor(Outcome.Kind kind) {
    return switch (kind) {
      case FAILED, BLOCKED -> true;
      case COMPLETED, DEAD, TAKEN_OVER, LEASE_LOST, MISMATCH -> false;
    };
  }

  /** When it was begun; 0 once it is settled. */
  long openSince() {
    return lanes.stream().mapToLong(Lane::openSince).filter(at -> at != 0).min().orElse(0);
  }

  /** Whether it was given up, and nothing has become of it since. */
  boolean isDead() {
    return lanes.stream().anyMatch(Lane::dead);
  }

  byte[] bytes() {
    return Form.write(
        out -> {
          out.writeByte(lanes.size());
          for (Lane lane : lanes) {
            lane.write(out);
          }
          out.writeByte(events.size());
          for (Event event : events) {
            out.writeUTF(event.kind.name());
            Form.writeBytes(out, event.json);
          }
        });
  }

  /** What these bytes say; nothing if they are of another version. */
  static RecordState of(byte @Nullable [] bytes) {
    return bytes == null ? EMPTY : Form.read(bytes, RecordState::read).orElse(EMPTY);
  }

  private static RecordState read(DataInputStream in) throws IOException {
    List<Lane> lanes = new ArrayList<>();
    for (int left = in.readUnsignedByte(); left > 0; left--) {
      lanes.add(Lane.read(in));
    }
    List<Event> events = new ArrayList<>();
    for (int left = in.readUnsignedByte(); left > 0; left--) {
      events.add(new Event(Outcome.Kind.valueOf(in.readUTF()), Form.readBytes(in)));
    }
    return new RecordState(lanes, events);
  }
}
