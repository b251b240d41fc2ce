package io.firstclaim.processor.service.redrive;

import io.firstclaim.processor.engine.SideClients;
import io.firstclaim.processor.engine.api.DeadLetter;
import io.firstclaim.processor.service.acts.Range;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Dead letters in Kafka. */
final class KafkaLetters implements Letters {
  private static final Logger LOG = LoggerFactory.getLogger(KafkaLetters.class);
  private static final Duration POLL = Duration.ofMillis(500);

  /** Left alone, a consumer asks for a minute; somebody waits for what is asked here. */
  private static final Duration LIMIT = Duration.ofSeconds(5);

  private static final Instant LAST = Instant.ofEpochMilli(Long.MAX_VALUE);

  private static final Duration CLOSED_WITHIN = Duration.ofSeconds(1);

  private final SideClients clients;

  /** Letters that are read with these clients. */
  KafkaLetters(SideClients clients) {
    this.clients = clients;
  }

  @Override
  public List<Range> ranges(Collection<String> topics, @Nullable Instant since) {
    try (Consumer<byte[], byte[]> consumer = clients.reader()) {
      List<TopicPartition> partitions =
          new TreeSet<>(topics)
              .stream()
                  .flatMap(topic -> consumer.partitionsFor(topic, LIMIT).stream())
                  .map(info -> new TopicPartition(info.topic(), info.partition()))
                  .toList();
      Map<TopicPartition, Long> begins =
          new HashMap<>(consumer.beginningOffsets(partitions, LIMIT));
      Map<TopicPartition, Long> ends = consumer.endOffsets(partitions, LIMIT);
      if (since != null) {
        Map<TopicPartition, Long> times = new HashMap<>();
        partitions.forEach(partition -> times.put(partition, timestamp(since)));
        Map<TopicPartition, OffsetAndTimestamp> found = consumer.offsetsForTimes(times, LIMIT);
        for (TopicPartition partition : partitions) {
          @Nullable OffsetAndTimestamp first = found.get(partition);
          begins.put(partition, first == null ? end(ends, partition) : first.offset());
        }
      }
      List<Range> ranges = new ArrayList<>();
      for (TopicPartition partition : partitions) {
        long from = Objects.requireNonNull(begins.get(partition));
        if (from < end(ends, partition)) {
          ranges.add(
              new Range(partition.topic(), partition.partition(), from, end(ends, partition)));
        }
      }
      return ranges;
    }
  }

  /** Kafka's timestamps begin with 1970, and it is asked for no other. */
  private static long timestamp(Instant since) {
    if (since.isBefore(Instant.EPOCH)) {
      return 0;
    }
    return since.isAfter(LAST) ? LAST.toEpochMilli() : since.toEpochMilli();
  }

  private static long end(Map<TopicPartition, Long> ends, TopicPartition partition) {
    return Objects.requireNonNull(ends.get(partition));
  }

  @Override
  public Reading read(List<Range> ranges, Position from) {
    return new FromKafka(clients.reader(), ranges, from);
  }

  private static final class FromKafka implements Reading {
    private final Consumer<byte[], byte[]> consumer;
    private final List<Range> ranges;
    private Iterator<ConsumerRecord<byte[], byte[]>> fetched =
        List.<ConsumerRecord<byte[], byte[]>>of().iterator();
    private int range;
    private long offset;
    private boolean isOn;

    private FromKafka(Consumer<byte[], byte[]> consumer, List<Range> ranges, Position from) {
      this.consumer = consumer;
      this.ranges = ranges;
      this.range = from.range();
      this.offset = from.offset();
      skipEmpty();
    }

    @Override
    public ReadResult next() {
      if (isAtEnd()) {
        return new ReadResult.Nothing();
      }
      Position before = position();
      Range in = ranges.get(range);
      TopicPartition partition = new TopicPartition(in.topic(), in.partition());
      if (!isOn) {
        consumer.assign(List.of(partition));
        consumer.seek(partition, offset);
        isOn = true;
      }
      if (!fetched.hasNext()) {
        fetched = consumer.poll(POLL).iterator();
      }
      if (!fetched.hasNext()) {
        // What was there may have been deleted, or be no record but a mark of a transaction.
        goTo(consumer.position(partition, LIMIT));
        if (position().equals(before)) {
          passOverWhatIsGone(in, partition);
        }
        return position().equals(before) ? new ReadResult.Nothing() : new ReadResult.PassedOver();
      }
      ConsumerRecord<byte[], byte[]> here = fetched.next();
      if (here.offset() < offset) {
        // The consumer begins anew where the topic ends before what it is asked for.
        LOG.warn(
            "{} was made anew or cut off: what a redrive was to read up to {} is gone",
            partition,
            in.to());
        goTo(in.to());
        return new ReadResult.PassedOver();
      }
      if (here.offset() >= in.to()) {
        goTo(in.to());
        return new ReadResult.PassedOver();
      }
      goTo(here.offset() + 1);
      return DeadLetter.read(here)
          .<ReadResult>map(letter -> new ReadResult.Letter(before, letter))
          .orElseGet(ReadResult.PassedOver::new);
    }

    /** Whatever comes after the topic's present end is not what was chosen. */
    private void passOverWhatIsGone(Range in, TopicPartition partition) {
      long end = end(consumer.endOffsets(List.of(partition), LIMIT), partition);
      if (end < in.to() && end <= offset) {
        LOG.warn(
            "{} ends at {} by now: what a redrive was to read up to {} is gone",
            partition,
            end,
            in.to());
        goTo(in.to());
      }
    }

    private void goTo(long next) {
      offset = Math.max(offset, next);
      skipEmpty();
    }

    private void skipEmpty() {
      while (range < ranges.size() && offset >= ranges.get(range).to()) {
        range++;
        offset = range < ranges.size() ? ranges.get(range).from() : 0;
        isOn = false;
        fetched = List.<ConsumerRecord<byte[], byte[]>>of().iterator();
      }
    }

    @Override
    public Position position() {
      return new Position(range, offset);
    }

    @Override
    public boolean isAtEnd() {
      return range >= ranges.size();
    }

    @Override
    public void close() {
      consumer.close(CloseOptions.timeout(CLOSED_WITHIN));
    }
  }
}
