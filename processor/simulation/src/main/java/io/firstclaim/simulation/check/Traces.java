package io.firstclaim.simulation.check;

import io.firstclaim.simulation.check.ClaimItem.State;
import io.firstclaim.simulation.check.Event.Wrote;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What a store took, for each ID in the order in which it did, in the format that {@code
 * docs/tla/ClaimTrace.tla} judges.
 */
public final class Traces {
  private static final int HEX_OF_A_HALF = 16;
  private static final int MOST_WRITES = 1 << 20;

  private final Map<String, List<String>> writes = new TreeMap<>();
  private final Map<String, String> grants = new HashMap<>();
  private @Nullable Instant start;

  /** No writes. */
  Traces() {}

  void wrote(Wrote wrote) {
    if (start == null) {
      start = wrote.at();
    }
    ClaimItem after = wrote.after();
    if (wrote.isGrant()) {
      grants.put(after.id(), after.nonce());
    }
    String grant = grants.getOrDefault(after.id(), "");
    long number = number(after.nonce(), grant);
    boolean isUnderGrant = number >= 0;
    long at = millis(wrote.at());
    long end = endOf(after, at);
    writes
        .computeIfAbsent(after.id(), _ -> new ArrayList<>())
        .add(
            ("[st |-> \"%s\", tok |-> %d, g |-> \"%s\", n |-> %d, red |-> FALSE, at |-> %d,"
                    + " end |-> %d, len |-> %d, by |-> \"%s\"]")
                .formatted(
                    after.state(),
                    after.token(),
                    isUnderGrant ? grant : after.nonce(),
                    isUnderGrant ? number : 0,
                    at,
                    end,
                    after.state() == State.HELD ? end - at : 0,
                    wrote.machine()));
  }

  private static long endOf(ClaimItem item, long at, long until) {
    return switch (item.state()) {
      case HELD -> until;
      case FREE -> Math.max(0, until);
      case DONE, DEAD, ABSENT -> at;
    };
  }

  private long endOf(ClaimItem item, long at) {
    return endOf(item, at, item.until().equals(Instant.EPOCH) ? 0 : millis(item.until()));
  }

  /** Relative, as TLC's numbers have 32 bits. */
  private long millis(Instant time) {
    return start == null ? 0 : Duration.between(start, time).toMillis();
  }

  /** How many writes after the grant's a nonce comes; negative if it is none of its. */
  private static long number(String nonce, String grant) {
    if (nonce.isEmpty() || grant.isEmpty() || !nonce.regionMatches(0, grant, 0, HEX_OF_A_HALF)) {
      return -1;
    }
    long number = low(nonce) - low(grant);
    return number <= MOST_WRITES ? number : -1;
  }

  private static long low(String nonce) {
    return Long.parseUnsignedLong(nonce, HEX_OF_A_HALF, nonce.length(), 16);
  }

  /**
   * The module {@code TraceData}.
   *
   * @param skew what the wall clocks of machines may differ by, as declared
   * @param apart how far off the store's time a machine's idea of it can be
   * @param retention for how long ends are kept
   */
  public String module(Duration skew, Duration apart, Duration retention) {
    return """
        ----------------------------- MODULE TraceData -----------------------------
        EXTENDS Integers
        MaxSkew == %d
        Apart == %d
        Retention == %d
        Traces == << %s >>
        =============================================================================
        """
        .formatted(
            skew.toMillis(),
            apart.toMillis(),
            retention.toMillis(),
            writes.values().stream()
                .map(each -> each.stream().collect(Collectors.joining(",\n    ", "<< ", " >>")))
                .collect(Collectors.joining(",\n  ")));
  }
}
