package io.firstclaim.processor.audit.api;

import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Which partitions of the outcomes topic an answer is about, and who has the rest.
 *
 * @param own those of the instance that answers
 * @param others the instances that have the rest
 * @param gap what nobody is known to have, and why that may be, for people; empty if the partitions
 *     add up
 */
public record Coverage(SortedSet<Integer> own, List<Part> others, Optional<String> gap) {
  /**
   * What another instance has.
   *
   * @param address where it is asked
   * @param partitions of the outcomes topic
   */
  public record Part(Address address, SortedSet<Integer> partitions) {
    /** Keeps a copy. */
    public Part {
      partitions = new TreeSet<>(partitions);
    }
  }

  /** Keeps copies. */
  public Coverage {
    own = new TreeSet<>(own);
    others = List.copyOf(others);
  }
}
