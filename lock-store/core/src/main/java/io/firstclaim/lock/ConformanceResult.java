package io.firstclaim.lock;

import java.util.List;

/**
 * One thing that a store was tested for because claims rest on it.
 *
 * @param name what was tried
 * @param seen what the store did, in one line
 * @param kept whether that is what claims rest on
 */
public record ConformanceResult(String name, String seen, boolean kept) {

  /**
   * Accepts a store that kept every check.
   *
   * @param store its name, for the message
   * @throws StoreRefusedException with what was seen in the first check it did not keep
   */
  public static void requireAll(String store, List<ConformanceResult> checks) {
    for (ConformanceResult check : checks) {
      if (!check.kept) {
        throw new StoreRefusedException(
            "%s cannot keep claims: %s: %s".formatted(store, check.name, check.seen));
      }
    }
  }
}
