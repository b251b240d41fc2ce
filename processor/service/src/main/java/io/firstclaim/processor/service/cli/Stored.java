package io.firstclaim.processor.service.cli;

import static java.util.stream.Collectors.joining;

import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.ClaimState;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.board.Share;
import io.firstclaim.lock.board.StoredItem;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What a lock store has, as a table for people: a line for each thing that is known. */
final class Stored {
  private Stored() {}

  /**
   * What is known of a claim.
   *
   * @param key under which the store keeps it
   */
  static Map<String, @Nullable Object> lines(RecordId id, String key, Optional<ClaimRecord> claim) {
    Map<String, @Nullable Object> lines = new LinkedHashMap<>();
    lines.put(id.space() == RecordId.Space.RECORD ? "ID" : id.space().toString(), id);
    lines.put("key", key);
    claim.ifPresentOrElse(found -> describe(found, lines), () -> lines.put("state", "ABSENT"));
    return lines;
  }

  /** What is known of a board's item. */
  static Map<String, @Nullable Object> lines(String board, String key, Optional<StoredItem> item) {
    Map<String, @Nullable Object> lines = new LinkedHashMap<>();
    lines.put("board", board);
    lines.put("item", key);
    lines.put("status", item.map(StoredItem::status).orElse("the first: nobody has moved it"));
    lines.put("editor", item.map(StoredItem::editor).orElse(null));
    lines.put("for", item.map(StoredItem::lockedBy).orElse(null));
    lines.put("shared", item.map(StoredItem::shares).map(Stored::inWords).orElse(null));
    lines.put("since", item.map(StoredItem::since).orElse(null));
    lines.put("token", item.map(StoredItem::token).orElse(null));
    return lines;
  }

  /** On whose behalf, by whom and since when; null for nobody's. */
  private static @Nullable String inWords(List<Share> shares) {
    return shares.isEmpty()
        ? null
        : shares.stream()
            .map(one -> "%s by %s since %s".formatted(one.lockedBy(), one.editor(), one.since()))
            .collect(joining(", "));
  }

  /** The lines of a store. */
  static String table(String store, Map<String, @Nullable Object> lines) {
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
