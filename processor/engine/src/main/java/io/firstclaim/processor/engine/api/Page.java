package io.firstclaim.processor.engine.api;

import java.util.List;
import java.util.Optional;

/**
 * A part of a list, sorted by topic, partition and offset.
 *
 * @param items of the list
 * @param next to be given as {@code after} for the items that follow; empty if none do
 */
public record Page<T>(List<T> items, Optional<String> next) {
  /** Keeps a copy. */
  public Page {
    items = List.copyOf(items);
  }
}
