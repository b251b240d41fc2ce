package io.firstclaim.processor.engine.api;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What became of one attempt on a record.
 *
 * @param id the record's ID, printable
 * @param kind the verdict
 * @param zone whose attempt it was
 * @param instance whose attempt it was
 * @param token of the attempt's lease
 * @param attempt which attempt, from 1
 * @param topic where the record was delivered
 * @param partition where the record was delivered
 * @param offset where the record was delivered
 * @param at when the verdict was reached
 * @param took how long the handler ran
 * @param cause why, if there is something to say
 * @param retryAt when a failed record is due again
 * @param resources the printable names of what the record touches
 */
public record Outcome(
    String id,
    Kind kind,
    String zone,
    String instance,
    long token,
    int attempt,
    String topic,
    int partition,
    long offset,
    Instant at,
    Duration took,
    @Nullable String cause,
    @Nullable Instant retryAt,
    List<String> resources) {

  /** Keeps a copy of the resources. */
  public Outcome {
    resources = List.copyOf(resources);
  }

  /**
   * The outcome in the value of a message on the outcomes topic, if it holds one: anybody may write
   * to a topic.
   */
  public static Optional<Outcome> ofJson(byte[] json) {
    return OutcomeFormat.read(json);
  }

  /** The outcome as it stands in the value of a message on the outcomes topic. */
  public byte[] json() {
    return OutcomeFormat.write(this);
  }

  /** What can become of an attempt; the names are on the wire. */
  public enum Kind {
    /** Done. */
    COMPLETED,
    /** Will be tried again. */
    FAILED,
    /** Given up; its dead letter is written. */
    DEAD,
    /** Another holder's lease was over and taken over. */
    TAKEN_OVER,
    /** The lease was lost before the verdict could be recorded. */
    LEASE_LOST,
    /** The ID is known with another payload. */
    MISMATCH,
    /** It waits for what it touches, which others hold. */
    BLOCKED
  }
}
