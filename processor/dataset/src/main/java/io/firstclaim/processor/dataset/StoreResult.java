package io.firstclaim.processor.dataset;

/** What became of a record's value. */
public sealed interface StoreResult {
  /**
   * It is in the dataset, object and registry, written now or before.
   *
   * @param file the file it is
   */
  record Stored(DatasetFile file) implements StoreResult {}

  /**
   * It never will be.
   *
   * @param cause why, for people, in one line
   */
  record Refused(String cause) implements StoreResult {}
}
