package io.firstclaim.processor.service.admin;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.ClaimState;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.RedriveId;
import io.firstclaim.processor.service.acts.Dismissals.Dismissal;
import io.micronaut.core.annotation.Introspected;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What is known of a record: what the lock store has of it now, beside its history.
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
 * @param redrive the redrive that last freed it from its end
 * @param dismissed that an operator judged it to need no redrive, once it was dead; null if nobody
 *     did, or if that is not known
 * @param isDismissed whether that is of the end that it has now: it may have been redriven since;
 *     null while the topic of acts has not been read
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
    @Nullable String redrive,
    @Nullable DismissalView dismissed,
    @Nullable Boolean isDismissed,
    @Nullable List<OutcomeView> history) {

  static RecordView of(
      RecordId id,
      Optional<ClaimRecord> stored,
      Optional<Dismissal> dismissed,
      @Nullable List<OutcomeView> history) {
    @Nullable ClaimRecord claim = stored.orElse(null);
    @Nullable RedriveId redrive = claim == null ? null : claim.redrive();
    @Nullable String holder = null;
    @Nullable String cause = null;
    @Nullable Instant at = null;
    @Nullable Instant until = null;
    @Nullable Instant retryAt = null;
    @Nullable String result = null;
    switch (claim == null ? null : claim.state()) {
      case null -> {} // the record has no claim: it is ABSENT
      case ClaimState.Held held -> {
        holder = held.holder();
        until = held.end();
      }
      case ClaimState.Free free -> {
        cause = free.cause();
        retryAt = free.retryAt();
      }
      case ClaimState.Done done -> {
        holder = done.by();
        at = done.at();
        result = done.result();
      }
      case ClaimState.Dead dead -> {
        holder = dead.by();
        at = dead.at();
        cause = dead.cause();
      }
    }
    return new RecordView(
        id.text(),
        stateOf(claim),
        holder,
        claim == null ? null : claim.token(),
        claim == null ? null : claim.attempts(),
        cause,
        text(at),
        text(until),
        text(retryAt),
        result,
        redrive == null ? null : redrive.text(),
        dismissed.map(DismissalView::of).orElse(null),
        claim != null && dismissed.filter(last -> last.isOf(claim)).isPresent(),
        history);
  }

  /** This one, where what operators have done is not known. */
  RecordView withoutDismissal() {
    return new RecordView(
        id, state, holder, token, attempts, cause, at, until, retryAt, result, redrive, null, null,
        history);
  }

  /** The name of a state; that of what is not stored is ABSENT. */
  static String stateOf(@Nullable ClaimRecord stored) {
    if (stored == null) {
      return "ABSENT";
    }
    return switch (stored.state()) {
      case ClaimState.Held _ -> "HELD";
      case ClaimState.Free _ -> "FREE";
      case ClaimState.Done _ -> "DONE";
      case ClaimState.Dead _ -> "DEAD";
    };
  }

  private static @Nullable String text(@Nullable Instant at) {
    return at == null ? null : at.toString();
  }
}
