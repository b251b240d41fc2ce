package io.firstclaim.processor.audit.api;

import java.util.List;

/**
 * What was done in some minutes.
 *
 * @param rows of this instance's partitions, by time and zone
 * @param others the instances that have the rest; their rows are {@linkplain Minute#plus added}
 */
public record Minutes(List<Minute> rows, List<Address> others) {
  /** Keeps copies. */
  public Minutes {
    rows = List.copyOf(rows);
    others = List.copyOf(others);
  }
}
