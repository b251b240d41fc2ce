package io.firstclaim.processor.service.cli;

import io.firstclaim.lock.ConformanceResult;
import io.firstclaim.processor.service.config.StoreSettings;
import io.firstclaim.processor.service.store.LockStore;
import java.util.List;

/**
 * What the configured lock store does when tried as at every start, as a table for people.
 *
 * @param store the table or bucket
 * @param checks what was tried
 */
record Probe(String store, List<ConformanceResult> checks) {
  /**
   * Tries the configured store, after creating it if that is configured.
   *
   * @throws io.firstclaim.processor.engine.setting.WrongSettingException if it is not one that can
   *     be tried, or the AWS SDK's settings are wrong
   * @throws io.firstclaim.lock.StoreUnavailableException if it does not answer
   * @throws io.firstclaim.lock.StoreRefusedException if it is missing or must not be used
   */
  static Probe of(StoreSettings settings) {
    try (LockStore store = LockStore.of(settings)) {
      return new Probe(store.name(), store.probe());
    }
  }

  /** Whether claims can rest on the store. */
  boolean accepted() {
    return checks.stream().allMatch(ConformanceResult::kept);
  }

  /** The table, a line each check, and the verdict. */
  String table() {
    int name = width(checks.stream().map(ConformanceResult::name).toList());
    int seen = width(checks.stream().map(ConformanceResult::seen).toList());
    StringBuilder table = new StringBuilder(store).append(System.lineSeparator());
    String line = "  %-" + name + "s  %-" + seen + "s  %s%n";
    for (ConformanceResult check : checks) {
      table.append(line.formatted(check.name(), check.seen(), check.kept() ? "ok" : "BROKEN"));
    }
    return table
        .append(accepted() ? "Claims can rest on it." : "Claims cannot rest on it.")
        .toString();
  }

  private static int width(List<String> column) {
    return column.stream().mapToInt(String::length).max().orElse(1);
  }
}
