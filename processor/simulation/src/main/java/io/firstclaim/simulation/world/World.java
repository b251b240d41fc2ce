package io.firstclaim.simulation.world;

import io.firstclaim.simulation.hook.Hooks;
import java.lang.reflect.Field;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * All machines and what is between them. The thread that made it runs everything: of what can go
 * on, its seed says what does; when all wait, time leaps to the next timer. The JDK's virtual
 * threads take their timers from here, so two worlds of one seed are the same. One at a time in a
 * process, which must have been started with the agent.
 */
public final class World implements AutoCloseable {
  private final Thread own = Thread.currentThread();
  private final long seed;
  private Random random;
  private final Consumer<String> log;
  private final List<Task> runnable = new ArrayList<>();
  private final PriorityQueue<Timer> timers = new PriorityQueue<>();
  private final Machine network = new Machine(this, "network");
  private final List<String> strangers = new ArrayList<>();
  private Machine current = network;
  private long timersMade;
  private long steps;
  private long hash = 1_125_899_906_842_597L;

  private record Task(Machine machine, Runnable what) {}

  /**
   * A world.
   *
   * @param preemptOneIn see {@link Hooks#on}
   * @param log hears of everything that is noted
   */
  public World(long seed, int preemptOneIn, Consumer<String> log) {
    this.seed = seed;
    this.random = new Random(seed);
    this.log = log;
    replaceTimers();
    shuffleBy(new Random(seed + 2));
    SeededRandomness.drawFrom(new Random(seed + 3));
    Hooks.on(new Random(seed + 1), preemptOneIn);
  }

  /** Timed waits of virtual threads end by the timers of this world. */
  private void replaceTimers() {
    try {
      Field field =
          Class.forName("java.lang.VirtualThread$DelayedTaskSchedulers")
              .getDeclaredField("INSTANCE");
      field.setAccessible(true);
      Object queue =
          Proxy.newProxyInstance(
              World.class.getClassLoader(),
              new Class<?>[] {ScheduledExecutorService.class},
              (_, method, given) -> {
                if (method.getName().equals("schedule") && given[0] instanceof Runnable task) {
                  return at(
                      current,
                      Duration.of((long) given[1], ((TimeUnit) given[2]).toChronoUnit()),
                      task);
                }
                throw new UnsupportedOperationException(method.toString());
              });
      Arrays.fill((Object[]) field.get(null), queue);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void shuffleBy(Random seeded) {
    try {
      Field field = Collections.class.getDeclaredField("r");
      field.setAccessible(true);
      field.set(null, seeded);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  /** A machine that runs nothing yet. */
  public Machine machine(String name) {
    return new Machine(this, name);
  }

  /** Ticks since the world began. */
  public Duration elapsed() {
    return Duration.ofNanos(Hooks.ticks());
  }

  /** The true time. */
  public Instant now() {
    return Instant.ofEpochMilli(Hooks.EPOCH_MILLIS).plusNanos(Hooks.ticks());
  }

  /** How often something was run. */
  public long steps() {
    return steps;
  }

  /** Tells one course of events from another. */
  public long hash() {
    return hash;
  }

  /**
   * Threads that are none of this world's and woke one of it: then its seed is not all there is.
   */
  public List<String> strangers() {
    synchronized (strangers) {
      return List.copyOf(strangers);
    }
  }

  /** Something random, of less than this. */
  public int below(int bound) {
    return random.nextInt(bound);
  }

  /** Whether something of this probability happens now. */
  public boolean chance(double probability) {
    return random.nextDouble() < probability;
  }

  /** A random time of at most this. */
  public Duration upTo(Duration most) {
    return Duration.ofNanos(random.nextLong(most.toNanos()) + 1);
  }

  /** One of these. */
  public <T> T oneOf(List<T> all) {
    return all.get(random.nextInt(all.size()));
  }

  /**
   * Something that draws what it draws whatever was drawn before, and leaves no trace in what is
   * drawn after it: so that it can be left out.
   *
   * @param number tells it from others of its kind
   */
  public void apart(int number, Runnable what) {
    Random all = random;
    random = new Random(seed * 0x9E3779B97F4A7C15L + number);
    try {
      what.run();
    } finally {
      random = all;
    }
  }

  /** Something happens between machines, after a while. */
  public void after(Duration delay, Runnable what) {
    Timer _ = at(network, delay, what);
  }

  /** Something happens on a machine, after a while, if it lives then. */
  public void after(Machine machine, Duration delay, Runnable what) {
    Timer _ = at(machine, delay, what);
  }

  private Timer at(Machine machine, Duration delay, Runnable what) {
    Timer timer =
        new Timer(machine, Hooks.ticks() + Math.max(0, delay.toNanos()), timersMade++, what);
    timers.add(timer);
    return timer;
  }

  /** Something that two runs of one seed must have in common. */
  public void note(String what) {
    for (int i = 0; i < what.length(); i++) {
      hash = hash * 31 + what.charAt(i);
    }
    log.accept(what);
  }

  void enqueue(Machine machine, Runnable what) {
    Thread by = Thread.currentThread();
    if (by.equals(own) || by.isVirtual()) {
      runnable.add(new Task(machine, what));
    } else {
      synchronized (strangers) {
        strangers.add(by.getName());
      }
    }
  }

  /**
   * Runs until the end has come, the time is over, or nothing can happen any more.
   *
   * @return whether the end has come
   */
  public boolean run(BooleanSupplier end, Duration until) {
    while (!end.getAsBoolean()) {
      if (!strangers.isEmpty()) {
        throw new IllegalStateException("woken by foreign threads: " + strangers());
      }
      if (!(runnable.isEmpty() ? leap(until) : step())) {
        return false;
      }
    }
    return true;
  }

  private boolean leap(Duration until) {
    Timer next = timers.peek();
    if (next == null || next.at() > until.toNanos()) {
      return false;
    }
    timers.poll();
    if (next.isCancelled() || next.machine().isDead()) {
      return true;
    }
    Hooks.advanceTo(Math.max(Hooks.ticks(), next.at()));
    run(next.machine(), next.task());
    return true;
  }

  private boolean step() {
    int chosen = random.nextInt(runnable.size());
    Task last = runnable.removeLast();
    Task next = chosen == runnable.size() ? last : runnable.set(chosen, last);
    steps++;
    hash = (hash * 31 + chosen) * 31 + Hooks.ticks();
    run(next.machine(), next.what());
    return true;
  }

  private void run(Machine machine, Runnable what) {
    if (machine.isPaused()) {
      machine.holdBack(what);
    } else if (!machine.isDead()) {
      current = machine;
      what.run();
    }
  }

  /** Ends the simulation; what its machines still had to do is forgotten. */
  @Override
  public void close() {
    Hooks.off();
    runnable.clear();
    timers.clear();
  }
}
