package io.firstclaim.processor.service.claims;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.store.DrivenClaimStore;
import io.firstclaim.processor.engine.setting.Syntax;
import io.firstclaim.processor.service.admin.Problem;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import org.jspecify.annotations.Nullable;

/** What requests say of times, and within which bounds. */
final class Terms {
  /** The longest lease: whoever dies keeps others out for as long. */
  static final Duration LONGEST_LEASE = Duration.ofHours(1);

  /** The longest wait that may be asked for. */
  private static final Duration LONGEST_WAIT = Duration.ofHours(1);

  /**
   * How long a request waits at most, whatever it asks for: then it is answered, and sent again.
   */
  static final Duration WAITS_AT_MOST = Duration.ofSeconds(25);

  private Terms() {}

  /**
   * The same store, for this holder and this length of a lease.
   *
   * @param lease as the request has it; null for that of the settings
   * @throws Problem if it is too short or too long
   */
  static DrivenClaimStore store(DrivenClaimStore store, String holder, @Nullable String lease) {
    ClaimSettings settings = store.settings();
    if (lease == null) {
      return store.forHolder(holder, settings.lease());
    }
    Duration asked = length("lease", lease);
    Duration most =
        settings.retention().compareTo(LONGEST_LEASE) < 0 ? settings.retention() : LONGEST_LEASE;
    if (asked.compareTo(most) > 0) {
      throw Problem.wrong(
          "lease", lease, "give %s at most, and renew it meanwhile".formatted(text(most)));
    }
    try {
      return store.forHolder(holder, asked);
    } catch (IllegalArgumentException e) {
      throw Problem.wrong(
          "lease",
          lease,
          "give %s at least, three times firstclaim.claim.max-skew"
              .formatted(text(settings.maxSkew().multipliedBy(3))));
    }
  }

  /** How long a request may wait, of what it asks for; not at all if it does not say. */
  static Duration patience(@Nullable String wait) {
    if (wait == null) {
      return Duration.ZERO;
    }
    Duration asked = duration("wait", wait);
    if (asked.compareTo(LONGEST_WAIT) > 0) {
      throw Problem.wrong(
          "wait", wait, "give %s at most, and ask again".formatted(text(LONGEST_WAIT)));
    }
    return asked.compareTo(WAITS_AT_MOST) < 0 ? asked : WAITS_AT_MOST;
  }

  /**
   * When something is due.
   *
   * @param latest the latest that may be given
   */
  static Instant instant(String field, String given, Instant latest) {
    try {
      Instant instant = Instant.parse(given);
      if (!instant.isAfter(latest)) {
        return instant.isBefore(ClaimStore.AT_ONCE) ? ClaimStore.AT_ONCE : instant;
      }
    } catch (DateTimeParseException e) {
      throw Problem.wrong(field, given, "give a time such as 2026-11-23T12:00:00Z");
    }
    throw Problem.wrong(field, given, "give a time before " + latest);
  }

  private static Duration length(String field, String given) {
    return parsed(Syntax.LENGTH, field, given);
  }

  private static Duration duration(String field, String given) {
    return parsed(Syntax.DURATION, field, given);
  }

  private static Duration parsed(Syntax<Duration> syntax, String field, String given) {
    try {
      return syntax.parse(given);
    } catch (IllegalArgumentException e) {
      throw Problem.wrong(field, given, String.valueOf(e.getMessage()));
    }
  }

  /** A duration as it is written in requests, settings and answers. */
  static String text(Duration duration) {
    return Syntax.DURATION.text(duration);
  }

  /** A duration for {@code Retry-After}: whole seconds, one at least. */
  static String retryAfter(Duration duration) {
    return Long.toString(Math.max(1, duration.plusNanos(999_999_999).toSeconds()));
  }
}
