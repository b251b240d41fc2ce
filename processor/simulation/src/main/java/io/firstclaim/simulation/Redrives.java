package io.firstclaim.simulation;

import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.ClaimState;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.RedriveId;
import io.firstclaim.lock.RedriveResult;
import io.firstclaim.lock.StoreException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.mutex.HeldMutex;
import io.firstclaim.lock.mutex.Mutex;
import io.firstclaim.lock.store.DrivenClaimStore;
import io.firstclaim.processor.engine.api.DeadLetter;
import io.firstclaim.simulation.check.History;
import io.firstclaim.simulation.kafka.Broker;
import io.firstclaim.simulation.world.Machine;
import io.firstclaim.simulation.world.World;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.producer.Producer;
import org.jspecify.annotations.Nullable;

/**
 * What operators do: they free what is held, and redrive what was given up, step by step as the
 * service does it, each redrive under its mutex. What one of them has begun, and died over, another
 * brings to its end.
 */
final class Redrives {
  static final String APPLICATION = "sim";
  private static final Duration PAUSE = Duration.ofSeconds(4);
  private static final Duration PUBLISHED_WITHIN = Duration.ofSeconds(35);

  private final World world;
  private final History history;
  private final Broker broker;
  private final int records;
  private final List<Redrive> all = new ArrayList<>();
  private boolean calm;

  /** The redrive of one letter; the list of them is what the operators share. */
  private static final class Redrive {
    private final RedriveId id;
    private final DeadLetter letter;
    private boolean isEnded;

    Redrive(RedriveId id, DeadLetter letter) {
      this.id = id;
      this.letter = letter;
    }
  }

  Redrives(World world, History history, Broker broker, int records) {
    this.world = world;
    this.history = history;
    this.broker = broker;
    this.records = records;
  }

  /** From now on nothing is begun, and what is begun is brought to its end. */
  void finish() {
    calm = true;
  }

  /** Whether each has been published, or need not be. */
  boolean areEnded() {
    return all.stream().allMatch(each -> each.isEnded);
  }

  /** How many have not ended, in words. */
  String open() {
    return "%d redrives".formatted(all.stream().filter(each -> !each.isEnded).count());
  }

  /** The redrives whose records their operators left free. */
  List<String> leftFree() {
    return all.stream()
        .filter(each -> !each.isEnded)
        .map(each -> "%s of %s".formatted(each.id, each.letter.id()))
        .toList();
  }

  /** Works on this machine, without end. */
  void work(Machine machine, DrivenClaimStore store, TimeSource time) throws InterruptedException {
    Producer<byte[], byte[]> producer = broker.clients(machine, "none").producer();
    while (true) {
      time.sleep(world.upTo(PAUSE));
      try {
        if (!calm && world.chance(0.2)) {
          release(store);
        } else {
          redrive(store, producer, time);
        }
      } catch (StoreException e) {
        world.note(machine + " is not answered by its store");
      }
    }
  }

  private void release(DrivenClaimStore store) {
    RecordId id = RecordId.of("r" + world.below(records));
    boolean isHeld =
        store
            .find(id)
            .map(ClaimRecord::state)
            .filter(ClaimState.Held.class::isInstance)
            .isPresent();
    if (isHeld) {
      var _ = store.release(id, "an operator wants it so");
    }
  }

  private void redrive(DrivenClaimStore store, Producer<byte[], byte[]> producer, TimeSource time)
      throws InterruptedException {
    Redrive chosen = chosen();
    if (chosen == null) {
      return;
    }
    Optional<HeldMutex> mutex = new Mutex(store, chosen.id.mutexId(), time).acquire(Duration.ZERO);
    if (mutex.isPresent()) {
      try (HeldMutex held = mutex.get()) {
        if (held.isHeld() && !chosen.isEnded) {
          step(chosen, store, producer);
        }
      }
    }
  }

  /** A redrive that is begun, or a new one of a letter that has none. */
  private @Nullable Redrive chosen() {
    List<Redrive> open = all.stream().filter(each -> !each.isEnded).toList();
    if (!open.isEmpty()) {
      return world.oneOf(open);
    }
    List<DeadLetter> letters =
        broker.all("in.dlt").stream()
            .flatMap(each -> DeadLetter.read(each).stream())
            .filter(letter -> all.stream().noneMatch(each -> isOf(each, letter)))
            .toList();
    if (calm || letters.isEmpty()) {
      return null;
    }
    Redrive next = new Redrive(new RedriveId("redrive-" + all.size()), world.oneOf(letters));
    all.add(next);
    return next;
  }

  private static boolean isOf(Redrive redrive, DeadLetter letter) {
    return redrive.letter.letter().offset() == letter.letter().offset()
        && redrive.letter.letter().partition() == letter.letter().partition();
  }

  private void step(Redrive redrive, DrivenClaimStore store, Producer<byte[], byte[]> producer)
      throws InterruptedException {
    DeadLetter letter = redrive.letter;
    switch (store.redrive(letter.id(), letter.payload(), redrive.id)) {
      case RedriveResult.Freed _ -> redrive.isEnded = isPublished(redrive, producer);
      case RedriveResult.FreedBefore before -> {
        history.reach("redrives taken up again");
        redrive.isEnded = !before.isFree() || isPublished(redrive, producer);
      }
      case RedriveResult.NotDead _ -> redrive.isEnded = true;
      case RedriveResult.Mismatch(var stored) ->
          history.violated(
              29, "%s is known with another payload: %s".formatted(letter.id(), stored));
    }
  }

  private boolean isPublished(Redrive redrive, Producer<byte[], byte[]> producer)
      throws InterruptedException {
    try {
      var _ =
          producer
              .send(redrive.letter.again(APPLICATION, redrive.id))
              .get(PUBLISHED_WITHIN.toMillis(), TimeUnit.MILLISECONDS);
      return true;
    } catch (ExecutionException | TimeoutException e) {
      world.note("not known to be published: " + redrive.id);
      return false;
    }
  }
}
