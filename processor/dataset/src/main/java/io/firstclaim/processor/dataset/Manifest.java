package io.firstclaim.processor.dataset;

import java.util.Collection;
import java.util.HexFormat;

/**
 * A manifest, as the root names it: an object, never changed, that lists files of one partition.
 *
 * @param name 32 hex digits that no other manifest has
 * @param files how many it lists
 * @param bytes how many these have together
 * @param names the first 64 bits of the names of the files, combined by exclusive or: with the
 *     counts, they show whether a listing of the bucket is the same, without reading the manifest
 * @param found the version of the root in which files came into it that whoever listed them had
 *     found in the bucket, and not written; 0 if there are none. Only such files can be somebody
 *     else's who is about to list them too
 */
record Manifest(String name, long files, long bytes, long names, long found) {
  /** The manifest of this name with these files. */
  static Manifest of(String name, Collection<ListedFile> listed) {
    Sum sum = Sum.NONE;
    for (ListedFile one : listed) {
      sum = sum.plus(one.file().name(), one.file().bytes());
    }
    return new Manifest(name, sum.files(), sum.bytes(), sum.names(), 0);
  }

  /** The first 64 bits of a file's name. */
  static long bits(String fileName) {
    return HexFormat.fromHexDigitsToLong(fileName, 0, 16);
  }

  /** This manifest, with files that were found in this version. */
  Manifest foundIn(long version) {
    return new Manifest(name, files, bytes, names, version);
  }

  /** Whether it has so many files that it is merged no more. */
  boolean isFull() {
    return files >= Manifests.FULL;
  }
}
