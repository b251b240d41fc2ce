package io.firstclaim.processor.service.scenario;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/** One message of a dead-letter topic. */
record DeadLetter(ConsumerRecord<byte[], byte[]> message) {

  static DeadLetter of(ConsumerRecord<byte[], byte[]> message) {
    return new DeadLetter(message);
  }

  byte @Nullable [] key() {
    return message.key();
  }

  byte @Nullable [] value() {
    return message.value();
  }

  /** The only header of this name, as text. */
  String header(String name) {
    Header only = null;
    for (Header header : message.headers().headers(name)) {
      if (only != null) {
        throw new IllegalStateException("two headers " + name);
      }
      only = header;
    }
    return new String(Objects.requireNonNull(only, name).value(), UTF_8);
  }

  /** All headers in their order, each {@code name=value}. */
  List<String> headers() {
    return Arrays.stream(message.headers().toArray())
        .map(header -> header.key() + "=" + new String(header.value(), UTF_8))
        .toList();
  }

  String id() {
    return header("firstclaim-id");
  }
}
