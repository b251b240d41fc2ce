package io.firstclaim.processor.service.admin;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstclaim.processor.engine.api.Outcome;
import io.micronaut.core.annotation.Introspected;
import io.micronaut.http.annotation.QueryValue;
import java.net.URLEncoder;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Which records a search is for: those with an outcome for which all holds that is given.
 *
 * @param prefix what their IDs begin with
 * @param zone that published it
 * @param outcome its kind, in capitals or not
 * @param cause a part of its cause
 * @param since its first moment, in ISO 8601
 * @param until the moment before which it was
 */
@Introspected
record SearchFilter(
    @Nullable @QueryValue String prefix,
    @Nullable @QueryValue String zone,
    @Nullable @QueryValue String outcome,
    @Nullable @QueryValue String cause,
    @Nullable @QueryValue String since,
    @Nullable @QueryValue String until) {
  private static final List<String> OUTCOMES =
      Arrays.stream(Outcome.Kind.values()).map(Outcome.Kind::name).toList();

  /**
   * Does nothing if all that is given can be searched for.
   *
   * @throws Problem otherwise
   */
  void requireRight() {
    if (outcome != null && !OUTCOMES.contains(kind())) {
      throw Problem.wrong("outcome", outcome, "give one of " + String.join(", ", OUTCOMES));
    }
    requireMoment("since", since);
    requireMoment("until", until);
  }

  private static void requireMoment(String field, @Nullable String given) {
    try {
      Instant _ = given == null ? Instant.EPOCH : Instant.parse(given);
    } catch (DateTimeException e) {
      throw Problem.wrong(field, given, "give a moment such as 2026-11-22T21:00:00Z");
    }
  }

  private @Nullable String kind() {
    return outcome == null ? null : outcome.toUpperCase(Locale.ROOT);
  }

  /** What the IDs begin with. */
  byte[] prefixBytes() {
    return prefix == null || prefix.isEmpty() ? new byte[0] : Ids.ofText(prefix).bytes();
  }

  /** Whether this outcome is wanted. */
  boolean takes(Outcome given) {
    return (zone == null || given.zone().equals(zone))
        && (outcome == null || given.kind().name().equals(kind()))
        && (cause == null || (given.cause() != null && given.cause().contains(cause)))
        && (since == null || !given.at().isBefore(Instant.parse(since)))
        && (until == null || given.at().isBefore(Instant.parse(until)));
  }

  /** All that is given, as parameters of a request. */
  String query() {
    Map<String, @Nullable String> given = new TreeMap<>();
    given.put("prefix", prefix);
    given.put("zone", zone);
    given.put("outcome", outcome);
    given.put("cause", cause);
    given.put("since", since);
    given.put("until", until);
    return given.entrySet().stream()
        .filter(each -> each.getValue() != null)
        .map(each -> each.getKey() + "=" + URLEncoder.encode(each.getValue(), UTF_8))
        .collect(Collectors.joining("&"));
  }
}
