package io.firstclaim.processor.dataset;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A file as the dataset lists it. What is null was not known to whoever listed it: only the bucket
 * told a repair that the file is there, or a registry of schema version 1 did.
 *
 * @param file where it is, and its size
 * @param sha256 of its content, 64 hex digits
 * @param id of its record, as {@link io.firstclaim.lock.RecordId#text()} has it; null too if that
 *     is long
 * @param timestamp of its record
 */
public record ListedFile(
    DatasetFile file, @Nullable String sha256, @Nullable String id, @Nullable Instant timestamp) {
  /** A file of which nothing else is known. */
  static ListedFile of(DatasetFile file) {
    return new ListedFile(file, null, null, null);
  }

  /** Whichever of two entries of one file says more. */
  ListedFile or(ListedFile other) {
    return other.worth() > worth() ? other : this;
  }

  /** The hash counts most, as it says which content is meant. */
  private int worth() {
    return (sha256 == null ? 0 : 2) + (timestamp == null ? 0 : 1);
  }
}
