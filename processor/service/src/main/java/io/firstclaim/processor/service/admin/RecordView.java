package io.firstclaim.processor.service.admin;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.ClaimState;
import io.firstclaim.lock.RecordId;
import io.micronaut.core.annotation.Introspected;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What is known of a record: what the lock store has of it now, beside its past.
 *
 * @param id printable
 * @param state ABSENT, FREE, HELD, DONE or DEAD
 * @param holder {@code zone/instance} that holds it, or that ended it
 * @param token of the last grant
 * @param attempts grants so far
 * @param cause why the last attempt ended, or why it was given up
 * @param at when it ended; null if it has not
 * @param until when the lease ends, if nobody renews it
 * @param retryAt when the next attempt is due
 * @param result what was stored with its completion
 * @param history its outcomes, oldest first; null if they cannot be said now
 */
@Introspected
@JsonInclude(JsonInclude.Include.ALWAYS)
record RecordView(
    String id,
    String state,
    @Nullable String holder,
    @Nullable Long token,
    @Nullable Integer attempts,
    @Nullable String cause,
    @Nullable String at,
    @Nullable String until,
    @Nullable String retryAt,
    @Nullable String result,
    @Nullable List<Event> history) {

  static RecordView of(RecordId id, Optional<ClaimRecord> stored, @Nullable List<Event> history) {
    if (stored.isEmpty()) {
      return new RecordView(
          id.text(), "ABSENT", null, null, null, null, null, null, null, null, history);
    }
    ClaimRecord claim = stored.get();
    long token = claim.token();
    int attempts = claim.attempts();
    return switch (claim.state()) {
      case ClaimState.Held held ->
          new RecordView(
              id.text(),
              "HELD",
              held.holder(),
              token,
              attempts,
              null,
              null,
              text(held.end()),
              null,
              null,
              history);
      case ClaimState.Free(Instant retryAt, String cause) ->
          new RecordView(
              id.text(),
              "FREE",
              null,
              token,
              attempts,
              cause,
              null,
              null,
              text(retryAt),
              null,
              history);
      case ClaimState.Done(String by, Instant at, String result) ->
          new RecordView(
              id.text(), "DONE", by, token, attempts, null, text(at), null, null, result, history);
      case ClaimState.Dead(String by, Instant at, String cause) ->
          new RecordView(
              id.text(), "DEAD", by, token, attempts, cause, text(at), null, null, null, history);
    };
  }

  private static String text(Instant at) {
    return at.toString();
  }
}
