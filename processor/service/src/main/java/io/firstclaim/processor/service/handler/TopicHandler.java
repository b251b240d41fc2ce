package io.firstclaim.processor.service.handler;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstclaim.lock.LeaseLostException;
import io.firstclaim.lock.OneLine;
import io.firstclaim.processor.handler.HandlerResult;
import io.firstclaim.processor.handler.RecordContext;
import io.firstclaim.processor.handler.RecordHandler;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapPropagator;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.ApplicationRecoverableException;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.InvalidTimestampException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Publishes each record's value, key, headers and time, all untouched, to a topic and waits until
 * the brokers have acknowledged it; the key, not the old partition, chooses the partition. A time
 * that the topic does not take ({@code message.timestamp.before.max.ms}, {@code .after.max.ms}) is
 * left out: the record then has that of its publication. If the record is traced, what is published
 * continues its trace: the propagator's headers, such as {@code traceparent}, are replaced.
 *
 * <p>What can never succeed (too large, not a legal record or topic) is {@link
 * HandlerResult.Failed}. If the brokers are not there, give no acknowledgement in time, or no
 * permission, that is {@link HandlerResult.Unavailable}; everything else is tried again, with a new
 * producer where the old one has become unusable. A record whose acknowledgement came too late, or
 * was lost with its producer, is then published twice: as with every sink, its readers can tell by
 * the ID.
 *
 * <p>The last look at the lease is right before the record is given to the producer, once that
 * knows the topic. From there it goes out within {@code linger.ms} or so, and Kafka has no place to
 * look once more: what is in the producer when the process is paused leaves when it goes on.
 * Thread-safe.
 */
public final class TopicHandler implements RecordHandler {
  private static final Logger LOG = LoggerFactory.getLogger(TopicHandler.class);

  private final TopicProducer producers;
  private final String topic;
  private final Duration timeout;
  private final TextMapPropagator propagator;

  /** A handler that publishes to this topic, as the other one does, and traces nothing. */
  public TopicHandler(TopicProducer producers, String topic, Duration timeout) {
    this(producers, topic, timeout, TextMapPropagator.noop());
  }

  /**
   * A handler that publishes to this topic.
   *
   * @param producers stays the caller's to close
   * @param timeout for the acknowledgement; {@link TopicProducer#ACKNOWLEDGED_WITHIN} or longer
   * @param propagator writes the current trace into the headers
   * @throws IllegalArgumentException if the topic is blank or the timeout not positive
   */
  public TopicHandler(
      TopicProducer producers, String topic, Duration timeout, TextMapPropagator propagator) {
    if (topic.isBlank()) {
      throw new IllegalArgumentException(
          "'%s' is not a topic to publish to: name one".formatted(topic));
    }
    if (!timeout.isPositive()) {
      throw new IllegalArgumentException(
          "the timeout for an acknowledgement is positive, not " + timeout);
    }
    this.producers = producers;
    this.topic = topic;
    this.timeout = timeout;
    this.propagator = propagator;
  }

  @Override
  public HandlerResult handle(RecordContext context) throws InterruptedException {
    long time = context.record().timestamp();
    return publish(context, time < 0 ? null : time);
  }

  private HandlerResult publish(RecordContext context, @Nullable Long time)
      throws InterruptedException {
    ConsumerRecord<byte[], byte[]> record = context.record();
    ProducerRecord<byte[], byte[]> copy =
        new ProducerRecord<>(topic, null, time, record.key(), record.value(), record.headers());
    propagator.inject(Context.current(), copy.headers(), TopicHandler::setHeader);
    context.ensureHeld();
    Producer<byte[], byte[]> producer = producers.get();
    try {
      // A send would wait for this itself, after the last look at the lease.
      List<PartitionInfo> _ = producer.partitionsFor(topic);
      context.ensureHeld();
      Future<RecordMetadata> acknowledgement = producer.send(copy);
      acknowledgement.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
      return HandlerResult.done();
    } catch (InterruptException e) {
      Thread.interrupted(); // Kafka sets it again; the exception below carries it
      throw (InterruptedException) new InterruptedException("while publishing").initCause(e);
    } catch (TimeoutException e) {
      return HandlerResult.unavailable(
          "no acknowledgement from topic %s within %s".formatted(topic, timeout), Duration.ZERO);
    } catch (LeaseLostException e) {
      throw e;
    } catch (ExecutionException e) {
      if (time != null && e.getCause() instanceof InvalidTimestampException) {
        return publish(context, null);
      }
      return failure(e.getCause() == null ? e : e.getCause(), producer);
    } catch (RuntimeException e) {
      return failure(e, producer);
    }
  }

  private static void setHeader(@Nullable Headers of, String name, String value) {
    Headers headers = Objects.requireNonNull(of);
    headers.remove(name).add(name, value.getBytes(UTF_8));
  }

  private HandlerResult failure(Throwable fault, Producer<byte[], byte[]> producer) {
    String cause = "topic %s: %s".formatted(topic, OneLine.of(fault.toString()));
    return switch (fault) {
      case RetriableException _, AuthenticationException _, AuthorizationException _ ->
          HandlerResult.unavailable(cause, Duration.ZERO);
      case RecordTooLargeException _,
          InvalidRecordException _,
          InvalidTimestampException _,
          InvalidTopicException _,
          SerializationException _ ->
          new HandlerResult.Failed(cause);
      default -> {
        if (isOfTheProducer(fault)) {
          LOG.info("Goes on with a new producer: {}", cause);
          producers.replace(producer);
        }
        yield HandlerResult.retry(cause);
      }
    };
  }

  /**
   * Whether this says that the producer is not usable any more: the brokers do not know what it
   * sends in which order, it was fenced, or it refuses to send in words of its own.
   */
  private static boolean isOfTheProducer(Throwable fault) {
    return fault instanceof OutOfOrderSequenceException
        || fault instanceof ApplicationRecoverableException
        || !(fault instanceof ApiException);
  }
}
