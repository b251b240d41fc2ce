package io.firstclaim.simulation;

import io.firstclaim.simulation.aws.Wire;
import io.firstclaim.simulation.check.Event;
import io.firstclaim.simulation.check.History;
import io.firstclaim.simulation.kafka.Broker;
import io.firstclaim.simulation.world.Machine;
import io.firstclaim.simulation.world.World;
import java.time.Duration;
import java.util.List;
import java.util.function.BiConsumer;

/** What goes wrong of a storm's rarer faults, and with machines that are no engine's. */
final class Gusts {
  /** How many kinds of engines' rarer faults there are, and of users'. */
  static final int KINDS = 8;

  private static final Duration LONG = Duration.ofSeconds(25);
  private static final Duration SHORT = Duration.ofSeconds(8);
  private static final Duration AHEAD = Duration.ofHours(1);

  /**
   * How far a clock leaps back at most. No further: on S3, a retry whose time was set before its
   * machine's clock leapt back, and is written after it, waits for as long as that leap.
   */
  private static final Duration BACK = Duration.ofSeconds(30);

  private final World world;
  private final Broker broker;
  private final Wire wire;
  private final Zones zones;
  private final Users users;
  private final History history;

  Gusts(World world, Broker broker, Wire wire, Zones zones, Users users, History history) {
    this.world = world;
    this.broker = broker;
    this.wire = wire;
    this.zones = zones;
    this.users = users;
    this.history = history;
  }

  /**
   * Something happens.
   *
   * @param engine a machine with an engine
   * @param fault told what it is, and to whom
   */
  void strike(Machine engine, BiConsumer<String, Machine> fault) {
    List<Machine> others = users.alive();
    Machine user = others.isEmpty() ? engine : world.oneOf(others);
    switch (world.below(KINDS)) {
      case 0 -> {
        fault.accept("cut off", engine);
        cutOff(engine, world.upTo(LONG));
      }
      case 1 -> {
        fault.accept("clock leap", engine);
        zones.setClock(engine, world.upTo(AHEAD.plus(BACK)).minus(BACK));
      }
      case 2 -> {
        fault.accept("double", engine);
        zones.doubleUp(engine, world.upTo(LONG));
      }
      case 3 -> {
        fault.accept("clock leap", user);
        zones.setClock(user, world.upTo(AHEAD.plus(BACK)).minus(BACK));
      }
      case 4 -> {
        fault.accept("pause", user);
        pause(user);
      }
      case 5 -> {
        fault.accept("cut off", user);
        cutOff(user, world.upTo(LONG));
      }
      case 6 -> {
        fault.accept("retention", engine);
        broker.deleteOldRecords();
      }
      default -> {
        fault.accept("kill", user);
        if (users.has(user)) {
          users.kill(user, world.upTo(SHORT));
        } else {
          zones.kill(user, world.upTo(SHORT));
        }
      }
    }
  }

  /** It stands still for a while. */
  void pause(Machine machine) {
    history.add(new Event.Disturbed(world.now(), machine.name()));
    machine.pause();
    world.after(world.upTo(LONG), machine::resume);
  }

  /** Neither its requests nor their answers arrive, at the store and at the broker. */
  private void cutOff(Machine machine, Duration length) {
    outage(length);
    wire.cutRequests(machine);
    wire.cutAnswers(machine);
    broker.cutRequests(machine);
    broker.cutAnswers(machine);
    world.after(
        length,
        () -> {
          wire.mend(machine);
          broker.mend(machine);
        });
  }

  /** The store answers nobody for this long. */
  void storeDown(Duration length) {
    outage(length);
    wire.setDown(true);
    world.after(length, () -> wire.setDown(false));
  }

  private void outage(Duration length) {
    if (length.compareTo(Zones.LEASE) > 0) {
      history.reach("outages over a lease");
    }
  }
}
