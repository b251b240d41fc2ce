package io.firstclaim.processor.engine.intake;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.Moment;
import io.firstclaim.processor.engine.TestTopicIds;
import io.firstclaim.processor.engine.admission.InFlightLimit;
import io.firstclaim.processor.engine.api.EngineListener;
import io.firstclaim.processor.engine.api.EngineSettings.Ordering;
import io.firstclaim.processor.engine.kafka.TopicIds;
import io.firstclaim.processor.engine.testing.TestRecords;
import io.firstclaim.processor.engine.testing.TestTime;
import io.firstclaim.processor.engine.trace.Tracing;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

/** What a partition comes to where the topic's ID changes at a certain moment. */
class PartitionsTest {
  private static final TopicPartition IN = new TopicPartition("in", 0);

  private final TestTopicIds topic = new TestTopicIds("in");
  private final TopicIds ids = topic.asked();
  private final Moment now = TestTime.running().now();
  private final MockConsumer<byte[], byte[]> consumer = new MockConsumer<>("earliest");

  /** Has an answer arrive while a partition is left. */
  private final class AnswerAtTheLeave implements Processing {
    @Override
    public void begin(Delivery delivery) {}

    @Override
    public void leave(AssignedPartition partition) {
      topic.change();
      try {
        boolean _ = ids.ask();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }

    @Override
    public void leaveAll() {}

    @Override
    public void interruptAll() {}
  }

  private static ConsumerRecords<byte[], byte[]> polled(long offset) {
    return new ConsumerRecords<>(
        Map.of(IN, List.of(TestRecords.record("order-" + offset, "{}", 0, offset))), Map.of());
  }

  @Test
  void topicOfWhichIsHeardDuringARewind_isReadFromItsBeginning() {
    EngineListener listener = new EngineListener() {};
    Partitions partitions =
        new Partitions(
            new InputConsumer(() -> consumer, listener),
            new Sequencer(Ordering.UNORDERED, Tracing.OFF),
            new AnswerAtTheLeave(),
            new InFlightLimit(100, 100, 1 << 20),
            ids,
            listener);
    consumer.updateBeginningOffsets(Map.of(IN, 0L));
    consumer.assign(List.of(IN));
    partitions.onPartitionsAssigned(List.of(IN));
    partitions.followTopics();
    List<Delivery> first = partitions.take(polled(7), now, record -> record);
    assertThat(first).hasSize(1);
    consumer.seek(IN, 4);

    List<Delivery> rewound = partitions.take(polled(3), now, record -> record);
    partitions.followTopics();

    assertThat(rewound).hasSize(1);
    assertThat(consumer.position(IN)).isZero();
  }
}
