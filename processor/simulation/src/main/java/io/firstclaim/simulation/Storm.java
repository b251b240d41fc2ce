package io.firstclaim.simulation;

import io.firstclaim.simulation.aws.Wire;
import io.firstclaim.simulation.check.Event;
import io.firstclaim.simulation.check.History;
import io.firstclaim.simulation.kafka.Broker;
import io.firstclaim.simulation.world.Machine;
import io.firstclaim.simulation.world.World;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/** What goes wrong, until it is calm. */
final class Storm {
  private static final Duration BETWEEN_FAULTS = Duration.ofSeconds(6);
  private static final Duration LONG = Duration.ofSeconds(25);
  private static final Duration SHORT = Duration.ofSeconds(8);

  private final World world;
  private final Course course;
  private final Broker broker;
  private final Backend backend;
  private final Wire wire;
  private final Zones zones;
  private final Users users;
  private final History history;
  private final Gusts gusts;
  private boolean calm;
  private int strikes;

  Storm(
      World world,
      Course course,
      Broker broker,
      Backend backend,
      Wire wire,
      Zones zones,
      Users users,
      History history) {
    this.world = world;
    this.course = course;
    this.broker = broker;
    this.backend = backend;
    this.wire = wire;
    this.zones = zones;
    this.users = users;
    this.history = history;
    this.gusts = new Gusts(world, broker, wire, zones, users, history);
  }

  /** The storm begins. */
  void begin() {
    wire.setLoss(course.loss());
    backend.setThrottled(course.throttled());
    world.after(world.upTo(BETWEEN_FAULTS), this::next);
    world.after(course.storm(), this::end);
  }

  boolean isOver() {
    return calm;
  }

  /** How many times something was to happen so far. */
  int strikes() {
    return strikes;
  }

  private void end() {
    calm = true;
    wire.setLoss(0);
    wire.setDown(false);
    backend.setThrottled(0);
    broker.setDown(false);
    users.finish();
    for (Machine each : Stream.concat(zones.alive().stream(), users.alive().stream()).toList()) {
      wire.mend(each);
      broker.mend(each);
      each.resume();
    }
    if (course.losesZone()) {
      history.reach("fault: zone lost");
      zones.loseOne();
    }
    history.add(new Event.Calm(world.now(), wire.sent()));
  }

  private void next() {
    if (calm) {
      return;
    }
    int number = ++strikes;
    world.apart(
        number,
        () -> {
          world.after(world.upTo(BETWEEN_FAULTS), this::next);
          List<Machine> atWork = zones.atWork();
          if (!atWork.isEmpty() && course.has(number)) {
            strike(world.oneOf(atWork));
          }
        });
  }

  private void strike(Machine victim) {
    switch (world.below(13 + Gusts.KINDS)) {
      case 0, 1 -> {
        fault("pause", victim);
        gusts.pause(victim);
        world.after(world.upTo(LONG), victim::resume);
      }
      case 2, 3 -> {
        fault("kill", victim);
        zones.kill(victim, world.upTo(SHORT));
      }
      case 4 -> {
        fault("store: requests cut", victim);
        wire.cutRequests(victim);
        world.after(world.upTo(LONG), () -> wire.mend(victim));
      }
      case 5 -> {
        fault("store: answers cut", victim);
        wire.cutAnswers(victim);
        world.after(world.upTo(LONG), () -> wire.mend(victim));
      }
      case 6 -> {
        fault("broker: requests cut", victim);
        broker.cutRequests(victim);
        world.after(world.upTo(LONG), () -> broker.mend(victim));
      }
      case 7 -> {
        fault("broker: answers cut", victim);
        broker.cutAnswers(victim);
        world.after(world.upTo(LONG), () -> broker.mend(victim));
      }
      case 8 -> {
        fault("clock step", victim);
        zones.setClock(victim);
      }
      case 9 -> {
        fault("rewind", victim);
        broker.rewind("sim-" + Zones.zoneOf(victim));
      }
      case 10 -> {
        fault("stop", victim);
        zones.stop(victim);
      }
      case 11 -> {
        fault("broker restarts", victim);
        broker.setDown(true);
        world.after(world.upTo(SHORT), () -> broker.setDown(false));
      }
      case 12 -> {
        fault("store down", victim);
        gusts.storeDown(world.upTo(LONG));
      }
      default -> gusts.strike(victim, this::fault);
    }
  }

  private void fault(String kind, Machine victim) {
    history.reach("fault: " + kind);
    world.note("fault: %s, %s".formatted(kind, victim));
  }
}
