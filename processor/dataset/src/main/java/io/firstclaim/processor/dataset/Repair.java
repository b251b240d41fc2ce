package io.firstclaim.processor.dataset;

/**
 * What a repair of the dataset did.
 *
 * @param added files that were there and not listed
 * @param removed files that were listed and not there
 * @param aborted multipart uploads that nobody had completed
 */
public record Repair(long added, long removed, long aborted) {
  static final Repair NONE = new Repair(0, 0, 0);

  Repair plus(Repair other) {
    return new Repair(added + other.added, removed + other.removed, aborted + other.aborted);
  }

  Repair withAborted(long uploads) {
    return new Repair(added, removed, uploads);
  }
}
