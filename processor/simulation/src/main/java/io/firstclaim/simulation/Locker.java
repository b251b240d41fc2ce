package io.firstclaim.simulation;

import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.StoreException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.mutex.HeldMutex;
import io.firstclaim.lock.mutex.Mutex;
import io.firstclaim.simulation.check.Event;
import io.firstclaim.simulation.check.History;
import io.firstclaim.simulation.world.Machine;
import io.firstclaim.simulation.world.World;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A user of mutexes, whose names records and resources have too: of one key or several, or of a
 * resource's. It asks now and then whether it still holds them.
 */
final class Locker {
  private static final Duration PAUSE = Duration.ofSeconds(4);
  private static final Duration PATIENCE = Duration.ofSeconds(12);
  private static final Duration QUICK = Duration.ofMillis(300);
  private static final Duration SLOW = Duration.ofSeconds(9);
  private static final int NAMES = 3;

  private final World world;
  private final Machine machine;
  private final History history;
  private final double slow;
  private final ClaimStore store;
  private final TimeSource time;

  Locker(
      World world,
      Machine machine,
      History history,
      double slow,
      ClaimStore store,
      TimeSource time) {
    this.world = world;
    this.machine = machine;
    this.history = history;
    this.slow = slow;
    this.store = store;
    this.time = time;
  }

  /** Acquires and gives back, without end. */
  void run() throws InterruptedException {
    while (true) {
      time.sleep(world.upTo(PAUSE));
      try {
        Optional<HeldMutex> acquired =
            new Mutex(store, names(), null, time).acquire(world.upTo(PATIENCE));
        if (acquired.isPresent()) {
          use(acquired.get());
        }
      } catch (StoreException e) {
        world.note(machine + " could not acquire a mutex");
      }
    }
  }

  private List<RecordId> names() {
    if (world.chance(0.2)) {
      return List.of(RecordId.of(account(world.below(NAMES))).asResource());
    }
    List<RecordId> names = new ArrayList<>(List.of(name()));
    if (world.chance(0.3)) {
      names.add(name());
    }
    return names;
  }

  private RecordId name() {
    return RecordId.of("r" + world.below(NAMES));
  }

  /** What the resource of this number is called: as a record is. */
  static String account(int number) {
    return "r" + number;
  }

  private void use(HeldMutex held) throws InterruptedException {
    try (held) {
      held.tokens()
          .forEach(
              (id, token) ->
                  history.add(new Event.Used(world.now(), machine.name(), text(id), token)));
      for (int i = world.below(4); i >= 0 && isHeld(held); i--) {
        time.sleep(world.upTo(world.chance(slow) ? SLOW : QUICK));
      }
    }
  }

  private boolean isHeld(HeldMutex held) {
    held.tokens()
        .forEach(
            (id, token) ->
                history.add(new Event.Asks(world.now(), machine.name(), text(id), token)));
    boolean isHeld = held.isHeld();
    if (isHeld) {
      held.tokens()
          .forEach(
              (id, token) ->
                  history.add(new Event.ToldHeld(world.now(), machine.name(), text(id), token)));
    }
    return isHeld;
  }

  /** How the history calls it. */
  static String text(RecordId id) {
    return id.space() == RecordId.Space.RECORD ? id.text() : id.space() + "/" + id.text();
  }
}
