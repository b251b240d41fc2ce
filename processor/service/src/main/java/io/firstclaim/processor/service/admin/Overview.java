package io.firstclaim.processor.service.admin;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.firstclaim.processor.audit.api.Minute;
import io.firstclaim.processor.audit.api.Violation;
import io.firstclaim.processor.service.acts.ActMessage;
import io.micronaut.core.annotation.Introspected;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What became of records in all zones, as the audit knows it.
 *
 * @param minutes of the last hour, by time and zone; a minute in which a zone did nothing is not
 *     there
 * @param dead records given up, and neither completed nor dismissed since; null where an instance
 *     that has some has not read the topic of acts
 * @param stuck records begun long ago and not settled since
 * @param violations records of which something is known that must not have happened
 * @param acknowledged how many of them an operator has seen, and needs no alert of; null as above
 * @param found some of them, the latest first
 * @param missing what is not in all this: instances of the zone that have a part and did not say,
 *     {@code host:port: why}, partitions that nobody is known to have, and instances that have not
 *     read the topic of acts
 */
@Introspected
@JsonInclude(JsonInclude.Include.ALWAYS)
record Overview(
    List<ZoneMinute> minutes,
    @Nullable Count dead,
    Count stuck,
    Count violations,
    @Nullable Long acknowledged,
    List<Breach> found,
    List<String> missing) {
  private static final int SHOWN = 20;

  /** Keeps copies. What another instance sends may lack anything. */
  Overview {
    Objects.requireNonNull(stuck, "it does not count the stuck");
    Objects.requireNonNull(violations, "it does not count the violations");
    minutes = List.copyOf(minutes);
    found = List.copyOf(found);
    missing = List.copyOf(missing);
  }

  /**
   * How many there are.
   *
   * @param count the least there are, if not all were counted
   * @param isAll whether all were counted
   */
  @Introspected
  record Count(long count, boolean isAll) {
    private Count orMore() {
      return new Count(count, false);
    }

    private Count plus(Count other) {
      return new Count(count + other.count, isAll && other.isAll);
    }
  }

  /**
   * Something that must not have happened.
   *
   * @param id of the record, printable
   * @param verdict what it is
   * @param at when the outcome was published that showed it, in ISO 8601
   * @param token of that outcome
   * @param otherToken that it contradicts
   * @param acknowledged who has seen it, and why it needs no alert; null if nobody said so
   */
  @Introspected
  @JsonInclude(JsonInclude.Include.ALWAYS)
  record Breach(
      String id,
      String verdict,
      String at,
      String zone,
      String instance,
      long token,
      long otherToken,
      @Nullable String acknowledged) {
    /** Checks what they are sorted by. */
    Breach {
      Objects.requireNonNull(at, "it was never published");
    }

    static Breach of(Violation violation, Optional<ActMessage.Acknowledged> seen) {
      return new Breach(
          violation.id().text(),
          violation.verdict().name(),
          violation.at().toString(),
          violation.outcome().zone(),
          violation.outcome().instance(),
          violation.outcome().token(),
          violation.otherToken(),
          seen.map(said -> said.by() + ": " + said.reason()).orElse(null));
    }
  }

  /**
   * This one and another, added up: no record is in both.
   *
   * @throws IllegalArgumentException if a minute cannot be added up
   */
  Overview plus(Overview other) {
    Map<String, Minute> rows = new TreeMap<>();
    Stream.concat(minutes.stream(), other.minutes.stream())
        .forEach(
            row -> {
              var _ = rows.merge(row.start() + ' ' + row.zone(), row.minute(), Minute::plus);
            });
    return new Overview(
        rows.values().stream().map(ZoneMinute::of).toList(),
        dead == null || other.dead == null ? null : dead.plus(other.dead),
        stuck.plus(other.stuck),
        violations.plus(other.violations),
        acknowledged == null || other.acknowledged == null
            ? null
            : acknowledged + other.acknowledged,
        latest(Stream.concat(found.stream(), other.found.stream())),
        Stream.concat(missing.stream(), other.missing.stream()).toList());
  }

  /** Those that nobody has acknowledged come first: they are what is to be done. */
  static List<Breach> latest(Stream<Breach> found) {
    return found
        .sorted(
            Comparator.comparing((Breach breach) -> breach.acknowledged() != null)
                .thenComparing(Breach::at, Comparator.reverseOrder()))
        .limit(SHOWN)
        .toList();
  }

  /** This one, when a part is missing: there are at least so many. */
  Overview without(String part) {
    return new Overview(
        minutes,
        dead == null ? null : dead.orMore(),
        stuck.orMore(),
        violations.orMore(),
        acknowledged,
        found,
        Stream.concat(missing.stream(), Stream.of(part)).toList());
  }

  /**
   * This one, where what operators have done is not known: who is dead may be dismissed, and what
   * was found may be acknowledged.
   *
   * @param part where, and why not
   */
  Overview withoutActs(String part) {
    return new Overview(
        minutes,
        null,
        stuck,
        violations,
        null,
        found,
        Stream.concat(missing.stream(), Stream.of(part)).toList());
  }

  /** As people see it. */
  Overview shown() {
    return new Overview(
        minutes.stream().map(ZoneMinute::withoutLatencies).toList(),
        dead,
        stuck,
        violations,
        acknowledged,
        found,
        missing);
  }
}
