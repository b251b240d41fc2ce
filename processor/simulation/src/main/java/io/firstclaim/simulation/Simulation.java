package io.firstclaim.simulation;

import io.firstclaim.simulation.check.History;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * {@code Simulation FROM RUNS}: a line for each seed, the totals at the end, and for the first red
 * one what went before. With {@code -Dlog=true} everything that happens, with {@code -Duntil=red}
 * no more after the first red one. Its process is started by {@link SimulationProcess}. Exit code 1
 * if one is red.
 */
public final class Simulation {
  private final boolean untilRed = System.getProperty("until", "").equals("red");
  private final Consumer<String> log =
      Boolean.getBoolean("log") ? System.out::println : Simulation::keepQuiet;
  private final Map<String, Integer> reached = new TreeMap<>();
  private Duration simulated = Duration.ZERO;
  private int runs;
  private int red;
  private int faults;

  private Simulation() {}

  /** Runs the seeds. */
  public static void main(String[] args) {
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

  private void run(long from, int most) {
    for (long seed = from; seed < from + most && !(untilRed && red > 0); seed++) {
      Run.Result result = Run.of(Course.of(seed), log);
      runs++;
      simulated = simulated.plus(result.simulated());
      faults += result.faults();
      result.reached().forEach((what, times) -> reached.merge(what, times, Integer::sum));
      tell(result);
      if (!result.violations().isEmpty()) {
        red++;
      }
    }
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
      System.out.printf(
          "  again, with all that happens: mvn verify -pl processor/simulation -am"
              + " -Dtest=ReplayTest -Dseed=%d -Dsurefire.failIfNoSpecifiedTests=false%n",
          result.course().seed());
    }
  }
}
