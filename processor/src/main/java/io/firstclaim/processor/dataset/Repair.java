package io.firstclaim.processor.dataset;

/**
 * What a repair of the registry did.
 *
 * @param added files that were there and not listed
 * @param removed files that were listed and not there
 */
public record Repair(long added, long removed) {
  Repair plus(Repair other) {
    return new Repair(added + other.added, removed + other.removed);
  }
}
