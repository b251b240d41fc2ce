package io.firstclaim.simulation;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.engine.Engine;
import io.firstclaim.processor.engine.EngineBuilder;
import io.firstclaim.processor.engine.WithClients;
import io.firstclaim.simulation.check.Event;
import io.firstclaim.simulation.check.History;
import io.firstclaim.simulation.kafka.Broker;
import io.firstclaim.simulation.world.Machine;
import io.firstclaim.simulation.world.World;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The machines of two zones, each with an engine of the product's, unchanged. */
final class Zones {
  static final Duration LEASE = Duration.ofSeconds(10);
  static final Duration HANDLER_TIME = Duration.ofSeconds(20);
  static final int MAX_ATTEMPTS = 5;
  static final Duration RETENTION = Duration.ofDays(3);
  private static final Duration GRACE = Duration.ofSeconds(2);

  /** Wall clocks differ by less than what is declared, all together. */
  private static final Duration MOST_SKEW = ClaimSettings.LEAST_SKEW.dividedBy(2);

  /** Less than what a lease allows for. */
  private static final int MOST_SLEWED_PPM = Lease.SLEW_PPM * 9 / 10;

  private final World world;
  private final Course course;
  private final Cast cast;
  private final Broker broker;
  private final Backend backend;
  private final History history;
  private final List<Machine> machines = new ArrayList<>();
  private final Map<Machine, Engine> running = new LinkedHashMap<>();
  private int born;
  private List<String> names = List.of("a", "b");

  Zones(World world, Course course, Cast cast, Broker broker, Backend backend, History history) {
    this.world = world;
    this.course = course;
    this.cast = cast;
    this.broker = broker;
    this.backend = backend;
    this.history = history;
  }

  /** The machines that live, and whose engines have started. */
  List<Machine> atWork() {
    return machines.stream().filter(each -> !each.isDead() && running.containsKey(each)).toList();
  }

  /** The machines that live. */
  List<Machine> alive() {
    return machines.stream().filter(each -> !each.isDead()).toList();
  }

  /** The zones that are not lost. */
  List<String> names() {
    return names;
  }

  /** One of the zones ends for good: all its machines do, and no others take their places. */
  void loseOne() {
    String lost = world.oneOf(names);
    names = names.stream().filter(each -> !each.equals(lost)).toList();
    for (Machine each : alive()) {
      if (zoneOf(each).equals(lost)) {
        end(each);
      }
    }
  }

  static String zoneOf(Machine machine) {
    return machine.name().substring(0, 1);
  }

  /** Sets a machine's wall clock, to nearly the right time. */
  void setClock(Machine machine) {
    setClock(machine, skew());
  }

  /** Sets a machine's wall clock. */
  void setClock(Machine machine, Duration ahead) {
    machine.setSkew(ahead);
    history.add(new Event.Disturbed(world.now(), machine.name()));
  }

  private Duration skew() {
    return world.upTo(MOST_SKEW.multipliedBy(2)).minus(MOST_SKEW);
  }

  /** A machine begins: {@code a} and {@code 1} are zone and place. */
  void boot(String zone, String place) {
    if (!names.contains(zone)) {
      return;
    }
    Machine machine = world.machine(zone + place + "-" + born++);
    machines.add(machine);
    machine.setSkew(skew());
    Thread _ = machine.start("main", () -> start(machine, zone, place));
  }

  private void start(Machine machine, String zone, String place) {
    TimeSource time = new MachineTime(world, machine, slewing(world, cast));
    EngineBuilder builder = Engine.builder();
    if (cast.accounts() > 0) {
      builder = builder.resources("json:/account");
    }
    Engine engine =
        WithClients.of(
                builder
                    .application("sim")
                    .zone(zone)
                    .zones(List.of("a", "b"))
                    .instance(place)
                    .topics("in")
                    .recordId("key")
                    .lease(LEASE)
                    .maxSkew(ClaimSettings.LEAST_SKEW)
                    .retention(RETENTION)
                    .maxAttempts(MAX_ATTEMPTS)
                    .maxInFlight(course.inFlight())
                    .backoff(Duration.ofMillis(500), Duration.ofSeconds(5))
                    .handlerTimeout(HANDLER_TIME)
                    .shutdownGrace(GRACE)
                    .bootstrapServers("kafka:9092")
                    .store(
                        claims ->
                            new ToldStore(
                                backend.open(machine, claims, time, course.batch()),
                                world,
                                machine,
                                time,
                                history))
                    .handler(new Handler(world, machine, history, course.slow()))
                    .time(time)
                    .onDefect(defect -> defect(machine, defect)),
                _ -> broker.clients(machine, "sim-" + zone))
            .build();
    try {
      engine.start();
      running.put(machine, engine);
      world.note(machine + " has started");
    } catch (InterruptedException e) {
      world.note(machine + " was stopped while it started");
    } catch (RuntimeException | Error e) {
      defect(machine, e);
    }
  }

  /** By how much the clocks of a machine that begins now are too fast, in millionths. */
  static int slewing(World world, Cast cast) {
    return cast.slewed() ? world.below(2 * MOST_SLEWED_PPM + 1) - MOST_SLEWED_PPM : 0;
  }

  private void defect(Machine machine, Throwable defect) {
    history.add(new Event.Defect(world.now(), machine.name(), text(defect)));
  }

  /** A fault with the way that it took, in one line. */
  static String text(Throwable defect) {
    StringBuilder all = new StringBuilder(defect.toString());
    for (StackTraceElement frame : defect.getStackTrace()) {
      all.append(" < ").append(frame);
    }
    return all.toString();
  }

  /** Ends a machine at once; another takes its place after a while. */
  void kill(Machine machine, Duration downFor) {
    end(machine);
    world.after(downFor, () -> boot(zoneOf(machine), machine.name().substring(1, 2)));
  }

  private void end(Machine machine) {
    running.remove(machine);
    machine.kill();
    history.add(new Event.Killed(world.now(), machine.name()));
  }

  /** Another machine begins under the name of one that still runs, which ends after a while. */
  void doubleUp(Machine machine, Duration bothFor) {
    boot(zoneOf(machine), machine.name().substring(1, 2));
    world.after(
        bothFor,
        () -> {
          if (!machine.isDead()) {
            end(machine);
          }
        });
  }

  /** Stops a machine in good order; another takes its place. */
  void stop(Machine machine) {
    Engine engine = running.remove(machine);
    if (engine == null) {
      return;
    }
    history.add(new Event.Stops(world.now(), machine.name()));
    Thread _ =
        machine.start(
            "stop",
            () -> {
              try {
                engine.stop();
              } catch (InterruptedException e) {
                world.note(machine + " was interrupted while it stopped");
              }
              world.after(Duration.ofMillis(1), () -> kill(machine, Duration.ofMillis(1)));
            });
  }

  /** Notes what engines have in hand. */
  void takeStock() {
    running.forEach(
        (machine, engine) -> {
          if (machine.isUp()
              && engine.state()
                  instanceof io.firstclaim.processor.engine.api.EngineState.Running now) {
            history.add(
                new Event.Stock(world.now(), machine.name(), now.inFlight(), now.bufferedBytes()));
          }
        });
  }

  /** What engines still hold though all is done. */
  List<String> leftovers() {
    List<String> all = new ArrayList<>();
    running.forEach(
        (machine, engine) -> {
          if (engine.state() instanceof io.firstclaim.processor.engine.api.EngineState.Running now
              && (now.inFlight() != 0 || now.parked() != 0 || now.bufferedBytes() != 0)) {
            all.add(
                "%s keeps %d in flight, %d parked, %d bytes"
                    .formatted(machine, now.inFlight(), now.parked(), now.bufferedBytes()));
          }
        });
    return all;
  }

  /** All end at once. */
  void killAll() {
    machines.forEach(Machine::kill);
  }
}
