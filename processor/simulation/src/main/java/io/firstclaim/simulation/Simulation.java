package io.firstclaim.simulation;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.simulation.check.History;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * {@code Simulation FROM RUNS}: a line for each seed, the totals at the end, and for the first red
 * one what went before. Its process is started by {@link SimulationProcess}. Exit code 1 if one is
 * red. By system properties:
 *
 * <ul>
 *   <li>{@code log=true}: everything that happens;
 *   <li>{@code until=red}: no more after the first red one;
 *   <li>{@code faults=N}: no more once there were so many faults;
 *   <li>{@code with=CHANGES}: not quite as the seed has it, see {@link Course.Change};
 *   <li>{@code shrink=RUNS}: leaves out of the first red one what it can, by so many runs;
 *   <li>{@code trace=FILE}: the store's writes in the last run, for {@code ClaimTrace.tla}.
 * </ul>
 */
public final class Simulation {
  /** An idea of the store's time is never ahead of it, but both are cut to milliseconds. */
  private static final Duration APART = Duration.ofMillis(2);

  private final boolean untilRed = System.getProperty("until", "").equals("red");
  private final int mostFaults = Integer.getInteger("faults", Integer.MAX_VALUE);
  private final String with = System.getProperty("with", "");
  private final int shrink = Integer.getInteger("shrink", 0);
  private final String trace = System.getProperty("trace", "");
  private final Consumer<String> log =
      Boolean.getBoolean("log") ? System.out::println : Simulation::keepQuiet;
  private final Map<String, Integer> reached = new TreeMap<>();
  private Duration simulated = Duration.ZERO;
  private int runs;
  private int red;
  private int faults;

  private Simulation() {}

  /** Runs the seeds. */
  public static void main(String[] args) throws IOException {
    // What is done once in a process, such as the loading of classes, is no part of any run.
    Run.Result _ = Run.of(Course.of(0), Simulation::keepQuiet);
    Simulation all = new Simulation();
    long cpu = cpu();
    all.run(Long.parseLong(args[0]), Integer.parseInt(args[1]));
    System.out.printf(
        "total runs %d red %d faults %d simulated %d s cpu %.1f s%nreached %s%n",
        all.runs, all.red, all.faults, all.simulated.toSeconds(), (cpu() - cpu) / 1e9, all.reached);
    System.exit(all.red == 0 ? 0 : 1);
  }

  private static void keepQuiet(String what) {
    // nobody asked
  }

  private static long cpu() {
    return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
  }

  private void run(long from, int most) throws IOException {
    for (long seed = from; seed < from + most && goesOn(); seed++) {
      Run.Result result = Run.of(Course.of(seed).with(with), log);
      runs++;
      simulated = simulated.plus(result.simulated());
      faults += result.faults();
      result.reached().forEach((what, times) -> reached.merge(what, times, Integer::sum));
      tell(result);
      if (!result.violations().isEmpty()) {
        red++;
        if (red == 1) {
          shrink(result);
        }
      }
      if (!trace.isEmpty()) {
        Files.writeString(
            Path.of(trace),
            result.traces().module(ClaimSettings.LEAST_SKEW, APART, Zones.RETENTION));
      }
    }
  }

  private boolean goesOn() {
    return faults < mostFaults && !(untilRed && red > 0);
  }

  private void tell(Run.Result result) {
    System.out.printf(
        "seed %d hash %016x steps %d preemptions %d simulated %d s faults %d violations %d%n",
        result.course().seed(),
        result.hash(),
        result.steps(),
        result.preemptions(),
        result.simulated().toSeconds(),
        result.faults(),
        result.violations().size());
    result.violations().stream()
        .limit(5)
        .forEach(each -> System.out.printf("  invariant %d: %s%n", each.invariant(), each.what()));
    if (!result.violations().isEmpty() && red == 0) {
      History.Violation first = result.violations().getFirst();
      System.out.printf("  before it, under %s:%n", result.course());
      first.before().forEach(line -> System.out.println("    " + line));
      System.out.println("  again, with all that happens: " + command(result.course(), with));
    }
  }

  private static String command(Course course, String changes) {
    return "mvn verify -pl processor/simulation -am -Dtest=ReplayTest -Dseed=%d%s%s"
        .formatted(
            course.seed(),
            changes.isEmpty() ? "" : " -Dwith=" + changes,
            " -Dsurefire.failIfNoSpecifiedTests=false");
  }

  private void shrink(Run.Result red) {
    if (shrink == 0) {
      return;
    }
    Set<Integer> broken = invariants(red);
    List<Course.Change> changes =
        Shrinker.shrink(
            red.course(),
            red.strikes(),
            less ->
                invariants(Run.of(less, Simulation::keepQuiet)).stream().anyMatch(broken::contains),
            shrink);
    String text = changes.stream().map(String::valueOf).collect(Collectors.joining(","));
    Course least = red.course().with(text);
    Run.Result result = Run.of(least, Simulation::keepQuiet);
    System.out.printf(
        "  shrunk from %d faults to %d: %s%n", red.faults(), result.faults(), command(least, text));
    result.violations().stream()
        .findFirst()
        .ifPresent(
            first -> {
              System.out.printf(
                  "  then, invariant %d breaks: %s%n", first.invariant(), first.what());
              first.before().forEach(line -> System.out.println("    " + line));
            });
  }

  private static Set<Integer> invariants(Run.Result result) {
    Set<Integer> all = new HashSet<>();
    result.violations().forEach(each -> all.add(each.invariant()));
    return all;
  }
}
