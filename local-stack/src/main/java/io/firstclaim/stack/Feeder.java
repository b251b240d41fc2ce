package io.firstclaim.stack;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Iterator;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.jspecify.annotations.Nullable;

/**
 * Publishes every event at least three times under one record ID, and at least as often as its file
 * has it; goes on until its outcome has been seen. New events wait while many are without an
 * outcome.
 */
final class Feeder implements AutoCloseable {
  private static final int PUBLICATIONS = 3;
  private static final int MAX_UNSETTLED = 250;
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(4);
  private static final Duration IDLE = Duration.ofMillis(2);

  private record Publication(Ledger.Entry entry, long at) {}

  private final Ledger ledger;
  private final String topic;
  private final double perSecond;
  private final Producer<String, byte[]> producer;
  private final Random random = new Random(2026);
  private final PriorityQueue<Publication> again =
      new PriorityQueue<>((one, other) -> Long.signum(one.at - other.at));
  private final Thread thread = Thread.ofPlatform().daemon().name("feeder").unstarted(this::run);
  private volatile boolean stopped;
  private volatile boolean finished;
  private volatile @Nullable Exception failure;

  /**
   * A feeder that has not begun.
   *
   * @param perSecond how many new events it publishes a second, at most
   */
  Feeder(Ledger ledger, String bootstrapServers, String topic, double perSecond) {
    this.ledger = ledger;
    this.topic = topic;
    this.perSecond = perSecond;
    Map<String, Object> config =
        Map.of(
            "bootstrap.servers",
            bootstrapServers,
            "client.id",
            "feeder",
            "acks",
            "all",
            "linger.ms",
            2,
            "max.block.ms",
            Work.LONGEST_OUTAGE.toMillis(),
            "delivery.timeout.ms",
            (int) Work.LONGEST_OUTAGE.toMillis());
    this.producer = new KafkaProducer<>(config, new StringSerializer(), new ByteArraySerializer());
  }

  void start() {
    thread.start();
  }

  /**
   * Whether every event was published often enough and has its outcome, or the feeder was stopped.
   */
  boolean isFinished() {
    Exception cause = failure;
    if (cause != null) {
      throw new JobFailure("an event cannot be published: " + cause.getMessage(), cause);
    }
    return finished;
  }

  /** Stops publishing, and waits until everything is acknowledged. */
  void stop() {
    stopped = true;
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new JobFailure("interrupted", e);
    }
  }

  @Override
  public void close() {
    stopped = true;
    producer.close(Duration.ZERO);
  }

  private void run() {
    try {
      Iterator<Ledger.Entry> fresh = ledger.entries().iterator();
      long start = System.nanoTime();
      int published = 0;
      while (!stopped && (fresh.hasNext() || isLeft())) {
        long now = System.nanoTime();
        boolean due = now - start >= published * 1e9 / perSecond;
        if (fresh.hasNext() && due && published - ledger.settled() < MAX_UNSETTLED) {
          publish(fresh.next(), now);
          published++;
        } else if (!publishAgain(now)) {
          Thread.sleep(IDLE);
        }
      }
      producer.flush();
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException e) {
      failure = e;
    } finally {
      finished = true;
    }
  }

  /** Whether an event is to be published again, now or later. */
  private boolean isLeft() {
    again.removeIf(next -> isEnough(next.entry));
    return !again.isEmpty();
  }

  private static boolean isEnough(Ledger.Entry entry) {
    int wanted = Math.max(PUBLICATIONS, entry.event().lines());
    return entry.isSettled() && entry.publications() >= wanted;
  }

  /** Publishes the next event that is due again; false if none is. */
  private boolean publishAgain(long now) {
    Publication next = again.peek();
    if (next == null || next.at - now > 0) {
      return false;
    }
    again.remove();
    if (!isEnough(next.entry)) {
      publish(next.entry, now);
    }
    return true;
  }

  private void publish(Ledger.Entry entry, long now) {
    Event event = entry.event();
    byte[] value = event.json().getBytes(StandardCharsets.UTF_8);
    var _ =
        producer.send(
            new ProducerRecord<>(topic, event.id(), value),
            (_, problem) -> {
              if (problem != null) {
                failure = problem;
              }
            });
    again.add(new Publication(entry, now + pause(event, entry.published()).toNanos()));
  }

  /**
   * An event that its file repeats comes again at once; of the rest, some come again at once and
   * some late; after that ever more rarely until there is an outcome.
   */
  private Duration pause(Event event, int publications) {
    if (publications < event.lines()) {
      return Duration.ZERO;
    }
    if (publications < PUBLICATIONS) {
      return Duration.ofMillis(random.nextInt(5, 700));
    }
    int late = publications - Math.max(PUBLICATIONS, event.lines()) + 1;
    Duration pause = Duration.ofSeconds(1).multipliedBy(late);
    return pause.compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : pause;
  }
}
