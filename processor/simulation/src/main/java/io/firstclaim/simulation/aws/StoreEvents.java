package io.firstclaim.simulation.aws;

import java.util.List;
import java.util.Map;

/** Hears of what a store takes. */
public interface StoreEvents {
  /**
   * A claim has changed.
   *
   * @param by the machine whose request it was
   * @param before its attributes, named as DynamoDB has them; empty if there was none
   * @param after the same, now
   */
  void wrote(String by, Map<String, String> before, Map<String, String> after);

  /** Something was asked to be written, whatever has been written since. */
  void wroteWithoutCondition(String by, String request);

  /** A fault of the store's own. */
  void fault(String kind);

  /**
   * An answer did not reach the machine that asked.
   *
   * @param took what the store has taken by its request, as in {@link #wrote}
   */
  void answerLost(String by, List<Map<String, String>> took);

  /** Something was reached that a run must reach to prove anything. */
  void reached(String what);
}
