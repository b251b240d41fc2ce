package io.firstclaim.processor.dataset;

/**
 * A file to be listed.
 *
 * @param file the file
 * @param wasFound whether its object was there already, so that others may have listed it
 * @param since the version of the root that this instance had seen before it wrote the object: no
 *     root up to it can list an object that was written after it
 */
record Addition(ListedFile file, boolean wasFound, long since) {
  String partition() {
    return file.file().partition();
  }

  String name() {
    return file.file().name();
  }

  /** One addition in place of two for the same file. */
  Addition and(Addition other) {
    return new Addition(
        file.or(other.file), wasFound || other.wasFound, Math.min(since, other.since));
  }
}
