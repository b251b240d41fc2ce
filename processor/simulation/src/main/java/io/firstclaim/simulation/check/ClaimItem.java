package io.firstclaim.simulation.check;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;

/**
 * A claim as its store has it.
 *
 * @param until the lease's end if it is held, the time of its retry if it is free; else the epoch
 */
public record ClaimItem(
    String id, State state, long token, int attempts, String nonce, String holder, Instant until) {
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
   * The claim in an item of DynamoDB's.
   *
   * @param item its attributes; empty for none
   * @param key of whatever item there is, or was
   * @return empty if that is no record's claim
   */
  static Optional<ClaimItem> of(Map<String, String> item, Map<String, String> key) {
    if (!key.containsKey("claimState") || key.containsKey("idSpace")) {
      return Optional.empty();
    }
    String id =
        new String(
            Base64.getDecoder().decode(key.getOrDefault("recordId", "")), StandardCharsets.UTF_8);
    if (id.startsWith(CONFORMANCE_CHECK)) {
      return Optional.empty();
    }
    if (item.isEmpty()) {
      return Optional.of(new ClaimItem(id, State.ABSENT, 0, 0, "", "", Instant.EPOCH));
    }
    return Optional.of(
        new ClaimItem(
            id,
            State.valueOf(item.getOrDefault("claimState", "ABSENT")),
            Long.parseLong(item.getOrDefault("fencingToken", "0")),
            Integer.parseInt(item.getOrDefault("attempts", "0")),
            item.getOrDefault("nonce", ""),
            item.getOrDefault("holder", ""),
            Instant.ofEpochMilli(
                Long.parseLong(item.getOrDefault("leaseEnd", item.getOrDefault("retryAt", "0"))))));
  }
}
