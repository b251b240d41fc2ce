package io.firstclaim.processor.engine.intake;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * How far one partition may be committed: every record below the watermark is settled. Records are
 * delivered in offset order and settled in any. Not thread-safe, except for {@link Mark#settle()}.
 */
public final class Watermark {
  /** One delivered record. */
  public static final class Mark {
    private final long offset;
    private volatile boolean settled;

    private Mark(long offset) {
      this.offset = offset;
    }

    /** The record needs nothing more: it is done or dead, in whichever zone. Thread-safe. */
    public void settle() {
      settled = true;
    }
  }

  private final Deque<Mark> open = new ArrayDeque<>();
  private long next;

  /** A partition read from this offset on. */
  public Watermark(long start) {
    next = start;
  }

  /**
   * A record was delivered. Offsets that were skipped on the way to it (compacted, or transaction
   * markers) need no settling.
   *
   * @throws IllegalStateException if offsets go back, which would commit past an open record
   */
  public Mark delivered(long offset) {
    if (!mayDeliver(offset)) {
      throw new IllegalStateException("offset " + offset + " was delivered after " + (next - 1));
    }
    Mark mark = new Mark(offset);
    open.addLast(mark);
    next = offset + 1;
    return mark;
  }

  /** Whether a record of this offset follows those delivered so far. */
  public boolean mayDeliver(long offset) {
    return offset >= next;
  }

  /** Nothing more is to come below this offset. */
  public void reached(long position) {
    next = Math.max(next, position);
  }

  /** The offset to commit: that of the first record that is not settled, or of the next to come. */
  public long value() {
    Mark first;
    while ((first = open.peekFirst()) != null && first.settled) {
      open.removeFirst();
    }
    return first == null ? next : first.offset;
  }

  /** How many offsets lie between the watermark and the next record to come. */
  public long lag() {
    return next - value();
  }

  /** How many delivered records the partition keeps track of. */
  public int tracked() {
    return open.size();
  }
}
