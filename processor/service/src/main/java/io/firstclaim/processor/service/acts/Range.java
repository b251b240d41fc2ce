package io.firstclaim.processor.service.acts;

/**
 * A part of a partition, as it stood when a redrive began.
 *
 * @param topic of dead letters
 * @param from the first offset
 * @param to the offset after the last
 */
public record Range(String topic, int partition, long from, long to) {}
