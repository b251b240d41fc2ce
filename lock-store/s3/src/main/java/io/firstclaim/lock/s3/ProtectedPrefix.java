package io.firstclaim.lock.s3;

/**
 * What keys begin with that nobody should write, or delete, without a condition.
 *
 * @param prefix of the keys, such as {@code claims/}
 * @param protection how what is under it is written
 */
public record ProtectedPrefix(String prefix, Protection protection) {
  /** How objects are written. */
  public enum Protection {
    /** They are written on the condition that nothing is there, and never over anything. */
    ONCE,
    /** They are written on the condition that nothing is there, or what was read. */
    ON_CONDITION
  }

  /** A prefix under which everything is written once. */
  public static ProtectedPrefix once(String prefix) {
    return new ProtectedPrefix(prefix, Protection.ONCE);
  }

  /** A prefix under which what is there is written over, as that of claims. */
  public static ProtectedPrefix onCondition(String prefix) {
    return new ProtectedPrefix(prefix, Protection.ON_CONDITION);
  }
}
