package io.firstclaim.simulation.hook;

import java.time.Instant;
import java.util.Random;

/**
 * What the JDK and the product call in place of clocks, random numbers and platform threads while a
 * world is simulated. It lies on the boot class path, where the JDK's own classes see it, and uses
 * nothing but the JDK. All of it is used by one thread, the world's, and by the virtual threads
 * that this one runs.
 */
public final class Hooks {
  /** The simulated wall clock shows 2100-01-01T00:00:00Z when its ticks are zero. */
  public static final long EPOCH_MILLIS = 4_102_444_800_000L;

  private static volatile boolean on;
  private static long ticks;
  private static Random random = new Random();
  private static int preemptOneIn;
  private static long preemptions;

  /**
   * How many monitors a thread holds: one that yields with a contended one is woken from outside.
   */
  private static final ThreadLocal<int[]> MONITORS = ThreadLocal.withInitial(() -> new int[1]);

  private Hooks() {}

  /**
   * From now on time and chance are simulated.
   *
   * @param from what random numbers are drawn from
   * @param oneIn of so many points where threads could see something of each other, one yields; 0:
   *     none
   */
  public static void on(Random from, int oneIn) {
    random = from;
    preemptOneIn = oneIn;
    preemptions = 0;
    ticks = 1_000_000_000L;
    on = true;
  }

  /** All is real again. */
  public static void off() {
    on = false;
  }

  /** The simulated ticks, in nanoseconds. */
  public static long ticks() {
    return ticks;
  }

  /** Time has come to these ticks. */
  public static void advanceTo(long then) {
    ticks = then;
  }

  /** How often a thread yielded where others could see something. */
  public static long preemptions() {
    return preemptions;
  }

  private static boolean isSimulated() {
    return on && Thread.currentThread().isVirtual();
  }

  // What follows is called by rewritten classes.

  /**
   * In place of {@link System#nanoTime}. Each reading takes a nanosecond: some wait by spinning.
   */
  public static long nanoTime() {
    if (!on) {
      return System.nanoTime();
    }
    return Thread.currentThread().isVirtual() ? ++ticks : ticks;
  }

  /** In place of {@link System#currentTimeMillis}. */
  public static long currentTimeMillis() {
    return on ? EPOCH_MILLIS + ticks / 1_000_000 : System.currentTimeMillis();
  }

  /** In place of {@link Instant#now()}. */
  public static Instant now() {
    return on ? Instant.ofEpochMilli(EPOCH_MILLIS).plusNanos(ticks) : Instant.now();
  }

  /** In place of {@link java.util.concurrent.ThreadLocalRandom#current}. */
  public static Random random() {
    return random;
  }

  /** Before something that other threads may see or change: perhaps it is another's turn. */
  @SuppressWarnings("ThreadPriorityCheck") // the scheduler is the world's
  public static void preempt() {
    if (!on || preemptOneIn == 0 || !Thread.currentThread().isVirtual()) {
      return;
    }
    if (random.nextInt(preemptOneIn) == 0 && MONITORS.get()[0] == 0) {
      preemptions++;
      Thread.yield();
    }
  }

  /** A monitor was entered. */
  public static void enter() {
    if (isSimulated()) {
      MONITORS.get()[0]++;
    }
  }

  /** A monitor was left. */
  public static void exit() {
    if (isSimulated()) {
      MONITORS.get()[0]--;
    }
  }

  /**
   * A platform thread that a simulated thread makes is simulated too; null: a real one.
   *
   * @param uncaught hears of what the task throws; null: nobody does
   */
  public static Thread thread(
      String name, Thread.UncaughtExceptionHandler uncaught, Runnable task) {
    if (!isSimulated()) {
      return null;
    }
    Thread thread =
        (name == null ? Thread.ofVirtual() : Thread.ofVirtual().name(name)).unstarted(task);
    if (uncaught != null) {
      thread.setUncaughtExceptionHandler(uncaught);
    }
    return thread;
  }
}
