package io.firstclaim.processor.service.admin;

import java.util.function.Supplier;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.TimeoutException;

/** Asks Kafka on behalf of a request. */
final class Kafka {
  private Kafka() {}

  /**
   * The answer.
   *
   * @throws Problem if there is none now
   */
  static <T> T ask(Supplier<T> question) {
    try {
      return question.get();
    } catch (TimeoutException e) {
      throw Problem.notNow("Kafka does not answer: " + e.getMessage());
    } catch (KafkaException e) {
      throw Problem.notNow("Kafka: " + e.getMessage());
    }
  }
}
