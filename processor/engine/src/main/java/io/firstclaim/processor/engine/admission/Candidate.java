package io.firstclaim.processor.engine.admission;

import io.firstclaim.lock.Moment;
import io.firstclaim.lock.RecordId;
import java.util.List;

/** A record that asks to be admitted. */
public interface Candidate {
  /** The record's own ID. */
  RecordId id();

  /** When it was polled. */
  Moment arrival();

  /** Whether this instance is still to process it. */
  boolean isWanted();

  /** The partition that it came from. */
  Object partition();

  /** What the partition of the record has of the {@link InFlightLimit}. */
  InFlightLimit.Usage usage();

  /**
   * By what records are kept together in one zone: its ID, what it touches, or what it is ordered
   * by.
   */
  byte[] grouping();

  /** The names of what it touches. */
  List<String> resources();

  /** Wakes it to ask again whether it is admitted. Does not block. */
  void call();

  /** Wakes it, as a resource that others held was heard to be free. Does not block. */
  void free();
}
