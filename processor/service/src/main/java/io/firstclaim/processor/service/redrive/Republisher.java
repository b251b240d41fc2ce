package io.firstclaim.processor.service.redrive;

import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.RedriveId;
import io.firstclaim.processor.engine.api.DeadLetter;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.RecordBatchTooLargeException;
import org.apache.kafka.common.errors.RecordTooLargeException;

/** Publishes the records of dead letters again, where they came from. Thread-safe. */
final class Republisher implements LetterSteps.Publisher {
  private static final Duration PUBLISHED_WITHIN = Duration.ofSeconds(35);

  private final Producer<byte[], byte[]> producer;
  private final String application;

  /** Publishes with this producer, which it closes. */
  Republisher(Producer<byte[], byte[]> producer, String application) {
    this.producer = producer;
    this.application = application;
  }

  @Override
  public void publish(DeadLetter letter, RedriveId by) throws InterruptedException {
    try {
      int partitions = producer.partitionsFor(letter.topic()).size();
      if (letter.partition() >= partitions) { // a send would wait for the partition in vain
        throw new UnpublishableException(
            "topic %s has %d partitions by now, and no partition %d"
                .formatted(letter.topic(), partitions, letter.partition()));
      }
      var _ =
          producer
              .send(letter.again(application, by))
              .get(PUBLISHED_WITHIN.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      switch (e.getCause()) {
        case RecordTooLargeException _, RecordBatchTooLargeException _ ->
            throw new UnpublishableException("too large for topic " + letter.topic());
        case InvalidRecordException wrong -> // such as one without a key, if it is compacted by now
            throw new UnpublishableException(
                "topic %s: %s".formatted(letter.topic(), OneLine.of(wrong)));
        case null, default -> {}
      }
      throw new KafkaException(
          "topic %s: %s".formatted(letter.topic(), e.getCause()), e.getCause());
    } catch (TimeoutException e) {
      throw new KafkaException("topic %s does not answer".formatted(letter.topic()), e);
    }
  }

  @Override
  public void close() {
    producer.close();
  }
}
