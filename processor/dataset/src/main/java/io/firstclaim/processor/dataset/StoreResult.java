package io.firstclaim.processor.dataset;

/** What became of a record's value. */
public sealed interface StoreResult {
  /**
   * It is in the dataset, both object and registry, written now or before.
   *
   * @param file its file
   */
  record Listed(DatasetFile file) implements StoreResult {}

  /**
   * It never will be in the dataset.
   *
   * @param cause why, for people, in one line
   */
  record Rejected(String cause) implements StoreResult {}
}
