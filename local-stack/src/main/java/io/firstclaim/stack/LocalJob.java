package io.firstclaim.stack;

import io.firstclaim.lock.testkit.process.StackException;
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
  /** New events a second: enough for the sample in a few seconds. */
  private static final double LEAST_PER_SECOND = 400;

  private static final double FIRST_PASS_SECONDS = 4;
  private static final int POISON_EVERY = 50;

  private final JobOptions options;
  private final Terminal terminal;
  private final EventFile file;
  private final Ledger ledger;

  private LocalJob(JobOptions options, Terminal terminal) {
    this.options = options;
    this.terminal = terminal;
    this.file = options.input().map(EventFile::of).orElseGet(EventFile::sample);
    this.ledger = new Ledger(file.events(), options.poison() ? POISON_EVERY : 0);
  }

  /**
   * Runs the job; exits with 0 if all went well, 1 if something was wrong with a record, 2 if it
   * could not run.
   */
  public static void main(String[] args) {
    Locale.setDefault(Locale.ROOT);
    ParentWatch.start();
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
              .formatted(storeName(), since(begin), options.directory()));
      stack.awaitZones();
      Duration start = elapsed(begin);
      terminal.say("  zones a and b are up after " + since(begin));
      stack.zones().forEach(zone -> terminal.say(page(zone)));

      long workBegin = System.nanoTime();
      ZoneKill kill =
          options.kill()
              ? new ZoneKill(stack.zones().getFirst(), stack.handler(), ledger, terminal)
              : null;
      List<String> problems = new ArrayList<>(work(stack, kill));
      Duration work = elapsed(workBegin);
      stack.zones().forEach(Zone::scrape);
      // Not the zone that was killed: its new process waits until the old one's session is over.
      AuditVerdict audit =
          AuditVerdict.await(stack.kafka().bootstrapServers(), stack.zones().getLast().name());

      long stopBegin = System.nanoTime();
      if (!options.keep()) {
        problems.addAll(stop(stack.zones()));
      }
      var times = new Summary.Times(start, work, elapsed(stopBegin));
      boolean killed = kill != null && !kill.isPending();
      if (options.kill() && !killed) {
        problems.add("zone a held no record half-way and was not killed: the input is too small");
      }
      Summary summary =
          Summary.of(file, ledger, stack.zones(), killed, times).with(problems).with(audit);
      summary.print(terminal);
      if (options.keep()) {
        leaveRunning(stack);
      }
      return summary.isGood() ? 0 : 1;
    }
  }

  /** Feeds the zones until every offset of every group is settled; returns what is left. */
  private List<String> work(LocalStack stack, @Nullable ZoneKill kill) {
    double perSecond = Math.max(LEAST_PER_SECOND, ledger.size() / FIRST_PASS_SECONDS);
    List<String> zones = stack.zones().stream().map(Zone::name).toList();
    stack.zones().forEach(zone -> zone.countRequests());
    try (Work work =
        new Work(
            ledger,
            stack.kafka().bootstrapServers(),
            zones,
            perSecond,
            new Watch(stack.zones(), kill))) {
      return work.run();
    }
  }

  /**
   * Ends the job if a zone ended that was not meant to, and shows once a second how far it has got.
   */
  private final class Watch implements Work.Observer {
    private final List<Zone> zones;
    private final @Nullable ZoneKill kill;

    private Watch(List<Zone> zones, @Nullable ZoneKill kill) {
      this.zones = zones;
      this.kill = kill;
    }

    @Override
    public void check() {
      if (kill != null) {
        kill.check();
      }
      for (Zone zone : zones) {
        boolean meant = kill != null && kill.zone() == zone && !kill.isOver();
        if (!zone.isAlive() && !meant) {
          throw new JobFailure("zone " + zone.name() + " has ended, see " + zone.log());
        }
      }
    }

    @Override
    public boolean isContent() {
      return kill == null || kill.isOver() || kill.isPending();
    }

    @Override
    public boolean givesUp() {
      return true;
    }

    @Override
    public void show(Duration sinceBegin) {
      zones.forEach(Zone::scrape);
      terminal.progress(
          "%s, in flight %d, parked %d%s"
              .formatted(
                  ledger.progress(sinceBegin, List.of("a", "b")),
                  zones.stream().mapToLong(Zone::inFlight).sum(),
                  zones.stream().mapToLong(Zone::parked).sum(),
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

  /** Prints where everything is and waits for Ctrl-C. */
  private void leaveRunning(LocalStack stack) {
    String kafka = stack.kafka().bootstrapServers();
    terminal.say("Left running until Ctrl-C:");
    terminal.say("  Kafka           %s  topics events, %s".formatted(kafka, Outcomes.TOPIC));
    stack
        .store()
        .endpoint()
        .ifPresent(
            endpoint -> {
              terminal.say(
                  "  %-14s  %s  %s".formatted(storeName(), endpoint, options.backend().place()));
              terminal.say("                  with " + LocalStack.credentials());
            });
    for (Zone zone : stack.zones()) {
      terminal.say(page(zone));
      terminal.say("                  and /api /health /prometheus, log " + zone.log());
    }
    stack
        .operator()
        .ifPresent(
            operator -> {
              terminal.say("  operator        " + operator.token());
              terminal.say(
                  "                  the token that the pages ask for: release, redrive, dismiss, pause");
            });
    if (options.poison()) {
      stack.handler().mend();
      terminal.say(
          "  given up        the handler is mended now: redrive those, on a page, and they are done");
    }
    terminal.say(
        "  publish         echo 'my-id:{\"any\":\"document\"}' | kafka-console-producer.sh \\");
    terminal.say(
        "                    --bootstrap-server %s --topic %s \\"
            .formatted(kafka, LocalStack.TOPIC));
    terminal.say("                    --property parse.key=true --property key.separator=:");
    terminal.say("                  or with kcat: kcat -P -b %s -t events -K :".formatted(kafka));
    try {
      new CountDownLatch(1).await();
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }

  private String storeName() {
    return options.aws().orElse(options.backend().server());
  }

  private static String page(Zone zone) {
    return "  zone %s          %s  the page".formatted(zone.name(), zone.http());
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
