package io.firstclaim.processor.engine.outcome;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstclaim.lock.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Announces, as long as this instance lives, that it does and which store it uses; see {@link
 * StoreAgreement}. One announcement is under way at a time.
 */
public final class PresenceBeat implements AutoCloseable {
  /** How often an instance announces itself. */
  static final Duration EVERY = Duration.ofSeconds(5);

  /** The one partition that all announcements go to: its order decides. */
  static final int PARTITION = 0;

  private static final Logger LOG = LoggerFactory.getLogger(PresenceBeat.class);
  private static final Duration END = Duration.ofMillis(500);

  private final Producer<byte[], byte[]> producer;
  private final String topic;
  private final StoreAgreement agreement;
  private final TimeSource time;
  private final byte[] key;
  private final List<Header> headers;
  private final Semaphore wake = new Semaphore(0);
  private final Thread thread =
      Thread.ofPlatform().name("firstclaim-presence").daemon().unstarted(this::run);
  private volatile boolean closed;
  private boolean failing;

  /**
   * Announcements that have not begun.
   *
   * @param sender whose they are; on a compacted topic its last one is kept
   */
  public PresenceBeat(
      Producer<byte[], byte[]> producer,
      String topic,
      Origin origin,
      String sender,
      StoreAgreement agreement,
      TimeSource time) {
    this.producer = producer;
    this.topic = topic;
    this.agreement = agreement;
    this.time = time;
    this.key = (Presence.HEADER + ":" + sender).getBytes(UTF_8);
    this.headers = new ArrayList<>(origin.headers());
    this.headers.add(new RecordHeader(Presence.HEADER, new byte[] {1}));
    agreement.onTurn(wake::release);
  }

  /** Begins. */
  public void start() {
    thread.start();
  }

  private void run() {
    try {
      while (!closed) {
        announce();
        boolean _ = wake.tryAcquire(EVERY.toMillis(), TimeUnit.MILLISECONDS);
        int _ = wake.drainPermits();
      }
    } catch (InterruptedException e) {
      LOG.debug("Ended by an interrupt");
    }
    // Kafka leaves the interrupt flag set, and the end is yet to be sent.
    boolean _ = Thread.interrupted();
    announceTheEnd();
  }

  private void announceTheEnd() {
    try {
      Future<RecordMetadata> _ = send(agreement.last());
    } catch (RuntimeException e) { // the others will notice its silence
      LOG.debug("The end was not announced", e);
    }
  }

  private void announce() throws InterruptedException {
    try {
      RecordMetadata _ = send(agreement.next()).get();
      failing = false;
    } catch (ExecutionException | RuntimeException | Error e) {
      // Whatever it was, the next may go better; without any, the others would take this instance
      // for gone.
      tell(e);
    }
  }

  private void tell(Throwable fault) {
    if (failing) {
      return;
    }
    failing = true;
    try {
      LOG.warn(
          "This instance's store could not be announced on topic {}; trying again", topic, fault);
    } catch (RuntimeException | Error e) {
      // It must be announced even where nothing can be logged.
    }
  }

  private Future<RecordMetadata> send(Presence presence) {
    return producer.send(
        new ProducerRecord<>(topic, PARTITION, key, presence.json(time.now().wall()), headers));
  }

  /**
   * Has the others told that this instance is gone, but waits no longer than it takes to do so if
   * the broker is there. The producer is closed later, which sends it.
   */
  @Override
  public void close() {
    if (closed || !thread.isAlive()) {
      closed = true;
      return;
    }
    closed = true;
    thread.interrupt();
    try {
      boolean _ = thread.join(END);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
