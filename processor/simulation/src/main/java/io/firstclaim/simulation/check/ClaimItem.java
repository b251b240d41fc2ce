package io.firstclaim.simulation.check;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Base64;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * A claim as its store has it.
 *
 * @param key under which the store has it
 * @param id of a record; of anything else with its space before it, as in {@code mutex/r1}
 * @param redrive that last freed it; empty if none did
 * @param until the lease's end if it is held, the time of its retry if it is free; else the epoch
 */
public record ClaimItem(
    String key,
    String id,
    State state,
    long token,
    int attempts,
    String nonce,
    String holder,
    String redrive,
    Instant until) {
  /** What a start tries, and deletes, to see what the store does. */
  private static final String CONFORMANCE_CHECK = "self-test/";

  /** What it is. */
  public enum State {
    /** There is none. */
    ABSENT,
    /** Somebody has a lease. */
    HELD,
    /** Anybody may have it, at its time. */
    FREE,
    /** The record is done. */
    DONE,
    /** The record was given up. */
    DEAD
  }

  /** Whether it will never change again by itself. */
  boolean isTerminal() {
    return state == State.DONE || state == State.DEAD;
  }

  /**
   * The claim in an item.
   *
   * @param item its attributes, as DynamoDB has them; empty for none
   * @param key of whatever item there is, or was
   * @return empty if that is no claim
   */
  static Optional<ClaimItem> of(Map<String, String> item, Map<String, String> key) {
    if (!key.containsKey("claimState")) {
      return Optional.empty();
    }
    String space = key.getOrDefault("idSpace", "").toLowerCase(Locale.ROOT);
    String bytes =
        new String(
            Base64.getDecoder().decode(key.getOrDefault("recordId", "")), StandardCharsets.UTF_8);
    if (bytes.startsWith(CONFORMANCE_CHECK)) {
      return Optional.empty();
    }
    String id = space.isEmpty() ? bytes : space + "/" + bytes;
    String at = key.getOrDefault("pk", "");
    if (item.isEmpty()) {
      return Optional.of(new ClaimItem(at, id, State.ABSENT, 0, 0, "", "", "", Instant.EPOCH));
    }
    return Optional.of(
        new ClaimItem(
            at,
            id,
            State.valueOf(item.getOrDefault("claimState", "ABSENT")),
            Long.parseLong(item.getOrDefault("fencingToken", "0")),
            Integer.parseInt(item.getOrDefault("attempts", "0")),
            item.getOrDefault("nonce", ""),
            item.getOrDefault("holder", ""),
            item.getOrDefault("redriveId", ""),
            Instant.ofEpochMilli(
                Long.parseLong(item.getOrDefault("leaseEnd", item.getOrDefault("retryAt", "0"))))));
  }
}
