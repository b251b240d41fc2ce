package io.firstclaim.micronaut.kafka;

import io.firstclaim.listener.DeduplicatedRecords;
import io.firstclaim.listener.RecordKeptException;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.OncePerMinute;
import io.firstclaim.lock.TimeSource;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The records of one listener, each processed once. Micronaut delivers a record that is kept again
 * after {@code retryDelay}; the store is not asked about it before that can be of use. Thread-safe.
 */
final class KeptRecords {
  private static final Logger LOG = LoggerFactory.getLogger(KeptRecords.class);

  /** Whoever is at a record may be done long before the lease is over. */
  private static final Duration LONGEST = Duration.ofSeconds(5);

  private final DeduplicatedRecords records;
  private final TimeSource time;
  private final OncePerMinute loud;
  private final ConcurrentMap<TopicPartition, Kept> kept = new ConcurrentHashMap<>();

  KeptRecords(DeduplicatedRecords records, TimeSource time) {
    this.records = records;
    this.time = time;
    this.loud = new OncePerMinute(time);
  }

  /** The record at which a partition stands. */
  private record Kept(long offset, Moment since, RecordKeptException why) {
    boolean isEarly(long delivered, Moment now) {
      Duration pause = why.pause().compareTo(LONGEST) < 0 ? why.pause() : LONGEST;
      return offset == delivered && now.since(since).compareTo(pause) < 0;
    }
  }

  /**
   * Has a record done once; returns only if its offset may move.
   *
   * @throws RecordKeptException if it must stay where it is
   */
  void process(ConsumerRecord<?, ?> record, DeduplicatedRecords.Listener listener) {
    TopicPartition partition = new TopicPartition(record.topic(), record.partition());
    Kept before = kept.get(partition);
    if (before != null && before.isEarly(record.offset(), time.now())) {
      throw before.why;
    }
    try {
      boolean unused = records.process(record, listener);
      kept.remove(partition);
    } catch (RecordKeptException e) {
      kept.put(partition, new Kept(record.offset(), time.now(), e));
      throw e;
    } catch (RuntimeException | Error e) {
      // Micronaut tells nobody of what is tried again, and ends its consumer at an Error.
      if (loud.isDue()) {
        LOG.error(
            "{} is not done, and is kept until it can be: what failed is not its listener",
            DeduplicatedRecords.place(record),
            e);
      }
      throw new RecordKeptException(String.valueOf(e.getMessage()), Duration.ZERO, e);
    }
  }
}
