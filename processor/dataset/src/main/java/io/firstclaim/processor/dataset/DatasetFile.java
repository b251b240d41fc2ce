package io.firstclaim.processor.dataset;

import io.firstclaim.lock.RecordId;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A file of the dataset: the value of one record. Its path says which record: the topic, the day
 * (UTC) of its timestamp and a hash of its ID, so that every delivery of a record has the same path
 * and nothing in a record can choose another's.
 *
 * @param partition such as {@code datasets/orders/year=2026/month=07/day=04}
 * @param name in the partition: 64 hex digits
 * @param bytes its size
 */
public record DatasetFile(String partition, String name, long bytes) {
  /** The folder of all files. */
  static final String FOLDER = "datasets/";

  /** Kafka's own rule for topic names, which are neither a dot nor two. */
  private static final String TOPIC_NAME = "(?!\\.{1,2}(?:/|$))[a-zA-Z0-9._-]{1,249}";

  private static final Pattern TOPIC = Pattern.compile(TOPIC_NAME);

  private static final Pattern PARTITION =
      Pattern.compile(FOLDER + TOPIC_NAME + "/year=\\d{4}/month=\\d\\d/day=\\d\\d");

  private static final Pattern PATH = Pattern.compile("(" + PARTITION + ")/([0-9a-f]{64})");

  /** Folders within each other under {@link #FOLDER}: topic, year, month and day. */
  static final int LEVELS = 4;

  private static final int HASH_DIGITS = 64;
  private static final int LAST_YEAR = 9999;

  /**
   * The file of a record.
   *
   * @param timestamp the record's, in milliseconds since 1970
   * @throws IllegalArgumentException if the topic is not a topic's name, or the timestamp is before
   *     1970 or after 9999, as it is for a record without one
   */
  public static DatasetFile of(String topic, long timestamp, RecordId id, long bytes) {
    if (!TOPIC.matcher(topic).matches()) {
      throw new IllegalArgumentException(
          "a topic has 1 to 249 of a-z A-Z 0-9 . _ -; that of this record, of %d, cannot be a folder"
              .formatted(topic.length()));
    }
    // An Instant can lie past the last year that a date can have.
    long lastDay = LocalDate.of(LAST_YEAR, 12, 31).toEpochDay();
    long day = Math.floorDiv(timestamp, 86_400_000L);
    if (day < 0 || day > lastDay) {
      throw new IllegalArgumentException(
          "the day of a record is that of its timestamp, and %d ms is not from 1970 to 9999"
              .formatted(timestamp));
    }
    LocalDate date = Instant.ofEpochMilli(timestamp).atZone(ZoneOffset.UTC).toLocalDate();
    String partition =
        "%s%s/year=%04d/month=%02d/day=%02d"
            .formatted(FOLDER, topic, date.getYear(), date.getMonthValue(), date.getDayOfMonth());
    return new DatasetFile(partition, id.key("dataset"), bytes);
  }

  /** The file of this path; none if something else is there. */
  static Optional<DatasetFile> parse(String path, long bytes) {
    Matcher matcher = PATH.matcher(path);
    return matcher.matches()
        ? Optional.of(new DatasetFile(matcher.group(1), matcher.group(2), bytes))
        : Optional.empty();
  }

  /** Whether a partition can have this path. */
  static boolean isPartition(String path) {
    return PARTITION.matcher(path).matches();
  }

  /** Whether this is how SHA-256 is written here, in a file's name too: 64 hex digits. */
  static boolean isHash(String text) {
    boolean isHex = text.length() == HASH_DIGITS;
    for (int i = 0; isHex && i < HASH_DIGITS; i++) {
      char digit = text.charAt(i);
      isHex = (digit >= '0' && digit <= '9') || (digit >= 'a' && digit <= 'f');
    }
    return isHex;
  }

  /** Where it is, from the dataset's prefix on. */
  public String path() {
    return partition + "/" + name;
  }
}
