package io.firstclaim.processor.engine.intake;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.processor.engine.intake.Watermark.Mark;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.junit.jupiter.api.Test;

class AssignedPartitionTest {
  private final AssignedPartition partition =
      new AssignedPartition(new TopicPartition("in", 3), "");

  private static ConsumerRecord<byte[], byte[]> record(long offset, Optional<Integer> epoch) {
    return new ConsumerRecord<>(
        "in",
        3,
        offset,
        0,
        TimestampType.CREATE_TIME,
        0,
        0,
        new byte[0],
        new byte[0],
        new RecordHeaders(),
        epoch);
  }

  @Test
  void nothingIsCommitted_beforeSomethingIsSettled() {
    assertThat(partition.toCommit()).isEmpty();
    Mark _ = partition.delivered(record(0, Optional.empty()));

    assertThat(partition.toCommit()).isEmpty();
    assertThat(partition.lag()).isOne();
    assertThat(partition.tracked()).isOne();
  }

  @Test
  void watermark_isCommitted_once_withTheEpochOfItsRecords() {
    partition.delivered(record(41, Optional.of(9))).settle();

    assertThat(partition.toCommit()).contains(new OffsetAndMetadata(42, Optional.of(9), ""));
    partition.committed(42);
    assertThat(partition.toCommit()).isEmpty();
  }

  @Test
  void commitThatFailed_isDueAgain() {
    partition.delivered(record(0, Optional.empty())).settle();
    assertThat(partition.toCommit()).isPresent();

    assertThat(partition.toCommit()).contains(new OffsetAndMetadata(1, Optional.empty(), ""));
  }

  @Test
  void answerToAnOlderCommit_takesNothingBack() {
    partition.delivered(record(0, Optional.empty())).settle();
    partition.delivered(record(1, Optional.empty())).settle();
    partition.committed(2);
    partition.committed(1);

    assertThat(partition.toCommit()).isEmpty();
  }

  @Test
  void positionPastTheLastRecord_isCommittedToo() {
    partition.delivered(record(5, Optional.empty())).settle();
    partition.reached(9);

    assertThat(partition.toCommit()).map(OffsetAndMetadata::offset).contains(9L);
  }

  @Test
  void revokedPartition_isNotAssignedAnyMore() {
    assertThat(partition.isAssigned()).isTrue();
    partition.unassign();
    assertThat(partition.isAssigned()).isFalse();
  }
}
