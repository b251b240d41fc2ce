package io.firstclaim.processor.dataset;

/**
 * What files come to: two lists of them can be compared by it, and neither need be held for that.
 *
 * @param files how many
 * @param bytes how many these have together
 * @param names see {@link Manifest#names}
 */
record Sum(long files, long bytes, long names) {
  /** That of no file. */
  static final Sum NONE = new Sum(0, 0, 0);

  /** The sum with one more file. */
  Sum plus(String fileName, long size) {
    return new Sum(files + 1, bytes + size, names ^ Manifest.bits(fileName));
  }

  /** The sum of both. */
  Sum plus(Sum other) {
    return new Sum(files + other.files, bytes + other.bytes, names ^ other.names);
  }
}
