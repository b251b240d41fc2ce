package io.firstclaim.processor.service.cli;

import io.firstclaim.lock.ConformanceResult;
import io.firstclaim.processor.service.config.StoreSettings;
import io.firstclaim.processor.service.store.BucketPolicies;
import io.firstclaim.processor.service.store.LockStore;
import java.util.List;

/**
 * What the configured lock store does when tried as at every start, and whether policies protect
 * the buckets, as a table for people.
 *
 * @param store the table or bucket
 * @param checks what was tried
 * @param denials what policies should deny, and was tried too
 */
record Probe(String store, List<ConformanceResult> checks, List<ConformanceResult> denials) {
  /**
   * Tries the configured store, after creating it if that is configured, and the policies.
   *
   * @throws io.firstclaim.processor.engine.setting.WrongSettingException if it is not one that can
   *     be tried, or the AWS SDK's settings are wrong
   * @throws io.firstclaim.lock.StoreUnavailableException if it does not answer
   * @throws io.firstclaim.lock.StoreRefusedException if it is missing or must not be used
   */
  static Probe of(StoreSettings settings, BucketPolicies policies) {
    try (LockStore store = LockStore.of(settings)) {
      return new Probe(store.name(), store.probe(), policies.denials());
    }
  }

  /** Whether claims can rest on the store. */
  boolean accepted() {
    return checks.stream().allMatch(ConformanceResult::kept);
  }

  /** The table, a line each check and trial, and the verdict. */
  String table() {
    StringBuilder table = new StringBuilder(store).append(System.lineSeparator());
    append(table, checks, "BROKEN");
    if (!denials.isEmpty()) {
      table
          .append("What a policy should deny (the command policy prints it):")
          .append(System.lineSeparator());
      append(table, denials, "NOT DENIED");
    }
    return table
        .append(accepted() ? "Claims can rest on it." : "Claims cannot rest on it.")
        .toString();
  }

  private static void append(StringBuilder table, List<ConformanceResult> results, String not) {
    int name = width(results.stream().map(ConformanceResult::name).toList());
    int seen = width(results.stream().map(ConformanceResult::seen).toList());
    String line = "  %-" + name + "s  %-" + seen + "s  %s%n";
    for (ConformanceResult result : results) {
      table.append(line.formatted(result.name(), result.seen(), result.kept() ? "ok" : not));
    }
  }

  private static int width(List<String> column) {
    return column.stream().mapToInt(String::length).max().orElse(1);
  }
}
