package io.firstclaim.processor.service.claims;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.Ending;
import io.micronaut.core.annotation.Introspected;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where a claim or a lock stands; with an {@code error} if that is not what was asked for: what is
 * the matter, and what helps.
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
sealed interface StateView {
  /** FREE, HELD, BLOCKED, DONE, DEAD, LOST, MISMATCH or ABSENT. */
  @JsonProperty("state")
  String state();

  /**
   * Nobody has it.
   *
   * @param token of the last grant
   * @param attempts how many there were
   * @param retryAt when the next attempt is due; missing for at once
   */
  @Introspected
  record Free(
      @Nullable String error,
      @Nullable Long token,
      @Nullable Integer attempts,
      @Nullable String retryAt)
      implements StateView {
    /** Free at once, as was asked for. */
    static final Free AT_ONCE = new Free(null, null, null, null);

    @Override
    public String state() {
      return "FREE";
    }
  }

  /**
   * Somebody has it.
   *
   * @param onBehalfOf of what
   * @param since since when
   * @param until when the lease ends, unless it is renewed
   */
  @Introspected
  record Held(
      @Nullable String error,
      String holder,
      @Nullable String onBehalfOf,
      long token,
      @Nullable String since,
      @Nullable String until)
      implements StateView {
    @Override
    public String state() {
      return "HELD";
    }
  }

  /**
   * It is nobody's, but others hold what was to be claimed with it.
   *
   * @param inTheWay what that is
   */
  @Introspected
  record Blocked(String error, List<InTheWayView> inTheWay) implements StateView {
    @Override
    public String state() {
      return "BLOCKED";
    }
  }

  /**
   * It is done.
   *
   * @param result what was stored with the completion
   * @param holder who has done it
   * @param at when
   */
  @Introspected
  record Done(
      @Nullable String result,
      @Nullable String holder,
      @Nullable Long token,
      @Nullable Integer attempts,
      @Nullable String at)
      implements StateView {
    static Done of(@Nullable String result, Ending ending) {
      return new Done(
          result, ending.by(), ending.token(), ending.attempt(), ending.at().toString());
    }

    /** Done by the caller, just now. */
    static Done now(@Nullable String result) {
      return new Done(result, null, null, null, null);
    }

    @Override
    public String state() {
      return "DONE";
    }
  }

  /**
   * It was given up.
   *
   * @param cause why
   * @param holder who gave it up
   * @param at when
   */
  @Introspected
  record Dead(
      @Nullable String error,
      String cause,
      @Nullable String holder,
      @Nullable Long token,
      @Nullable Integer attempts,
      @Nullable String at)
      implements StateView {
    static Dead of(String error, String cause, Ending ending) {
      return new Dead(
          error, cause, ending.by(), ending.token(), ending.attempt(), ending.at().toString());
    }

    /** Given up by the caller, just now. */
    static Dead now(String cause) {
      return new Dead(null, cause, null, null, null, null);
    }

    @Override
    public String state() {
      return "DEAD";
    }
  }

  /**
   * The handle is not the holder's.
   *
   * @param holder who has it, or has ended it; missing if nobody has
   */
  @Introspected
  record Lost(String error, @Nullable String holder) implements StateView {
    @Override
    public String state() {
      return "LOST";
    }
  }

  /** Its ID is known with another payload. */
  @Introspected
  record Mismatch(String error) implements StateView {
    @Override
    public String state() {
      return "MISMATCH";
    }
  }

  /** There is none. */
  @Introspected
  record Absent() implements StateView {
    @Override
    public String state() {
      return "ABSENT";
    }
  }

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
}
