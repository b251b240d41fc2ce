package io.firstclaim.stack;

import io.firstclaim.stack.server.StackException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The main job: two zones process a stream of events that are redelivered until they are done, on
 * servers of its own. Ends with 0 only if every record was processed once.
 *
 * <p>Options are system properties, see {@link JobOptions}.
 */
public final class LocalJob {
  private static final Duration TICK = Duration.ofMillis(20);
  private static final int TICKS_PER_LAG = 5;
  private static final Duration PROGRESS = Duration.ofSeconds(1);

  /** Without a newly settled record for so long, the offsets are asked what is left. */
  private static final Duration QUIET = Duration.ofSeconds(20);

  private static final Duration LAST_OFFSETS = Duration.ofSeconds(40);

  private final JobOptions options;
  private final Terminal terminal;
  private final EventFile file;
  private final Ledger ledger;

  private LocalJob(JobOptions options, Terminal terminal) {
    this.options = options;
    this.terminal = terminal;
    this.file = options.input().map(EventFile::of).orElseGet(EventFile::sample);
    this.ledger = new Ledger(file.events());
  }

  /** Runs the job; exits with 0 if all is well, 1 if a record was not, 2 if it could not run. */
  public static void main(String[] args) {
    Locale.setDefault(Locale.ROOT);
    Terminal terminal = new Terminal(System.out);
    AtomicBoolean interrupted = new AtomicBoolean();
    int exit;
    try {
      exit = new LocalJob(JobOptions.from(System.getProperties()), terminal).run(interrupted);
    } catch (JobFailure | StackException e) {
      if (!interrupted.get()) {
        terminal.say("local job: " + e.getMessage());
      }
      exit = 2;
    } catch (RuntimeException e) {
      if (interrupted.get()) {
        // What is under way breaks when everything is stopped.
        return;
      }
      throw e;
    }
    if (!interrupted.get()) {
      System.exit(exit);
    }
  }

  private int run(AtomicBoolean interrupted) {
    terminal.say("");
    terminal.say(
        "Firstclaim: two zones, one topic, each record processed by the first to claim it");
    terminal.say("  %,d events from %s".formatted(ledger.size(), file.name()));
    long begin = System.nanoTime();
    try (LocalStack stack = new LocalStack(options, ledger)) {
      Thread ctrlC = Thread.ofPlatform().unstarted(() -> interrupt(interrupted, stack));
      Runtime.getRuntime().addShutdownHook(ctrlC);
      terminal.say(
          "  Kafka and %s are up after %s, logs in %s"
              .formatted(options.backend().server(), since(begin), options.directory()));
      stack.awaitZones();
      Duration start = elapsed(begin);
      terminal.say("  zones a and b are up after " + since(begin));

      long workBegin = System.nanoTime();
      ZoneKill kill =
          options.kill()
              ? new ZoneKill(stack.zones().getFirst(), stack.handler(), ledger, terminal)
              : null;
      List<String> problems = new ArrayList<>(work(stack, kill));
      Duration work = elapsed(workBegin);
      stack.zones().forEach(Zone::scrape);

      long stopBegin = System.nanoTime();
      if (!options.keep()) {
        problems.addAll(stop(stack.zones()));
      }
      var times = new Summary.Times(start, work, elapsed(stopBegin));
      boolean killed = kill != null && !kill.isPending();
      Summary summary = Summary.of(file, ledger, stack.zones(), killed, times);
      problems.addAll(summary.problems());
      if (options.kill() && !killed) {
        problems.add("zone a held no record half-way and was not killed: too small an input");
      }
      print(summary, problems);
      if (options.keep()) {
        leaveRunning(stack);
      }
      return problems.isEmpty() ? 0 : 1;
    }
  }

  /** Feeds the zones until every offset of every group is settled; returns what is wrong. */
  private List<String> work(LocalStack stack, @Nullable ZoneKill kill) {
    String kafka = stack.kafka().bootstrapServers();
    try (Outcomes outcomes = new Outcomes(ledger, kafka);
        Feeder feeder = new Feeder(ledger, kafka, LocalStack.TOPIC);
        GroupLag lag = new GroupLag(kafka, LocalStack.TOPIC)) {
      outcomes.start();
      stack.zones().forEach(zone -> zone.store().reset());
      feeder.start();
      Progress progress = new Progress(stack);
      while (!isDone(feeder, kill) && !isQuiet(progress)) {
        watch(outcomes, kill, stack);
        progress.show();
      }
      feeder.stop();
      long begin = System.nanoTime();
      while (left(stack, lag) > 0 && elapsed(begin).compareTo(LAST_OFFSETS) < 0) {
        for (int tick = 0; tick < TICKS_PER_LAG; tick++) {
          watch(outcomes, kill, stack);
        }
        progress.show();
      }
      progress.print();
      return stack.zones().stream()
          .filter(zone -> lag.of(zone.group()) > 0)
          .map(zone -> "%s has %,d offsets left".formatted(zone.group(), lag.of(zone.group())))
          .toList();
    }
  }

  private static long left(LocalStack stack, GroupLag lag) {
    return stack.zones().stream().mapToLong(zone -> lag.of(zone.group())).sum();
  }

  private boolean isDone(Feeder feeder, @Nullable ZoneKill kill) {
    return feeder.isFinished() && (kill == null || kill.isOver() || kill.isPending());
  }

  private boolean isQuiet(Progress progress) {
    return elapsed(progress.begin).compareTo(QUIET) > 0
        && elapsed(ledger.lastSettled()).compareTo(QUIET) > 0;
  }

  private static void watch(Outcomes outcomes, @Nullable ZoneKill kill, LocalStack stack) {
    outcomes.check();
    if (kill != null) {
      kill.check();
    }
    for (Zone zone : stack.zones()) {
      boolean meant = kill != null && kill.zone() == zone && !kill.isOver();
      if (!zone.isAlive() && !meant) {
        throw new JobFailure("zone " + zone.name() + " has ended, see " + zone.log());
      }
    }
    try {
      Thread.sleep(TICK);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new JobFailure("interrupted", e);
    }
  }

  /** Shows once a second how far the work is. */
  private final class Progress {
    private final LocalStack stack;
    private final long begin = System.nanoTime();
    private long shown;

    private Progress(LocalStack stack) {
      this.stack = stack;
    }

    private void show() {
      if (elapsed(begin).compareTo(PROGRESS.multipliedBy(shown + 1)) > 0) {
        shown = elapsed(begin).toSeconds();
        print();
      }
    }

    private void print() {
      stack.zones().forEach(Zone::scrape);
      terminal.progress(
          "  %3.0f s  delivered %,d, done %,d of %,d (a %,d, b %,d), in flight %d, parked %d%s"
              .formatted(
                  elapsed(begin).toMillis() / 1000.0,
                  ledger.deliveries(),
                  ledger.settled(),
                  ledger.size(),
                  ledger.completedBy("a"),
                  ledger.completedBy("b"),
                  stack.zones().stream().mapToLong(Zone::inFlight).sum(),
                  stack.zones().stream().mapToLong(Zone::parked).sum(),
                  ledger.takeovers() == 0 ? "" : ", takeovers " + ledger.takeovers()));
    }
  }

  /** Stops the zones as a deployment would. */
  private static List<String> stop(List<Zone> zones) {
    zones.forEach(Zone::terminate);
    List<String> problems = new ArrayList<>();
    for (Zone zone : zones) {
      int exit = zone.awaitExit();
      if (exit != 0) {
        problems.add("zone %s ended with exit code %d".formatted(zone.name(), exit));
      }
    }
    return problems;
  }

  private void print(Summary summary, List<String> problems) {
    terminal.say("");
    summary.figures().forEach(terminal::say);
    terminal.say("");
    summary.notes().forEach(note -> terminal.say("  " + note));
    problems.forEach(problem -> terminal.say("  FAILED: " + problem));
    if (problems.isEmpty()) {
      terminal.say("  OK: every record was completed exactly once.");
    }
    terminal.say("");
  }

  /** Prints where everything is, and waits for Ctrl-C. */
  private void leaveRunning(LocalStack stack) {
    String kafka = stack.kafka().bootstrapServers();
    terminal.say("Left running until Ctrl-C:");
    terminal.say("  Kafka      %s  topics events, %s".formatted(kafka, Outcomes.TOPIC));
    terminal.say(
        "  %-10s %s  %s, region us-east-1, any credentials"
            .formatted(
                options.backend().server(), stack.store().endpoint(), options.backend().place()));
    for (Zone zone : stack.zones()) {
      terminal.say(
          "  zone %s     %s  /health /prometheus, log %s"
              .formatted(zone.name(), zone.http(), zone.log()));
    }
    terminal.say("  publish    echo 'my-id:{\"any\":\"document\"}' | kafka-console-producer.sh \\");
    terminal.say(
        "               --bootstrap-server %s --topic %s \\".formatted(kafka, LocalStack.TOPIC));
    terminal.say("               --property parse.key=true --property key.separator=:");
    terminal.say("             or with kcat: kcat -P -b %s -t events -K :".formatted(kafka));
    try {
      new CountDownLatch(1).await();
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }

  private void interrupt(AtomicBoolean interrupted, LocalStack stack) {
    interrupted.set(true);
    stack.close();
  }

  private static Duration elapsed(long since) {
    return Duration.ofNanos(System.nanoTime() - since);
  }

  private static String since(long begin) {
    return "%.1f s".formatted(elapsed(begin).toMillis() / 1000.0);
  }
}
