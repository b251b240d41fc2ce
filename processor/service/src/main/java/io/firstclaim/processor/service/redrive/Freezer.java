package io.firstclaim.processor.service.redrive;

import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.service.acts.Range;
import io.firstclaim.processor.service.acts.RedriveSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.TreeSet;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;

/**
 * Notes where the dead-letter topics begin and end now, so that a redrive is for what is in them
 * and not for what comes while it runs, which may be its own records that died again. Thread-safe.
 */
final class Freezer {
  /** A dead letter is written before its claim says so, by another clock. */
  private static final Duration WRITTEN_BEFORE = Duration.ofMinutes(15);

  private final EngineSettings settings;
  private final Letters letters;

  Freezer(EngineSettings settings, Letters letters) {
    this.settings = settings;
    this.letters = letters;
  }

  /**
   * This filter, with the ranges of its topics.
   *
   * @throws KafkaException if they cannot be asked
   */
  RedriveSpec freeze(RedriveSpec filter) {
    @Nullable String topic = filter.selection().topic();
    @Nullable String begin = filter.selection().since();
    @Nullable Instant since = begin == null ? null : Instant.parse(begin);
    return filter.withRanges(
        letters.ranges(
            letterTopics(topic == null ? settings.input().topics() : List.of(topic)), since));
  }

  /**
   * The filter of records that are named, the first of which died then: its ranges are first those
   * where their letters should be, then all others.
   *
   * @throws KafkaException if they cannot be asked
   */
  RedriveSpec freeze(RedriveSpec filter, Instant died) {
    Collection<String> topics = letterTopics(settings.input().topics());
    List<Range> likely = letters.ranges(topics, died.minus(WRITTEN_BEFORE));
    List<Range> ranges = new ArrayList<>(likely);
    for (Range all : letters.ranges(topics, null)) {
      long to =
          likely.stream()
              .filter(each -> each.topic().equals(all.topic()))
              .filter(each -> each.partition() == all.partition())
              .mapToLong(Range::from)
              .findFirst()
              .orElse(all.to());
      if (all.from() < to) {
        ranges.add(new Range(all.topic(), all.partition(), all.from(), to));
      }
    }
    return filter.withRanges(ranges);
  }

  /** The dead-letter topics of these input topics. */
  private Collection<String> letterTopics(Collection<String> inputs) {
    Collection<String> topics = new TreeSet<>();
    inputs.forEach(input -> topics.add(settings.deadLetterTopicOf(input)));
    return topics;
  }
}
