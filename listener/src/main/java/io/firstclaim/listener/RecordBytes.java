package io.firstclaim.listener;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.utils.Bytes;
import org.jspecify.annotations.Nullable;

/** The bytes that a deserialized key or value was, where that can be known. */
final class RecordBytes {
  private RecordBytes() {}

  /**
   * The bytes of the key; null if it has none.
   *
   * @throws UnfitTypeException if it is neither text, bytes nor a number
   */
  static byte @Nullable [] ofKey(ConsumerRecord<?, ?> record) {
    Object key = record.key();
    return key == null ? null : required(key, "key");
  }

  /**
   * The bytes of the value; null if it has none.
   *
   * @throws UnfitTypeException if it is neither text, bytes nor a number
   */
  static byte @Nullable [] ofValue(ConsumerRecord<?, ?> record) {
    Object value = record.value();
    return value == null ? null : required(value, "value");
  }

  private static byte[] required(Object given, String what) {
    byte[] bytes = of(given);
    if (bytes == null) {
      throw new UnfitTypeException(what, given);
    }
    return bytes;
  }

  /** The bytes of an object that Kafka's own deserializers make; null for any other. */
  static byte @Nullable [] of(Object given) {
    return switch (given) {
      case byte[] bytes -> bytes;
      case String text -> text.getBytes(UTF_8);
      case Bytes bytes -> bytes.get();
      case ByteBuffer buffer -> {
        byte[] copy = new byte[buffer.remaining()];
        buffer.duplicate().get(copy);
        yield copy;
      }
      case Long number -> ByteBuffer.allocate(Long.BYTES).putLong(number).array();
      case Integer number -> ByteBuffer.allocate(Integer.BYTES).putInt(number).array();
      case Short number -> ByteBuffer.allocate(Short.BYTES).putShort(number).array();
      case java.util.UUID uuid -> uuid.toString().getBytes(UTF_8);
      default -> null;
    };
  }
}
