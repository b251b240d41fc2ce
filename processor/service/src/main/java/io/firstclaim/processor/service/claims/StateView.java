package io.firstclaim.processor.service.claims;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.firstclaim.lock.ClaimResult;
import io.micronaut.core.annotation.Introspected;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where a claim or a lock stands; and if that is not what was asked for, why.
 *
 * @param error what is the matter, and what helps; missing if nothing is
 * @param state FREE, HELD, BLOCKED, DONE, DEAD or MISMATCH
 * @param result what was stored with the completion
 * @param cause why it was given up
 * @param holder who has it, or ended it
 * @param onBehalfOf of what it is held
 * @param token of the last grant
 * @param attempts how many there were
 * @param at when it ended
 * @param retryAt when the next attempt is due
 * @param since since when it is held
 * @param until when the lease ends, unless it is renewed
 * @param inTheWay what others hold of that which was to be claimed with it
 */
@Introspected
@JsonInclude(JsonInclude.Include.NON_NULL)
record StateView(
    @Nullable String error,
    String state,
    @Nullable String result,
    @Nullable String cause,
    @Nullable String holder,
    @Nullable String onBehalfOf,
    @Nullable Long token,
    @Nullable Integer attempts,
    @Nullable String at,
    @Nullable String retryAt,
    @Nullable String since,
    @Nullable String until,
    @Nullable List<InTheWayView> inTheWay) {

  /**
   * Something that somebody else holds.
   *
   * @param resource its name
   * @param holder who has it
   * @param onBehalfOf of what
   */
  @Introspected
  @JsonInclude(JsonInclude.Include.NON_NULL)
  record InTheWayView(String resource, @Nullable String holder, @Nullable String onBehalfOf) {
    static InTheWayView of(ClaimResult.InTheWay held) {
      return new InTheWayView(held.id().text(), held.by(), held.onBehalfOf());
    }
  }

  static StateView of(String state) {
    return new StateView(
        null, state, null, null, null, null, null, null, null, null, null, null, null);
  }

  StateView withError(String why) {
    return new StateView(
        why,
        state,
        result,
        cause,
        holder,
        onBehalfOf,
        token,
        attempts,
        at,
        retryAt,
        since,
        until,
        inTheWay);
  }

  StateView withResult(@Nullable String stored) {
    return new StateView(
        error,
        state,
        stored,
        cause,
        holder,
        onBehalfOf,
        token,
        attempts,
        at,
        retryAt,
        since,
        until,
        inTheWay);
  }

  StateView withCause(@Nullable String why) {
    return new StateView(
        error,
        state,
        result,
        why,
        holder,
        onBehalfOf,
        token,
        attempts,
        at,
        retryAt,
        since,
        until,
        inTheWay);
  }

  StateView by(@Nullable String who, @Nullable Long itsToken) {
    return new StateView(
        error,
        state,
        result,
        cause,
        who,
        onBehalfOf,
        itsToken,
        attempts,
        at,
        retryAt,
        since,
        until,
        inTheWay);
  }
}
