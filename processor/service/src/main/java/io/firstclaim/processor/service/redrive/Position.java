package io.firstclaim.processor.service.redrive;

import io.firstclaim.processor.service.acts.Range;
import java.util.List;

/**
 * A position among the ranges of a redrive: all before it has been read, and nothing after it.
 *
 * @param range which of the ranges it is in; their number, if all of them have been read
 * @param offset the next offset in that range
 */
public record Position(int range, long offset) {
  /** Before the first offset of these ranges. */
  static Position start(List<Range> ranges) {
    return new Position(0, ranges.isEmpty() ? 0 : ranges.getFirst().from());
  }

  /** How many offsets of these ranges are before it. */
  long offsetsBefore(List<Range> ranges) {
    long inFull = ranges.stream().limit(range).mapToLong(Position::size).sum();
    return range < ranges.size() ? inFull + Math.max(0, offset - ranges.get(range).from()) : inFull;
  }

  /** How many offsets these ranges have. */
  static long size(List<Range> ranges) {
    return ranges.stream().mapToLong(Position::size).sum();
  }

  private static long size(Range range) {
    return range.to() - range.from();
  }
}
