package io.firstclaim.simulation;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.StoreException;
import io.firstclaim.lock.store.DrivenClaimStore;
import io.firstclaim.simulation.check.Event;
import io.firstclaim.simulation.check.History;
import io.firstclaim.simulation.kafka.Broker;
import io.firstclaim.simulation.world.Machine;
import io.firstclaim.simulation.world.World;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The machines that use the store beside the engines. One that is killed begins anew. */
final class Users {
  private static final Duration BEGINS_WITHIN = Duration.ofSeconds(5);

  /** Where the engines keep their claims, by the name of their application. */
  private static final String NAMESPACE = "sim";

  private static final String NAMESPACE_OF_JOBS = "jobs";

  private final World world;
  private final Course course;
  private final Cast cast;
  private final Backend backend;
  private final History history;
  private final Jobs jobs;
  private final Redrives redrives;
  private final List<Machine> machines = new ArrayList<>();
  private int born;

  /** What they are. */
  private enum Kind {
    LOCKER("locker"),
    WORKER("worker"),
    OPERATOR(Event.OPERATOR),
    JANITOR("janitor");

    private final String text;

    Kind(String text) {
      this.text = text;
    }
  }

  Users(World world, Course course, Cast cast, Backend backend, Broker broker, History history) {
    this.world = world;
    this.course = course;
    this.cast = cast;
    this.backend = backend;
    this.history = history;
    this.jobs = new Jobs(world, history, course.slow(), cast.workers() == 0 ? 0 : 12);
    this.redrives = new Redrives(world, history, broker, course.records());
  }

  /** They begin. */
  void begin() {
    begin(Kind.LOCKER, cast.lockers());
    begin(Kind.WORKER, cast.workers());
    begin(Kind.OPERATOR, cast.operators());
    begin(Kind.JANITOR, cast.workers());
  }

  private void begin(Kind kind, int many) {
    for (int i = 0; i < many; i++) {
      world.after(world.upTo(BEGINS_WITHIN), () -> boot(kind));
    }
  }

  /** The machines that live. */
  List<Machine> alive() {
    return machines.stream().filter(each -> !each.isDead()).toList();
  }

  boolean has(Machine machine) {
    return machines.contains(machine);
  }

  /** From now on nothing is begun that takes long. */
  void finish() {
    redrives.finish();
  }

  /** Whether all that was begun has come to its end. */
  boolean areSettled() {
    return jobs.areEnded() && redrives.areEnded();
  }

  /** What has not come to its end, for people. */
  String progress() {
    return jobs.open() + " " + redrives.open();
  }

  /** What operators freed and left so, for people. */
  List<String> leftFree() {
    return redrives.leftFree();
  }

  private void boot(Kind kind) {
    Machine machine = world.machine(kind.text + "-" + born++);
    machines.add(machine);
    MachineTime time = new MachineTime(world, machine, Zones.slewing(world, cast));
    Thread _ =
        machine.start(
            "main",
            () -> {
              try {
                run(kind, machine, time);
              } catch (InterruptedException e) {
                world.note(machine + " was interrupted");
              } catch (RuntimeException | Error e) {
                history.add(new Event.Defect(world.now(), machine.name(), Zones.text(e)));
              }
            });
  }

  private void run(Kind kind, Machine machine, MachineTime time) throws InterruptedException {
    boolean hasJobs = kind == Kind.WORKER || kind == Kind.JANITOR;
    ClaimSettings claims =
        new ClaimSettings(
            hasJobs ? NAMESPACE_OF_JOBS : NAMESPACE,
            machine.name(),
            Zones.LEASE,
            ClaimSettings.LEAST_SKEW,
            hasJobs ? Cast.JOBS_KEPT : Zones.RETENTION);
    if (kind == Kind.JANITOR) {
      sweep(backend.sweeper(machine, claims, time), machine, time);
      return;
    }
    DrivenClaimStore store = open(machine, claims, time);
    switch (kind) {
      case LOCKER -> new Locker(world, machine, history, course.slow(), store, time).run();
      case WORKER -> jobs.work(machine, store, time);
      case OPERATOR -> redrives.work(machine, store, time);
      case JANITOR -> throw new IllegalStateException();
    }
  }

  private DrivenClaimStore open(Machine machine, ClaimSettings claims, MachineTime time)
      throws InterruptedException {
    while (true) {
      try {
        return backend.open(machine, claims, time, course.batch());
      } catch (StoreException e) {
        world.note(machine + " waits for its store");
        time.sleep(Duration.ofSeconds(1));
      }
    }
  }

  private void sweep(Backend.Sweep sweep, Machine machine, MachineTime time)
      throws InterruptedException {
    while (true) {
      try {
        time.sleep(sweep.once());
      } catch (StoreException e) {
        world.note(machine + " could not sweep");
        time.sleep(Duration.ofSeconds(1));
      }
    }
  }

  /** Ends a machine at once; another of its kind takes its place after a while. */
  void kill(Machine machine, Duration downFor) {
    machine.kill();
    history.add(new Event.Killed(world.now(), machine.name()));
    for (Kind kind : Kind.values()) {
      if (machine.name().startsWith(kind.text)) {
        world.after(downFor, () -> boot(kind));
      }
    }
  }

  /** All end at once. */
  void killAll() {
    machines.forEach(Machine::kill);
  }
}
