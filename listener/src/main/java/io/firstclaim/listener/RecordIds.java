package io.firstclaim.listener;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.RecordId;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * Finds the ID of each record of one listener, in the listener's name: what another does with the
 * same record is another thing. The first source that yields decides. Immutable.
 */
public final class RecordIds {
  /** What decoders put in place of bytes that are no text, so distinct bytes become one text. */
  private static final String REPLACEMENT = "\uFFFD";

  private final String name;
  private final String list;
  private final List<IdSource> sources;

  /**
   * IDs in the name of this listener.
   *
   * @throws IllegalArgumentException if the name or an entry of the list is wrong
   */
  public RecordIds(String name, String list) {
    if (!name.matches("[a-zA-Z0-9._-]{1,100}")) {
      throw new IllegalArgumentException(
          "the name '%s' is not 1 to 100 of a-z A-Z 0-9 . _ -".formatted(name));
    }
    this.name = name;
    this.list = list;
    this.sources = IdSource.parseList(list);
  }

  /**
   * The ID of this record.
   *
   * @throws UnfitTypeException if it is looked for in what is neither text nor bytes
   */
  Identified find(ConsumerRecord<?, ?> record) {
    for (IdSource source : sources) {
      byte[] id = source.find(record);
      if (id != null && id.length > 0) {
        return usable(id, source, record);
      }
    }
    return missing(record, "the record has no ID; tried: " + list);
  }

  private Identified usable(byte[] id, IdSource source, ConsumerRecord<?, ?> record) {
    byte[] prefix = (name + ":").getBytes(UTF_8);
    if (prefix.length + id.length > RecordId.MAX_BYTES) {
      return missing(
          record,
          "the ID has %d bytes, more than %d"
              .formatted(id.length, RecordId.MAX_BYTES - prefix.length));
    }
    if (wasReplaced(id, source, record)) {
      return missing(
          record, "the ID was read from what is not UTF-8: use ByteArrayDeserializer to keep it");
    }
    return new Identified.Found(
        RecordId.of(ByteBuffer.allocate(prefix.length + id.length).put(prefix).put(id).array()));
  }

  /** Whether the text that it was read from lost bytes as it was decoded, and the ID with it. */
  private static boolean wasReplaced(byte[] id, IdSource source, ConsumerRecord<?, ?> record) {
    return switch (source) {
      case IdSource.OfHeader unused -> false; // headers are bytes that no deserializer has touched
      case IdSource.OfKey unused -> isReplaced(record.key()) && text(id).contains(REPLACEMENT);
      case IdSource.OfJson unused -> isReplaced(record.value()) && text(id).contains(REPLACEMENT);
      case IdSource.OfHash unused -> isReplaced(record.value());
    };
  }

  private static boolean isReplaced(Object given) {
    return given instanceof String text && text.contains(REPLACEMENT);
  }

  private static String text(byte[] id) {
    try {
      return UTF_8.newDecoder().decode(ByteBuffer.wrap(id)).toString();
    } catch (CharacterCodingException e) {
      return ""; // the ID's bytes are no text
    }
  }

  private Identified missing(ConsumerRecord<?, ?> record, String cause) {
    return new Identified.Missing(
        RecordId.of(
            "%s@unidentified:%s:%d:%d"
                .formatted(name, record.topic(), record.partition(), record.offset())),
        cause);
  }

  /** Under what a record is given up whose ID is known with another payload; one for each. */
  RecordId ofMismatch(RecordId id, Fingerprint payload) {
    return RecordId.of("%s@mismatch:%s:%s".formatted(name, id.key("mismatch"), payload));
  }
}
