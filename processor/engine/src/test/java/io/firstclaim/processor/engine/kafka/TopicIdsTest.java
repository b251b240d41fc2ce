package io.firstclaim.processor.engine.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.apache.kafka.common.KafkaException;
import org.junit.jupiter.api.Test;

class TopicIdsTest {
  @Test
  void clientThatCannotBeMade_isNoAnswer_andEndsNothing() throws InterruptedException {
    try (TopicIds ids =
        new TopicIds(
            () -> {
              throw new KafkaException("No resolvable bootstrap urls");
            },
            List.of("in"))) {
      assertThat(ids.ask()).isFalse();
      assertThat(ids.of("in")).isEmpty();
    }
  }
}
