package io.firstclaim.processor.audit.api;

import java.util.List;

/**
 * What was done in some minutes.
 *
 * @param rows of this instance's partitions, by time and zone
 * @param coverage which partitions these are, and who has the rest; their rows are {@linkplain
 *     Minute#plus added}
 */
public record Minutes(List<Minute> rows, Coverage coverage) {
  /** Keeps a copy. */
  public Minutes {
    rows = List.copyOf(rows);
  }
}
