package io.firstclaim.lock;

import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The answer to a claim. */
public sealed interface ClaimResult {
  /**
   * The caller owns the record.
   *
   * @param lease the grant
   * @param takenFrom whose lease was over and is taken over, if any
   */
  record Granted(Lease lease, @Nullable String takenFrom) implements ClaimResult {}

  /**
   * Somebody holds a lease on it.
   *
   * @param by the holder
   * @param token its token
   * @param remaining how long until it is worth asking again, at the latest: the lease may be over
   *     then
   * @param sighting to pass with the next claim
   * @param onBehalfOf of what it is held, if its holder said so
   */
  record Held(
      String by, long token, Duration remaining, Sighting sighting, @Nullable String onBehalfOf)
      implements ClaimResult {
    /** Held by somebody who did not say on behalf of what. */
    public Held(String by, long token, Duration remaining, Sighting sighting) {
      this(by, token, remaining, sighting, null);
    }
  }

  /**
   * Nobody holds it, but resources that are to be claimed with it are held. Nothing was claimed.
   *
   * @param inTheWay those that are known to be held: at least one, and all if the store decides in
   *     one transaction
   */
  record Blocked(List<InTheWay> inTheWay) implements ClaimResult {
    /** Keeps a copy. */
    public Blocked {
      inTheWay = List.copyOf(inTheWay);
    }

    /** How long until it is worth asking again, at the latest. */
    public Duration remaining() {
      return inTheWay.stream()
          .map(InTheWay::remaining)
          .max(Comparator.naturalOrder())
          .orElse(Duration.ZERO);
    }
  }

  /**
   * A resource that somebody holds.
   *
   * @param id the resource
   * @param by its holder
   * @param onBehalfOf the record that it is held for, if that is known
   * @param remaining how long until it is free, at the latest, unless it is renewed
   * @param sighting to pass with the next claim; null if it is not held but due later
   */
  record InTheWay(
      RecordId id,
      @Nullable String by,
      @Nullable String onBehalfOf,
      Duration remaining,
      @Nullable Sighting sighting) {
    /**
     * What is in the way, by the answer to its own claim, which was not granted.
     *
     * @param now by this machine's clock
     * @throws IllegalStateException if no claim on what is held and given back is answered so
     */
    public static InTheWay of(RecordId id, ClaimResult answer, Instant now) {
      return switch (answer) {
        case ClaimResult.Held held ->
            new InTheWay(id, held.by(), held.onBehalfOf(), held.remaining(), held.sighting());
        case ClaimResult.Later(Instant retryAt, var unused) ->
            new InTheWay(id, null, null, Duration.between(now, retryAt), null);
        case Granted unused -> throw notInTheWay(id, answer);
        case Blocked unused -> throw notInTheWay(id, answer);
        case Done unused -> throw notInTheWay(id, answer);
        case Dead unused -> throw notInTheWay(id, answer);
        case Mismatch unused -> throw notInTheWay(id, answer);
      };
    }

    private static IllegalStateException notInTheWay(RecordId id, ClaimResult answer) {
      return new IllegalStateException(
          "the %s %s cannot be in the way as it was answered %s"
              .formatted(id.space(), id, answer.getClass().getSimpleName()));
    }
  }

  /**
   * An attempt failed and the next one is not due yet.
   *
   * @param retryAt when it is due, by this machine's clock
   * @param attempts how many there were
   */
  record Later(Instant retryAt, int attempts) implements ClaimResult {}

  /**
   * It is done.
   *
   * @param ending by whom and when
   * @param result what was stored with the completion, if anything
   */
  record Done(Ending ending, @Nullable String result) implements ClaimResult {}

  /**
   * It was given up as dead; its dead letter has been written.
   *
   * @param ending by whom and when
   * @param cause why
   */
  record Dead(Ending ending, String cause) implements ClaimResult {}

  /** The ID is known with another payload, whose fingerprint this is. */
  record Mismatch(Fingerprint storedFingerprint) implements ClaimResult {}
}
