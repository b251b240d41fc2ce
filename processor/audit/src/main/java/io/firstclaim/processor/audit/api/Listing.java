package io.firstclaim.processor.audit.api;

import io.firstclaim.lock.RecordId;
import java.util.List;
import java.util.Optional;

/**
 * A page of a list that is sorted by record ID.
 *
 * @param items of this instance's partitions
 * @param next where this instance's next page begins: ask for what comes after it; empty if this is
 *     the last. There may be a next page although this one is short, or empty
 * @param lookedAt how many records were looked at for it, in this instance's partitions
 * @param coverage which partitions these are, and who has the rest of the list
 */
public record Listing<T>(List<T> items, Optional<RecordId> next, int lookedAt, Coverage coverage) {
  /** Keeps a copy. */
  public Listing {
    items = List.copyOf(items);
  }
}
