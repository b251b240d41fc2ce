package io.firstclaim.processor.service.cli;

import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.ClaimState;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.engine.setting.WrongSettingException;
import io.firstclaim.processor.service.config.Backend;
import io.firstclaim.processor.service.config.StoreSettings;
import io.firstclaim.processor.service.store.LockStore;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What the configured lock store has for one ID, as a table for people. Only reads.
 *
 * @param store the table or bucket
 * @param id of the record
 * @param key under which the store keeps it
 * @param claim what is stored
 */
record StoredClaim(String store, RecordId id, String key, Optional<ClaimRecord> claim) {
  /**
   * Asks the configured store.
   *
   * @param text the ID as it is printed everywhere: {@link RecordId#text()}
   * @throws WrongSettingException if that is no ID, or the store is one that can be asked by its
   *     own process alone
   * @throws io.firstclaim.lock.StoreUnavailableException if it does not answer
   * @throws io.firstclaim.lock.StoreRefusedException if it is missing
   */
  static StoredClaim of(StoreSettings settings, String text, TimeSource time) {
    if (settings.backend() instanceof Backend.Memory) {
      throw new WrongSettingException(
          "firstclaim.claim.backend", "memory", "give dynamodb or s3: memory is another process's");
    }
    RecordId id = parsed(text);
    try (LockStore store = LockStore.of(settings)) {
      return new StoredClaim(store.name(), id, store.key(id), store.operations(time).find(id));
    }
  }

  private static RecordId parsed(String text) {
    try {
      return RecordId.parse(text);
    } catch (IllegalArgumentException e) {
      throw new WrongSettingException(
          "claim",
          OneLine.of(text, 100),
          "give the ID as logs and outcomes print it, 1 to %d bytes".formatted(RecordId.MAX_BYTES));
    }
  }

  /** A line for each thing that is known. */
  String table() {
    Map<String, @Nullable Object> lines = new LinkedHashMap<>();
    lines.put("ID", id);
    lines.put("key", key);
    claim.ifPresentOrElse(found -> describe(found, lines), () -> lines.put("state", "ABSENT"));
    StringBuilder table = new StringBuilder(store);
    lines.forEach(
        (name, value) -> {
          if (value != null) {
            table
                .append(System.lineSeparator())
                .append("  %-9s %s".formatted(name, OneLine.of(value.toString())));
          }
        });
    return table.toString();
  }

  private static void describe(ClaimRecord found, Map<String, @Nullable Object> lines) {
    switch (found.state()) {
      case ClaimState.Held held -> {
        lines.put("state", "HELD");
        lines.put("holder", held.holder());
        lines.put("for", held.onBehalfOf());
        lines.put(
            "until", "%s, unless renewed for another %s".formatted(held.end(), held.length()));
      }
      case ClaimState.Free(Instant retryAt, String cause) -> {
        lines.put("state", "FREE");
        lines.put("due", retryAt.equals(ClaimStore.AT_ONCE) ? "at once" : retryAt);
        lines.put("cause", cause);
      }
      case ClaimState.Done(String by, Instant at, String result) -> {
        lines.put("state", "DONE");
        lines.put("by", by);
        lines.put("at", at);
        lines.put("result", result);
      }
      case ClaimState.Dead(String by, Instant at, String cause) -> {
        lines.put("state", "DEAD");
        lines.put("by", by);
        lines.put("at", at);
        lines.put("cause", cause);
      }
    }
    lines.put("token", found.token());
    lines.put("attempts", found.attempts());
    lines.put("payload", found.fingerprint());
    lines.put("redrive", found.redrive());
  }
}
