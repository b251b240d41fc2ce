package io.firstclaim.processor.audit.topology;

import io.firstclaim.lock.Fingerprint;
import io.firstclaim.processor.audit.api.ViolationKind;
import io.firstclaim.processor.engine.api.Outcome;
import io.firstclaim.processor.engine.api.OutcomeMessage;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What verdicts rest on: the tokens seen of one ID with one payload, in one lock store. Immutable.
 *
 * <p>Outcomes of several producers come in any order, and a paused instance announces late what it
 * did long ago. So the verdicts hold in whichever order the outcomes come, but for that of a token
 * that went back: that one looks at when the outcomes were made, too.
 *
 * @param store a hash of the store's identity
 * @param payload a hash of the record's value
 * @param seen when an outcome came that was news, in milliseconds
 * @param highest the highest token among TAKEN_OVER, COMPLETED and DEAD; 0 if there is none
 * @param highestAt when that outcome was made, in milliseconds
 * @param completed the tokens of completions
 * @param ended the tokens of other ends: DEAD and MISMATCH
 * @param lost the tokens of leases that were lost
 * @param openSince when it was begun; 0 once it is settled
 * @param dead whether it was given up, and nothing has become of it since
 */
record Lane(
    long store,
    long payload,
    long seen,
    long highest,
    long highestAt,
    List<Long> completed,
    List<Long> ended,
    List<Long> lost,
    long openSince,
    boolean dead) {
  /** How many tokens of each kind are kept; a record that needs more is odd already. */
  private static final int MAX_TOKENS = 4;

  /** The last second of the year 9999, counted from 1970. */
  private static final long LAST_SECOND = 253_402_300_799L;

  /** Keeps copies. */
  Lane {
    completed = List.copyOf(completed);
    ended = List.copyOf(ended);
    lost = List.copyOf(lost);
  }

  /**
   * A verdict.
   *
   * @param otherToken the token that contradicts the outcome
   */
  record Found(ViolationKind verdict, long otherToken) {}

  /** Nothing is known yet of what this message is about. */
  static Lane of(OutcomeMessage message) {
    return new Lane(
        hash(Fingerprint.of(message.store().getBytes(StandardCharsets.UTF_8))),
        hash(message.payload()),
        0,
        0,
        0,
        List.of(),
        List.of(),
        List.of(),
        0,
        false);
  }

  private static long hash(Fingerprint of) {
    byte[] hash = of.hash();
    return hash.length == 0 ? 0 : ByteBuffer.wrap(hash).getLong();
  }

  boolean isSameAs(Lane other) {
    return store == other.store && payload == other.payload;
  }

  /** Whether this end is known: whoever finds a record ended and unannounced announces it again. */
  boolean knows(Outcome outcome) {
    return switch (outcome.kind()) {
      case COMPLETED -> completed.contains(outcome.token());
      case DEAD, MISMATCH -> ended.contains(outcome.token());
      case TAKEN_OVER, FAILED, LEASE_LOST, BLOCKED -> false;
    };
  }

  /** What is wrong with this outcome, which is not {@linkplain #knows known}, or is another's. */
  Optional<Found> judge(Outcome outcome) {
    long token = outcome.token();
    return switch (outcome.kind()) {
      case COMPLETED -> {
        if (!completed.isEmpty()) {
          yield found(ViolationKind.COMPLETED_TWICE, completed.getLast());
        }
        if (lost.contains(token)) {
          yield found(ViolationKind.COMPLETED_BY_LOST_LEASE, token);
        }
        yield token < highest ? found(ViolationKind.TOKEN_WENT_BACK, highest) : Optional.empty();
      }
      case DEAD -> {
        // One that was redriven has died under a lower token, before: heard late, that is no fault.
        if (token < highest && millis(outcome.at()) >= highestAt) {
          yield found(ViolationKind.TOKEN_WENT_BACK, highest);
        }
        yield afterCompletion(token);
      }
      case TAKEN_OVER -> {
        // Two grants may be announced in either order; only the later one must be the higher.
        if (token < highest && millis(outcome.at()) > highestAt) {
          yield found(ViolationKind.TOKEN_WENT_BACK, highest);
        }
        yield afterCompletion(token);
      }
      case LEASE_LOST ->
          completed.contains(token)
              ? found(ViolationKind.COMPLETED_BY_LOST_LEASE, token)
              : Optional.empty();
      case FAILED, BLOCKED, MISMATCH -> Optional.empty();
    };
  }

  /** Completed is completed: a grant of a higher token says that the lease was not held. */
  private Optional<Found> afterCompletion(long token) {
    return completed.stream()
        .filter(earlier -> earlier < token)
        .findFirst()
        .flatMap(earlier -> found(ViolationKind.COMPLETED_BY_LOST_LEASE, earlier));
  }

  private static Optional<Found> found(ViolationKind verdict, long otherToken) {
    return Optional.of(new Found(verdict, otherToken));
  }

  /** This lane with an outcome that is news to it. */
  Lane with(Outcome outcome, long now) {
    long token = outcome.token();
    boolean over = !completed.isEmpty();
    long news = over ? seen : now;
    return switch (outcome.kind()) {
      case COMPLETED -> raised(outcome, news, added(completed, token), ended, lost, 0, false);
      case DEAD ->
          raised(
              outcome,
              news,
              completed,
              added(ended, token),
              lost,
              token >= highest ? 0 : openSince,
              token >= highest && completed.isEmpty());
      case MISMATCH ->
          new Lane(
              store,
              payload,
              news,
              highest,
              highestAt,
              completed,
              added(ended, token),
              lost,
              0,
              dead);
      case TAKEN_OVER ->
          raised(
              outcome, news, completed, ended, lost, openedAt(token, now), dead && isLate(token));
      case LEASE_LOST -> begun(token, news, now, added(lost, token));
      case FAILED, BLOCKED -> begun(token, news, now, lost);
    };
  }

  private Lane begun(long token, long news, long now, List<Long> lostNow) {
    return new Lane(
        store,
        payload,
        news,
        highest,
        highestAt,
        completed,
        ended,
        lostNow,
        openedAt(token, now),
        dead && isLate(token));
  }

  private Lane raised(
      Outcome outcome,
      long news,
      List<Long> completedNow,
      List<Long> endedNow,
      List<Long> lostNow,
      long open,
      boolean deadNow) {
    boolean raised = outcome.token() > highest;
    return new Lane(
        store,
        payload,
        news,
        raised ? outcome.token() : highest,
        raised ? millis(outcome.at()) : highestAt,
        completedNow,
        endedNow,
        lostNow,
        open,
        deadNow);
  }

  /** Anybody may write to the topic: an instant may be in any year. */
  private static long millis(Instant at) {
    return Math.clamp(at.getEpochSecond(), 0, LAST_SECOND) * 1000 + at.getNano() / 1_000_000;
  }

  private long openedAt(long token, long now) {
    return isLate(token) || openSince != 0 ? openSince : now;
  }

  /** Whether what happened under this token came before an end that is known. */
  private boolean isLate(long token) {
    return !completed.isEmpty() || ended.stream().anyMatch(end -> end >= token);
  }

  private static List<Long> added(List<Long> tokens, long token) {
    if (tokens.contains(token)) {
      return tokens;
    }
    List<Long> more = new ArrayList<>(tokens);
    more.add(token);
    return more.size() > MAX_TOKENS ? more.subList(1, more.size()) : more;
  }

  void write(DataOutput out) throws IOException {
    out.writeLong(store);
    out.writeLong(payload);
    out.writeLong(seen);
    out.writeLong(highest);
    out.writeLong(highestAt);
    write(out, completed);
    write(out, ended);
    write(out, lost);
    out.writeLong(openSince);
    out.writeBoolean(dead);
  }

  private static void write(DataOutput out, List<Long> tokens) throws IOException {
    out.writeByte(tokens.size());
    for (long token : tokens) {
      out.writeLong(token);
    }
  }

  static Lane read(DataInput in) throws IOException {
    return new Lane(
        in.readLong(),
        in.readLong(),
        in.readLong(),
        in.readLong(),
        in.readLong(),
        readTokens(in),
        readTokens(in),
        readTokens(in),
        in.readLong(),
        in.readBoolean());
  }

  private static List<Long> readTokens(DataInput in) throws IOException {
    int count = in.readUnsignedByte();
    List<Long> tokens = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      tokens.add(in.readLong());
    }
    return tokens;
  }
}
