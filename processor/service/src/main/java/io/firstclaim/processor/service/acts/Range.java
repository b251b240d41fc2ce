package io.firstclaim.processor.service.acts;

/**
 * A part of a partition, as it stood when a redrive began.
 *
 * @param topic of dead letters
 * @param from the first offset
 * @param to the offset after the last
 */
public record Range(String topic, int partition, long from, long to) {
  /**
   * Checks that there can be such a part.
   *
   * @throws IllegalArgumentException if not
   */
  public Range {
    if (topic.isEmpty() || partition < 0 || from < 0 || from > to) {
      throw new IllegalArgumentException(
          "no partition %d has offsets from %d to %d".formatted(partition, from, to));
    }
  }
}
