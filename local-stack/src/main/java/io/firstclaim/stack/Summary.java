package io.firstclaim.stack;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What came of the run: figures, what a person should know, and what is wrong.
 *
 * @param problems why the run failed; none if every record was processed once
 * @param verdict of a run without problems
 */
record Summary(List<String> figures, List<String> notes, List<String> problems, String verdict) {
  private static final int NAMED = 5;

  /** The run's durations. */
  record Times(Duration start, Duration work, Duration stop) {
    Duration total() {
      return start.plus(work).plus(stop);
    }
  }

  boolean isGood() {
    return problems.isEmpty();
  }

  static Summary of(EventFile file, Ledger ledger, List<Zone> zones, boolean killed, Times times) {
    String killable = zones.getFirst().name();
    return new Summary(
        figures(file, ledger, zones, times),
        notes(file, ledger, zones, killed),
        problems(ledger, killed, each -> killed && each.runs().getFirst().equals(killable)),
        verdict(ledger));
  }

  /**
   * The summary for zones that somebody else started, and may have ended or cut off at any time.
   */
  static Summary ofOthers(EventFile file, Ledger ledger, List<String> zones, Duration time) {
    List<String> lines = counts(file, ledger, zones);
    lines.add(line("Takeovers", "%,d", ledger.takeovers(), ""));
    lines.add(line("Time", "%.1f s", seconds(time), ""));
    List<String> notes = new ArrayList<>();
    long repeated = repeatedRuns(ledger);
    if (repeated > 0) {
      notes.add(
          "Handler runs repeated: %d (in the hands of a zone that was lost)".formatted(repeated));
    }
    long silent = count(ledger, Summary::isDoneWithoutOutcome);
    if (silent > 0) {
      notes.add("Settled by a zone that was lost before it published the outcome: " + silent);
    }
    return new Summary(lines, notes, problems(ledger, true, _ -> true), verdict(ledger));
  }

  /** This summary with problems found elsewhere, named first. */
  Summary with(List<String> others) {
    return new Summary(
        figures, notes, Stream.concat(others.stream(), problems.stream()).toList(), verdict);
  }

  /** This summary with what the audit found. */
  Summary with(AuditVerdict audit) {
    List<String> all = new ArrayList<>(figures);
    if (audit.isComplete()) {
      all.add(
          line(
              "Violations",
              "%,d",
              audit.violations(),
              "found by the audit of zone " + audit.zone()));
    }
    return new Summary(all, notes, problems, verdict).with(audit.problems());
  }

  private static String verdict(Ledger ledger) {
    long poison = count(ledger, Ledger.Entry::isPoison);
    return poison == 0
        ? "every record was completed exactly once"
        : "every record was completed exactly once, but %,d that always fail, which were given up"
            .formatted(poison);
  }

  /** Prints it all, and whether all is well. */
  void print(Terminal terminal) {
    terminal.say("");
    figures.forEach(terminal::say);
    terminal.say("");
    notes.forEach(note -> terminal.say("  " + note));
    problems.forEach(problem -> terminal.say("  FAILED: " + problem));
    if (isGood()) {
      terminal.say("  OK: " + verdict + ".");
    }
    terminal.say("");
  }

  private static List<String> figures(
      EventFile file, Ledger ledger, List<Zone> zones, Times times) {
    List<String> lines = counts(file, ledger, zones.stream().map(Zone::name).toList());
    long duplicates = zones.stream().mapToLong(Zone::duplicates).sum();
    lines.addAll(accounts(ledger, zones.size(), duplicates));
    lines.add(line("Takeovers", "%,d", ledger.takeovers(), ""));
    SortedMap<String, Long> requests = new TreeMap<>();
    for (Zone zone : zones) {
      zone.requests().forEach((op, n) -> requests.merge(op, n, Long::sum));
    }
    long all = requests.values().stream().mapToLong(Long::longValue).sum();
    String operations =
        requests.entrySet().stream()
            .map(each -> each.getKey() + " %,d".formatted(each.getValue()))
            .collect(Collectors.joining(", "));
    if (!requests.isEmpty()) {
      lines.add(
          line("Store requests", "%.2f", (double) all / ledger.size(), "a record; " + operations));
    }
    lines.add(
        line(
            "Time",
            "%.1f s",
            seconds(times.total()),
            "start %.1f s, work %.1f s, stop %.1f s"
                .formatted(seconds(times.start()), seconds(times.work()), seconds(times.stop()))));
    return lines;
  }

  private static List<String> counts(EventFile file, Ledger ledger, List<String> zones) {
    List<String> lines = new ArrayList<>();
    lines.add(line("Records", "%,d", ledger.size(), file.name()));
    lines.add(
        line(
            "Deliveries",
            "%,d",
            deliveries(ledger, zones.size()),
            "%,d published, %.2f of each record, each to %d zones"
                .formatted(
                    ledger.publications(),
                    (double) ledger.publications() / ledger.size(),
                    zones.size())));
    lines.add(line("Processed once", "%,d", count(ledger, each -> each.completions() == 1), ""));
    long poison = count(ledger, Ledger.Entry::isPoison);
    if (poison > 0) {
      long dead = count(ledger, each -> each.isPoison() && each.isDead());
      lines.add(line("Given up", "%,d", dead, "of %,d that always fail".formatted(poison)));
    }
    for (String zone : zones) {
      long done = ledger.completedBy(zone);
      lines.add(line("  by zone " + zone, "%,d", done, percent((double) done / ledger.size())));
    }
    return lines;
  }

  /**
   * What became of the deliveries that were not processed.
   *
   * @param duplicates how many the zones counted
   */
  static List<String> accounts(Ledger ledger, int zones, long duplicates) {
    long settled = count(ledger, Ledger.Entry::isSettled);
    long others = deliveries(ledger, zones) - settled - duplicates;
    List<String> lines = new ArrayList<>();
    String all = others == 0 ? ": all the others" : "";
    lines.add(line("Duplicates", "%,d", duplicates, "suppressed" + all));
    if (others > 0) {
      lines.add(line("Other deliveries", "%,d", others, "not counted by a zone"));
    } else if (others < 0) {
      lines.add(
          line("Read again", "%,d", -others, "of these, for their offsets were not committed"));
    }
    return lines;
  }

  /** Every zone has a consumer group of its own. */
  private static long deliveries(Ledger ledger, int zones) {
    return (long) ledger.publications() * zones;
  }

  private static List<String> notes(
      EventFile file, Ledger ledger, List<Zone> zones, boolean killed) {
    List<String> notes = new ArrayList<>();
    if (file.digested() > 0) {
      notes.add(
          "%,d documents have no id; their record ID is the SHA-256 of the line"
              .formatted(file.digested()));
    }
    if (file.repeatedLines() > 0) {
      notes.add(
          "Lines that are the same as an earlier one: %,d (one record, published as often)"
              .formatted(file.repeatedLines()));
    }
    if (killed) {
      long repeated = repeatedRuns(ledger);
      notes.add(
          "Handler runs repeated after the kill: %d (in the killed zone's hands: at least once)"
              .formatted(repeated));
      long silent = count(ledger, each -> isDoneWithoutOutcome(each));
      if (silent > 0) {
        notes.add(
            "Settled in zone %s's last moment, its outcome unpublished: %d"
                .formatted(zones.getFirst().name(), silent));
      }
      notes.add("Duplicates of the killed process are counted up to a second before the kill");
    }
    return notes;
  }

  private static long repeatedRuns(Ledger ledger) {
    return ledger.entries().stream().mapToInt(each -> Math.max(0, each.runs().size() - 1)).sum();
  }

  /**
   * What is wrong.
   *
   * @param lossy whether zones were lost
   * @param excused records that may have been handled more than once
   */
  private static List<String> problems(
      Ledger ledger, boolean lossy, Predicate<Ledger.Entry> excused) {
    List<String> problems = new ArrayList<>();
    Predicate<Ledger.Entry> unprocessed =
        each -> !each.isSettled() && !(lossy && isDoneWithoutOutcome(each));
    add(problems, ledger, "not completed", unprocessed);
    add(problems, ledger, "completed more than once", each -> each.completions() > 1);
    add(problems, ledger, "dead-lettered", each -> each.isDead() && !each.isPoison());
    add(
        problems,
        ledger,
        "completed, which always fail",
        each -> each.isPoison() && each.completions() > 0);
    add(
        problems,
        ledger,
        "handled more than once",
        each -> each.runs().size() > 1 && !excused.test(each));
    add(
        problems,
        ledger,
        "completed without a handler run",
        each -> each.completions() > 0 && each.runs().isEmpty());
    if (ledger.mismatches() > 0) {
      problems.add("%,d mismatches of payload".formatted(ledger.mismatches()));
    }
    if (ledger.strangers() > 0) {
      problems.add("%,d runs or outcomes of unknown IDs".formatted(ledger.strangers()));
    }
    return problems;
  }

  /** Handled, and every offset is settled, but the killed zone's outcome was never seen. */
  private static boolean isDoneWithoutOutcome(Ledger.Entry each) {
    return !each.isSettled() && !each.runs().isEmpty();
  }

  private static void add(
      List<String> problems, Ledger ledger, String what, Predicate<Ledger.Entry> wrong) {
    Collection<String> ids =
        ledger.entries().stream().filter(wrong).map(each -> each.event().id()).toList();
    if (!ids.isEmpty()) {
      String some = ids.stream().limit(NAMED).collect(Collectors.joining(", "));
      String more = ids.size() > NAMED ? ", ..." : "";
      problems.add("%,d records %s: %s%s".formatted(ids.size(), what, some, more));
    }
  }

  private static long count(Ledger ledger, Predicate<Ledger.Entry> wanted) {
    return ledger.entries().stream().filter(wanted).count();
  }

  private static String line(String name, String format, Object value, String remark) {
    return String.format(Locale.ROOT, "  %-16s%10s   %s", name, format.formatted(value), remark)
        .stripTrailing();
  }

  private static String percent(double share) {
    return "%.1f %%".formatted(100 * share);
  }

  private static double seconds(Duration duration) {
    return duration.toMillis() / 1000.0;
  }
}
