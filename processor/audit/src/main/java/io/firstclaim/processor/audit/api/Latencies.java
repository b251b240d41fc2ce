package io.firstclaim.processor.audit.api;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import org.HdrHistogram.Histogram;

/**
 * How long many things took, in little space: quantiles are right to one part in a hundred, and two
 * such summaries make the summary of both. Nothing counts as longer than a day. Immutable.
 */
public final class Latencies {
  private static final int DIGITS = 2;
  private static final long MOST = Duration.ofDays(1).toMillis();

  /** Where the digits stand in the head of HdrHistogram's encoding, version 2. */
  private static final int DIGITS_AT = 12;

  private static final int HIGHEST_AT = 24;
  private static final Latencies NONE = new Latencies(new Histogram(DIGITS));

  private final Histogram millis;

  private Latencies(Histogram millis) {
    this.millis = millis;
  }

  /** The latencies of nothing. */
  public static Latencies none() {
    return NONE;
  }

  /**
   * The latencies of which {@link #bytes()} made these bytes.
   *
   * @throws IllegalArgumentException if they are no such bytes
   */
  public static Latencies of(byte[] bytes) {
    try {
      ByteBuffer in = ByteBuffer.wrap(bytes);
      // Its own may say more than the most: they grow by doubling.
      if (in.getInt(DIGITS_AT) != DIGITS || in.getLong(HIGHEST_AT) > 4 * MOST) {
        throw new IllegalArgumentException("a histogram of another form, which may be huge");
      }
      return new Latencies(Histogram.decodeFromByteBuffer(in, MOST));
    } catch (RuntimeException e) { // HdrHistogram may throw anything at bytes that are not its own
      throw new IllegalArgumentException("these bytes are no latencies", e);
    }
  }

  /** These with one more; a negative one counts as zero. */
  public Latencies plus(Duration took) {
    Histogram more = copy();
    more.recordValue(Math.clamp(took.toMillis(), 0, MOST));
    return new Latencies(more);
  }

  /** Both together. */
  public Latencies plus(Latencies other) {
    Histogram both = copy();
    both.add(other.millis);
    return new Latencies(both);
  }

  private Histogram copy() {
    Histogram copy = millis.copy();
    copy.setAutoResize(true);
    return copy;
  }

  /** How many latencies there are. */
  public long count() {
    return millis.getTotalCount();
  }

  /**
   * How long this part of them took at most; zero if there are none.
   *
   * @param part from 0 to 1, such as 0.99
   */
  public Duration quantile(double part) {
    return Duration.ofMillis(millis.getValueAtPercentile(part * 100));
  }

  /** The bytes of which {@link #of} makes these latencies again, in this process or another. */
  public byte[] bytes() {
    ByteBuffer buffer = ByteBuffer.allocate(millis.getNeededByteBufferCapacity());
    return Arrays.copyOf(buffer.array(), millis.encodeIntoByteBuffer(buffer));
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Latencies that && millis.equals(that.millis);
  }

  @Override
  public int hashCode() {
    return Long.hashCode(count());
  }

  @Override
  public String toString() {
    return "%d, p50 %s, p99 %s".formatted(count(), quantile(0.5), quantile(0.99));
  }
}
