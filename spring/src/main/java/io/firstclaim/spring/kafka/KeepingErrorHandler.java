package io.firstclaim.spring.kafka;

import io.firstclaim.listener.DeduplicatedRecords;
import io.firstclaim.listener.RecordKeptException;
import io.firstclaim.lock.OncePerMinute;
import io.firstclaim.lock.TimeSource;
import java.time.Duration;
import java.util.List;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.log.LogAccessor;
import org.springframework.kafka.KafkaException;
import org.springframework.kafka.listener.CommonErrorHandler;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.kafka.listener.SeekUtils;

/**
 * The one retry policy of a deduplicated listener's container: whatever went wrong, the record is
 * kept and delivered again, without end. How often a listener is tried that throws, and when its
 * record is given up, the deduplicator knows, which all instances share.
 *
 * <p>Meanwhile the container's thread waits, as with Spring's own error handlers, and polls now and
 * then, so that it stays in its group. Thread-safe.
 */
final class KeepingErrorHandler implements CommonErrorHandler {
  private static final Logger LOG = LoggerFactory.getLogger(KeepingErrorHandler.class);

  /** Between two looks at whether the container is to stop. */
  private static final Duration LOOK = Duration.ofMillis(100);

  private static final Duration LONGEST = Duration.ofSeconds(5);

  /** After what says nothing of when it will be over. */
  private static final Duration UNTOLD = Duration.ofSeconds(1);

  private static final LogAccessor SPRINGS = new LogAccessor(KeepingErrorHandler.class);

  private final TimeSource time;
  private final Duration longest;
  private final OncePerMinute loud;

  /**
   * A handler for one container.
   *
   * @param maxPollInterval of its consumers
   */
  KeepingErrorHandler(TimeSource time, Duration maxPollInterval) {
    this.time = time;
    this.longest = shorter(LONGEST, maxPollInterval.dividedBy(4));
    this.loud = new OncePerMinute(time);
  }

  /** The first record of the list is the one that failed, and none of them is done. */
  @Override
  public void handleRemaining(
      Exception thrown,
      List<ConsumerRecord<?, ?>> records,
      Consumer<?, ?> consumer,
      MessageListenerContainer container) {
    RecordKeptException kept = kept(thrown);
    if (kept == null && loud.isDue()) {
      LOG.error(
          "{} is not done, and is kept until it can be: what failed is not its listener",
          records.isEmpty() ? "A record" : DeduplicatedRecords.place(records.getFirst()),
          thrown);
    }
    pause(kept == null ? UNTOLD : kept.pause(), container);
    // Seeks to each partition's first record, and throws, so that the container takes none for
    // done.
    SeekUtils.seekOrRecover(
        thrown,
        records,
        consumer,
        container,
        false,
        KeepingErrorHandler::isSkipped,
        SPRINGS,
        KafkaException.Level.DEBUG);
  }

  /** No record is ever skipped. */
  private static boolean isSkipped(ConsumerRecord<?, ?> record, Exception thrown) {
    return false;
  }

  @Override
  public void handleOtherException(
      Exception thrown,
      Consumer<?, ?> consumer,
      MessageListenerContainer container,
      boolean batch) {
    if (loud.isDue()) {
      LOG.error(
          "No records come: if they cannot be deserialized, use ByteArrayDeserializer and a message"
              + " converter, so that one that is no good fails in its listener and gets its dead"
              + " letter",
          thrown);
    }
    pause(UNTOLD, container);
  }

  @Override
  public boolean seeksAfterHandling() {
    return true;
  }

  @Override
  public boolean isAckAfterHandle() {
    return false;
  }

  private void pause(Duration asked, MessageListenerContainer container) {
    Duration left = shorter(asked, longest);
    try {
      while (left.isPositive() && container.isRunning()) {
        Duration next = shorter(left, LOOK);
        time.sleep(next);
        left = left.minus(next);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static @Nullable RecordKeptException kept(Throwable thrown) {
    for (@Nullable Throwable each = thrown; each != null; each = each.getCause()) {
      if (each instanceof RecordKeptException kept) {
        return kept;
      }
    }
    return null;
  }

  private static Duration shorter(Duration one, Duration other) {
    return one.compareTo(other) < 0 ? one : other;
  }
}
