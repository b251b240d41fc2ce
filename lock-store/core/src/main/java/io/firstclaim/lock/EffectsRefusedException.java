package io.firstclaim.lock;

/**
 * The effects that were to be written with a completion, or with a board's transition, cannot be: a
 * condition of theirs failed, they are too many or too large, or they must not be written where
 * they go. Nothing was written, and the lease stands, or the items are where they were.
 */
public final class EffectsRefusedException extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  /** Refused for this reason, which names the effect. */
  public EffectsRefusedException(String why) {
    super(why);
  }
}
