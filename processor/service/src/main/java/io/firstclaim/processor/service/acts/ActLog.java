package io.firstclaim.processor.service.acts;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.engine.SideClients;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The topic of acts: one partition, kept for ever, created if it is missing. What is written to it
 * is read by every instance of the application, in one order, from its beginning; a thread of its
 * own reads. Thread-safe.
 */
public final class ActLog implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ActLog.class);
  private static final String APPLICATION = "firstclaim-application";

  /** What the topic is to have, or acts are deleted. */
  private static final Map<String, String> KEPT =
      Map.of(
          TopicConfig.RETENTION_MS_CONFIG, "-1",
          TopicConfig.RETENTION_BYTES_CONFIG, "-1",
          TopicConfig.CLEANUP_POLICY_CONFIG, TopicConfig.CLEANUP_POLICY_DELETE);

  private static final Duration POLL = Duration.ofMillis(500);
  private static final Duration WRITTEN_WITHIN = Duration.ofSeconds(10);
  private static final Duration HEARD_WITHIN = Duration.ofSeconds(10);
  private static final Duration PAUSE_AFTER_FAULT = Duration.ofSeconds(2);
  private static final Duration CLOSED_WITHIN = Duration.ofSeconds(3);

  private final SideClients clients;
  private final byte[] application;
  private final TopicPartition partition;
  private final Consumer<ActMessage> heard;
  private final TimeSource time;
  private final Thread thread;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition read = lock.newCondition();
  private @Nullable Producer<byte[], byte[]> producer; // guarded by lock
  private long position; // guarded by lock
  private boolean warned; // used by the thread that reads alone
  private volatile Optional<String> fault = Optional.of("it has not been read yet");
  private volatile boolean isKnown;
  private volatile boolean closed;

  /**
   * The log of this application, not read yet.
   *
   * @param heard is told every message in its order, on one thread; must not block
   */
  public ActLog(
      SideClients clients, String application, Consumer<ActMessage> heard, TimeSource time) {
    this.clients = clients;
    this.time = time;
    this.application = application.getBytes(UTF_8);
    this.partition = new TopicPartition(topicOf(application), 0);
    this.heard = heard;
    this.thread = Thread.ofPlatform().name("firstclaim-acts").daemon().unstarted(this::run);
  }

  /** The topic of this application's acts. */
  public static String topicOf(String application) {
    return application + ".acts";
  }

  /** Begins to read. */
  public void start() {
    thread.start();
  }

  /** Why nothing can be written or heard now, in one line; empty if it can. */
  public Optional<String> fault() {
    return fault.map(why -> "topic %s: %s".formatted(partition.topic(), why));
  }

  /**
   * Whether all was heard that was told before this began to read; what was told since may not be,
   * while there is a {@link #fault()}.
   */
  public boolean isKnown() {
    return isKnown;
  }

  /**
   * Writes a message and waits until it is acknowledged.
   *
   * @return its offset
   * @throws NotWrittenException if it was not, in ten seconds: it may be written all the same
   */
  public long write(ActMessage message) {
    fault()
        .ifPresent(
            why -> {
              throw new NotWrittenException(why);
            });
    try {
      ProducerRecord<byte[], byte[]> record =
          new ProducerRecord<>(
              partition.topic(),
              partition.partition(),
              message.id().getBytes(UTF_8),
              ActFormat.write(message));
      record.headers().add(APPLICATION, application);
      return producer().send(record).get(WRITTEN_WITHIN.toMillis(), TimeUnit.MILLISECONDS).offset();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new NotWrittenException("interrupted");
    } catch (TimeoutException e) {
      throw new NotWrittenException(
          "topic %s acknowledged no message within %s"
              .formatted(partition.topic(), WRITTEN_WITHIN));
    } catch (ExecutionException | KafkaException e) {
      throw new NotWrittenException(
          "topic %s took no message: %s"
              .formatted(partition.topic(), OneLine.of(e.getCause() == null ? e : e.getCause())));
    }
  }

  /**
   * Writes a message and waits until it was heard here, with all that was written before it.
   *
   * @throws NotWrittenException if it was not written or not heard: it may be written all the same
   */
  public void tell(ActMessage message) throws InterruptedException {
    if (!awaitHeard(write(message), HEARD_WITHIN)) {
      throw new NotWrittenException("it was written but not heard: look again before repeating it");
    }
  }

  /** Waits until the message at this offset was heard here; false if it takes longer. */
  public boolean awaitHeard(long offset, Duration limit) throws InterruptedException {
    long left = limit.toNanos();
    lock.lock();
    try {
      while (position <= offset && left > 0) {
        left = read.awaitNanos(left);
      }
      return position > offset;
    } finally {
      lock.unlock();
    }
  }

  private Producer<byte[], byte[]> producer() {
    lock.lock();
    try {
      if (producer == null) {
        producer = clients.producer();
      }
      return producer;
    } finally {
      lock.unlock();
    }
  }

  private void run() {
    while (!closed) {
      try {
        create();
        readOn();
      } catch (WakeupException e) {
        // close() has woken this thread to look at closed
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        closed = true;
      } catch (RuntimeException | Error e) { // whatever it is, the log is read on
        restAfter(e);
      }
    }
  }

  private void restAfter(Throwable why) {
    try {
      say(OneLine.of(why));
      time.sleep(PAUSE_AFTER_FAULT);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException | Error e) {
      // Nothing could be said, or the TimeSource's own sleep has failed.
      LockSupport.parkNanos(this, PAUSE_AFTER_FAULT.toNanos());
    }
  }

  private void say(String why) {
    boolean isNew = fault.filter(why::equals).isEmpty();
    fault = Optional.of(why);
    if (isNew) {
      LOG.warn(
          "Topic {} cannot be read, so operators can change nothing here: {}",
          partition.topic(),
          why);
    }
  }

  private void create() throws InterruptedException {
    try (Admin admin = clients.admin()) {
      var topic =
          new NewTopic(partition.topic(), Optional.of(1), Optional.empty())
              .configs(
                  Map.of(
                      TopicConfig.RETENTION_MS_CONFIG,
                      "-1",
                      TopicConfig.CLEANUP_POLICY_CONFIG,
                      TopicConfig.CLEANUP_POLICY_DELETE));
      try {
        var _ = admin.createTopics(List.of(topic)).all().get();
        LOG.info("Created topic {} with 1 partition", partition.topic());
      } catch (ExecutionException e) {
        if (!(e.getCause() instanceof TopicExistsException)
            && !admin.listTopics().names().get().contains(partition.topic())) {
          throw new KafkaException(
              "it is missing and the broker did not let it be created (%s); create it with: kafka-topics.sh --create --topic %s --partitions 1 --config retention.ms=-1 --config cleanup.policy=delete"
                  .formatted(e.getCause(), partition.topic()));
        }
      }
      warnIfActsAreDeleted(admin);
    } catch (ExecutionException e) {
      throw new KafkaException(e.getCause());
    }
  }

  /** Says once what of the topic's settings has Kafka delete acts that are still needed. */
  private void warnIfActsAreDeleted(Admin admin) throws InterruptedException {
    if (warned) {
      return;
    }
    warned = true;
    ConfigResource topic = new ConfigResource(ConfigResource.Type.TOPIC, partition.topic());
    try {
      Config config = admin.describeConfigs(List.of(topic)).all().get().get(topic);
      KEPT.forEach(
          (name, wanted) -> {
            @Nullable ConfigEntry entry = config == null ? null : config.get(name);
            if (entry != null && !wanted.equals(entry.value())) {
              LOG.warn(
                  "Topic {} has {}={}: of acts that Kafka deletes, nobody knows after a start that"
                      + " redrives are under way and records dismissed; keep them with:"
                      + " kafka-configs.sh --alter --entity-type topics --entity-name {}"
                      + " --add-config {}={}",
                  partition.topic(),
                  name,
                  entry.value(),
                  partition.topic(),
                  name,
                  wanted);
            }
          });
    } catch (ExecutionException e) { // the permission to look is not required
      LOG.debug("How long topic {} keeps acts is not known", partition.topic(), e);
    }
  }

  private void readOn() {
    try (var consumer = clients.reader()) {
      consumer.assign(List.of(partition));
      consumer.seek(partition, position());
      long end = consumer.endOffsets(List.of(partition)).getOrDefault(partition, 0L);
      while (!closed) {
        for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
          hear(record);
          advance(record.offset() + 1); // so that after a fault nothing before it is heard again
        }
        advance(consumer.position(partition));
        if (consumer.position(partition) >= end) {
          isKnown = true;
          fault = Optional.empty();
        }
      }
    }
  }

  private void hear(ConsumerRecord<byte[], byte[]> record) {
    @Nullable Header of = record.headers().lastHeader(APPLICATION);
    if (record.value() == null || of == null || !Arrays.equals(of.value(), application)) {
      return;
    }
    try {
      ActFormat.read(record.value()).ifPresent(heard);
    } catch (IOException | RuntimeException e) {
      // Anybody with access to the topic may have written it.
      LOG.warn(
          "Topic {} has at offset {} what is no act: {}",
          partition.topic(),
          record.offset(),
          OneLine.of(e));
    }
  }

  private long position() {
    lock.lock();
    try {
      return position;
    } finally {
      lock.unlock();
    }
  }

  private void advance(long to) {
    lock.lock();
    try {
      position = to;
      read.signalAll();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    closed = true;
    thread.interrupt();
    try {
      thread.join(CLOSED_WITHIN);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    lock.lock();
    try {
      if (producer != null) {
        producer.close(CLOSED_WITHIN);
      }
    } finally {
      lock.unlock();
    }
  }
}
