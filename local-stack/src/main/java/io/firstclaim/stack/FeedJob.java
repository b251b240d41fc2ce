package io.firstclaim.stack;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.TopicExistsException;

/**
 * The main job's part outside the zones, for zones that somebody else starts, ends and cuts off:
 * feeds the events, serves the {@code http} handlers, and accounts for every record.
 *
 * <p>Ends with 0 only if every record was completed once. Settings are environment variables:
 * {@code KAFKA_BOOTSTRAP_SERVERS}, {@code FIRSTCLAIM_ZONES}, {@code FEED_PER_SECOND}, and {@code
 * FEED_KEEP=true} to go on as the handlers' service afterwards.
 */
public final class FeedJob {
  private static final int HANDLER_PORT = 9000;
  private static final short REPLICAS = 1;
  private static final Duration LOOK_EVERY = Duration.ofMillis(500);

  private final Terminal terminal = new Terminal(System.out);
  private final EventFile file = EventFile.sample();
  private final Ledger ledger = new Ledger(file.events());
  private final String kafka;
  private final List<String> zones;
  private final double perSecond;

  private FeedJob(Map<String, String> environment) {
    this.kafka = environment.getOrDefault("KAFKA_BOOTSTRAP_SERVERS", "localhost:9092");
    this.zones = List.of(environment.getOrDefault("FIRSTCLAIM_ZONES", "a,b").split(","));
    String rate = environment.getOrDefault("FEED_PER_SECOND", "50");
    try {
      this.perSecond = Double.parseDouble(rate);
    } catch (NumberFormatException e) {
      throw new JobFailure("FEED_PER_SECOND=" + rate + ": give a number", e);
    }
  }

  /**
   * Runs the job; exits with 0 if all went well, 1 if something was wrong with a record, 2 if it
   * could not run.
   */
  public static void main(String[] args) throws InterruptedException {
    Locale.setDefault(Locale.ROOT);
    int exit;
    try {
      FeedJob job = new FeedJob(System.getenv());
      try (HandlerServer _ = HandlerServer.start(job.ledger, new InetSocketAddress(HANDLER_PORT))) {
        exit = job.run();
        if (Boolean.parseBoolean(System.getenv("FEED_KEEP"))) {
          new CountDownLatch(1).await();
        }
      }
    } catch (JobFailure e) {
      System.err.println("feeder: " + e.getMessage());
      exit = 2;
    }
    System.exit(exit);
  }

  private int run() throws InterruptedException {
    awaitTopics();
    terminal.say("Feeding %,d events from %s".formatted(ledger.size(), file.name()));
    long begin = System.nanoTime();
    List<String> left;
    try (Work work = new Work(ledger, kafka, zones, perSecond, new Patience())) {
      left = work.run();
    }
    Duration took = Duration.ofNanos(System.nanoTime() - begin);
    Summary summary = Summary.ofOthers(file, ledger, zones, took).with(left);
    summary.print(terminal);
    return summary.isGood() ? 0 : 1;
  }

  /** Whatever happens to the zones, they are fed until everything is settled. */
  private final class Patience implements Work.Observer {
    @Override
    public void check() {}

    @Override
    public boolean isContent() {
      return true;
    }

    @Override
    public boolean givesUp() {
      return false;
    }

    @Override
    public void show(Duration sinceBegin) {
      terminal.progress(
          "%s, takeovers %d".formatted(ledger.progress(sinceBegin, zones), ledger.takeovers()));
    }
  }

  /** Creates the topic of the events, and waits for the zones to create that of the outcomes. */
  private void awaitTopics() throws InterruptedException {
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", kafka, "client.id", "feeder"))) {
      Set<String> wanted = Set.of(LocalStack.TOPIC, Outcomes.TOPIC);
      String said = "";
      while (true) {
        Optional<String> missing = missing(admin, wanted);
        if (missing.isEmpty()) {
          return;
        }
        if (!missing.get().equals(said)) {
          said = missing.get();
          terminal.say("Waiting for " + said);
        }
        Thread.sleep(LOOK_EVERY);
      }
    }
  }

  private static Optional<String> missing(Admin admin, Set<String> wanted)
      throws InterruptedException {
    try {
      Set<String> there = admin.listTopics().names().get();
      if (!there.contains(LocalStack.TOPIC)) {
        var topic = new NewTopic(LocalStack.TOPIC, LocalStack.PARTITIONS, REPLICAS);
        admin.createTopics(List.of(topic)).all().get();
      }
      return there.containsAll(wanted)
          ? Optional.empty()
          : Optional.of("the zones to create " + Outcomes.TOPIC);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RetriableException
          || e.getCause() instanceof TopicExistsException) {
        return Optional.of("Kafka");
      }
      throw new JobFailure("Kafka cannot be asked for topics: " + e.getCause(), e);
    }
  }
}
