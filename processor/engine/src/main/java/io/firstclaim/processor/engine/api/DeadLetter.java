package io.firstclaim.processor.engine.api;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.RedriveId;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/**
 * A record that was given up, as its dead-letter topic has it. To redrive it: free its claim
 * ({@link io.firstclaim.lock.ClaimOperations#redrive}, with this {@link #payload()}), then publish
 * it {@linkplain #again again}. Both may be repeated. Immutable.
 *
 * @param letter key, value and headers of the record, and more headers
 * @param id of the record
 * @param application whose dead letter it is; empty in those of version 0.1.0
 * @param topic the input topic
 * @param partition that the record came from
 * @param offset there
 * @param timestamp the record's own, in milliseconds since 1970, or -1 if it had none; empty in
 *     letters of earlier versions
 * @param attempts that were made
 * @param zone that gave it up, in one printable line
 * @param cause why, in one printable line
 * @param redrive that it had been through when it was given up, if any
 * @param whole whether it has the record's key, value and headers; if not, they were too large, and
 *     only the record itself could be delivered again
 */
public record DeadLetter(
    ConsumerRecord<byte[], byte[]> letter,
    RecordId id,
    Optional<String> application,
    String topic,
    int partition,
    long offset,
    OptionalLong timestamp,
    int attempts,
    String zone,
    String cause,
    Optional<RedriveId> redrive,
    boolean whole) {
  private static final Pattern TOPIC = Pattern.compile("[a-zA-Z0-9._-]{1,249}");
  private static final int LONGEST = 1001;

  /** The dead letter in this record; empty if it is none, as anybody may write to a topic. */
  public static Optional<DeadLetter> read(ConsumerRecord<byte[], byte[]> letter) {
    Headers headers = LetterHeaders.ofLetter(letter.headers());
    try {
      String topic = text(headers, LetterHeaders.TOPIC);
      if (!TOPIC.matcher(topic).matches()) {
        return Optional.empty();
      }
      @Nullable String redrive = LetterHeaders.text(headers, LetterHeaders.REDRIVE);
      return Optional.of(
          new DeadLetter(
              letter,
              RecordId.parse(text(headers, LetterHeaders.ID)),
              Optional.ofNullable(LetterHeaders.text(headers, LetterHeaders.APPLICATION))
                  .map(name -> OneLine.of(name, LONGEST)),
              topic,
              Math.toIntExact(number(headers, LetterHeaders.PARTITION)),
              number(headers, LetterHeaders.OFFSET),
              LetterHeaders.timestamp(headers),
              Math.toIntExact(number(headers, LetterHeaders.ATTEMPTS)),
              OneLine.of(text(headers, LetterHeaders.ZONE), LONGEST),
              OneLine.of(text(headers, LetterHeaders.CAUSE), LONGEST),
              Optional.ofNullable(redrive).map(RedriveId::new),
              headers.lastHeader(LetterHeaders.OMITTED) == null));
    } catch (IllegalArgumentException | ArithmeticException e) {
      return Optional.empty();
    }
  }

  private static String text(Headers headers, String name) {
    return Objects.requireNonNullElse(LetterHeaders.text(headers, name), "");
  }

  private static long number(Headers headers, String name) {
    long number = Long.parseLong(text(headers, name));
    if (number < 0) {
      throw new IllegalArgumentException(name + " is negative");
    }
    return number;
  }

  /**
   * Whether it is a dead letter of this application, from one of its input topics. Others are not
   * to be redriven here. One that does not say whose it is counts if its topic is right.
   */
  public boolean isOf(EngineSettings settings) {
    return settings.input().topics().contains(topic)
        && application.map(settings.application()::equals).orElse(true);
  }

  /** The fingerprint of the record's value, which must match that of the claim that is freed. */
  public Fingerprint payload() {
    return letter.value() == null ? Fingerprint.none() : Fingerprint.of(letter.value());
  }

  /**
   * The record as it is to be published again: to the topic and partition that it came from, with
   * key, value and headers untouched, and those headers beside them by which the engine knows it
   * for redriven, and its own time.
   *
   * @param application that redrives it: no other heeds the headers
   * @throws IllegalStateException if the letter is not {@link #whole}
   */
  public ProducerRecord<byte[], byte[]> again(String application, RedriveId by) {
    if (!whole) {
      throw new IllegalStateException(
          "the dead letter of %s has not the record itself: it is at %s-%d offset %d"
              .formatted(id, topic, partition, offset));
    }
    var again =
        new ProducerRecord<>(
            topic,
            partition,
            letter.key(),
            letter.value(),
            LetterHeaders.beforeLetter(letter.headers()));
    again
        .headers()
        .add(LetterHeaders.APPLICATION, application.getBytes(UTF_8))
        .add(LetterHeaders.REDRIVE, by.text().getBytes(UTF_8))
        .add(LetterHeaders.ID, id.text().getBytes(UTF_8));
    timestamp.ifPresent(
        time -> again.headers().add(LetterHeaders.TIMESTAMP, Long.toString(time).getBytes(UTF_8)));
    return again;
  }
}
