package io.firstclaim.processor.engine.api;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.jspecify.annotations.Nullable;

/**
 * The headers that a dead letter has beside the record's own, and a redriven record too. They come
 * after the record's own, which may have the same names if the record was another application's
 * dead letter: the last of a name is the one that counts, and of those that not every letter has,
 * one that comes after the record's own.
 */
public final class LetterHeaders {
  /** The record's ID, as {@link io.firstclaim.lock.RecordId#text()}. */
  public static final String ID = "firstclaim-id";

  /**
   * The application whose dead letter or redriven record it is; letters of version 0.1.0 lack it.
   */
  public static final String APPLICATION = "firstclaim-application";

  /** The redrive that a record comes with, or that its dead letter has been through. */
  public static final String REDRIVE = "firstclaim-redrive";

  /** How many attempts were made. */
  public static final String ATTEMPTS = "firstclaim-attempts";

  /** The zone that gave it up. */
  public static final String ZONE = "firstclaim-zone";

  /** Why it was given up. */
  public static final String CAUSE = "firstclaim-cause";

  /** The input topic. */
  public static final String TOPIC = "firstclaim-topic";

  /** The partition it came from. */
  public static final String PARTITION = "firstclaim-partition";

  /** Its offset in that partition. */
  public static final String OFFSET = "firstclaim-offset";

  /**
   * The record's own time, in milliseconds since 1970, or -1 if it had none: letters and redriven
   * records have that of their writing, or their topics' retention would delete them at once.
   * Letters of earlier versions lack it.
   */
  public static final String TIMESTAMP = "firstclaim-timestamp";

  /** What of the record the letter had no room for. */
  public static final String OMITTED = "firstclaim-omitted";

  private static final Kind REDRIVEN =
      new Kind(Set.of(ID, APPLICATION, REDRIVE), Set.of(TIMESTAMP));
  private static final Kind LETTER =
      new Kind(
          Set.of(ID, APPLICATION, ATTEMPTS, ZONE, CAUSE, TOPIC, PARTITION, OFFSET),
          Set.of(REDRIVE, TIMESTAMP, OMITTED));

  /** What headers are added to a record: always, and at times. */
  private record Kind(Set<String> always, Set<String> atTimes) {
    /** Where those begin in the headers: before the last of each that is always there. */
    int begin(Header[] all) {
      Set<String> left = new HashSet<>(always);
      int begin = all.length;
      for (int i = all.length - 1; i >= 0 && !left.isEmpty(); i--) {
        if (left.remove(all[i].key())) {
          begin = i;
        }
      }
      return begin;
    }

    Headers added(Headers headers) {
      Header[] all = headers.toArray();
      return new RecordHeaders(Arrays.copyOfRange(all, begin(all), all.length));
    }

    List<Header> before(Headers headers) {
      Header[] all = headers.toArray();
      int begin = begin(all);
      Set<String> left = new HashSet<>(always);
      left.addAll(atTimes);
      List<Header> kept = new ArrayList<>();
      for (int i = all.length - 1; i >= 0; i--) {
        if (i < begin || !left.remove(all[i].key())) {
          kept.add(all[i]);
        }
      }
      Collections.reverse(kept);
      return kept;
    }
  }

  private LetterHeaders() {}

  /** The last header of this name as text; null if there is none, or if it has no value. */
  public static @Nullable String text(Headers headers, String name) {
    @Nullable Header header = headers.lastHeader(name);
    return header == null || header.value() == null ? null : new String(header.value(), UTF_8);
  }

  /** The time that a letter or a redriven record says its record has; empty if it says none. */
  public static OptionalLong timestamp(Headers headers) {
    @Nullable String text = text(headers, TIMESTAMP);
    try {
      return text == null
          ? OptionalLong.empty()
          : OptionalLong.of(Math.max(ConsumerRecord.NO_TIMESTAMP, Long.parseLong(text)));
    } catch (NumberFormatException e) {
      return OptionalLong.empty();
    }
  }

  /**
   * A record with its own time: one that this application redrove came with the time at which it
   * was published again. All others are returned as they are.
   */
  public static ConsumerRecord<byte[], byte[]> withOwnTime(
      ConsumerRecord<byte[], byte[]> record, String application) {
    Headers headers = record.headers();
    OptionalLong own =
        text(headers, REDRIVE) != null && application.equals(text(headers, APPLICATION))
            ? timestamp(REDRIVEN.added(headers))
            : OptionalLong.empty();
    return own.isEmpty()
        ? record
        : new ConsumerRecord<>(
            record.topic(),
            record.partition(),
            record.offset(),
            own.getAsLong(),
            TimestampType.CREATE_TIME,
            record.serializedKeySize(),
            record.serializedValueSize(),
            record.key(),
            record.value(),
            headers,
            record.leaderEpoch());
  }

  /** What a dead letter has beside what the record had. */
  public static Headers ofLetter(Headers headers) {
    return LETTER.added(headers);
  }

  /** What a record had before it became this dead letter. */
  public static List<Header> beforeLetter(Headers headers) {
    return LETTER.before(headers);
  }

  /** What a record had before it was redriven. */
  public static List<Header> beforeRedrive(Headers headers) {
    return REDRIVEN.before(headers);
  }
}
