package io.firstclaim.stack;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SummaryTest {
  private static final Summary.Times TIMES =
      new Summary.Times(Duration.ofSeconds(5), Duration.ofSeconds(6), Duration.ofSeconds(1));

  private final EventFile file =
      new EventFile("events.jsonl", List.of(new Event("1", "{}"), new Event("2", "{}")), 0);
  private final Ledger ledger = new Ledger(file.events());
  private final List<Zone> zones = List.of(zone("a"), zone("b"));

  private static Zone zone(String name) {
    return new Zone(
        name,
        Path.of("none.jar"),
        Backend.DYNAMODB,
        new Backend.Server(Optional.of(URI.create("http://127.0.0.1:1")), Map.of(), () -> {}),
        Path.of("."),
        Map.of());
  }

  @AfterEach
  void close() {
    zones.forEach(Zone::close);
  }

  @Test
  void everyRecordOnce_isGood() {
    process("1", "a");
    process("2", "b");
    ledger.entries().forEach(each -> assertThat(each.published()).isEqualTo(1));

    Summary summary = summary(false);
    assertThat(summary.problems()).isEmpty();
    assertThat(summary.figures())
        .contains("  Processed once           2", "    by zone a              1   50.0 %")
        .contains(
            "  Deliveries               4   2 published, 1.00 of each record, each to 2 zones");
  }

  @Test
  void deliveries_areTheProcessedOnes_theDuplicatesAndTheOthers() {
    process("1", "a");
    process("2", "b");
    ledger.entries().forEach(each -> assertThat(each.published()).isEqualTo(1));

    assertThat(Summary.accounts(ledger, 2, 2))
        .containsExactly("  Duplicates               2   suppressed: all the others");
    assertThat(Summary.accounts(ledger, 2, 1))
        .containsExactly(
            "  Duplicates               1   suppressed",
            "  Other deliveries         1   not counted by a zone");
    assertThat(Summary.accounts(ledger, 2, 5))
        .containsExactly(
            "  Duplicates               5   suppressed",
            "  Read again               3   of these, for their offsets were not committed");
  }

  @Test
  void repeatedLines_areNamed() {
    EventFile repeating = new EventFile("events.jsonl", List.of(new Event("1", "{}", 3)), 0);
    assertThat(Summary.of(repeating, ledger, zones, false, TIMES).notes())
        .containsExactly(
            "Lines that are the same as an earlier one: 2 (one record, published as often)");
  }

  @Test
  void missingCompletion_isAProblem() {
    process("1", "a");
    assertThat(summary(false).problems()).containsExactly("1 records not completed: 2");
  }

  @Test
  void secondCompletion_isAProblem_alsoAfterAKill() {
    process("1", "a");
    process("2", "a");
    ledger.outcome("2", "COMPLETED", "b", 2);
    assertThat(summary(true).problems()).containsExactly("1 records completed more than once: 2");
  }

  @Test
  void completion_thatTheOtherZoneAnnouncedToo_isOne() {
    process("1", "a");
    process("2", "a");
    ledger.outcome("2", "COMPLETED", "a", 1);
    assertThat(summary(false).problems()).isEmpty();
  }

  @Test
  void secondRun_isAProblem_unlessItsZoneWasKilled() {
    process("1", "a");
    ledger.ran("2", "a");
    ledger.outcome("2", "TAKEN_OVER", "b", 1);
    process("2", "b");

    assertThat(summary(false).problems()).containsExactly("1 records handled more than once: 2");
    assertThat(summary(true).problems()).isEmpty();
    assertThat(summary(true).notes()).anyMatch(note -> note.contains("after the kill: 1 "));
  }

  @Test
  void secondRun_ofTheOtherZone_isAProblem_alsoAfterAKill() {
    process("1", "a");
    ledger.ran("2", "b");
    process("2", "b");
    assertThat(summary(true).problems()).containsExactly("1 records handled more than once: 2");
  }

  @Test
  void deadLetterMismatchAndStranger_areProblems() {
    process("1", "a");
    ledger.ran("2", "a");
    ledger.outcome("2", "DEAD", "a", 1);
    ledger.outcome("1", "MISMATCH", "a", 1);
    ledger.outcome("3", "COMPLETED", "a", 1);
    assertThat(summary(false).problems())
        .containsExactly(
            "1 records dead-lettered: 2",
            "1 mismatches of payload",
            "1 runs or outcomes of unknown IDs");
  }

  @Test
  void recordThatAlwaysFails_isGivenUp_andCountedSo() {
    Ledger poisoned = new Ledger(file.events(), 2);
    assertThat(poisoned.isPoison("1")).isFalse();
    assertThat(poisoned.isPoison("2")).isTrue();
    poisoned.ran("1", "a");
    poisoned.outcome("1", "COMPLETED", "a", 1);
    poisoned.ran("2", "b");
    poisoned.outcome("2", "DEAD", "b", 1);

    Summary good = Summary.of(file, poisoned, zones, false, TIMES);
    assertThat(good.problems()).isEmpty();
    assertThat(good.figures()).contains("  Given up                 1   of 1 that always fail");
    assertThat(good.verdict()).endsWith("but 1 that always fail, which were given up");

    poisoned.outcome("2", "COMPLETED", "b", 2);
    assertThat(Summary.of(file, poisoned, zones, false, TIMES).problems())
        .containsExactly("1 records completed, which always fail: 2");
  }

  @Test
  void zonesThatWereLost_leaveNotes_butNoSecondCompletion() {
    process("1", "a");
    ledger.ran("2", "b");
    ledger.ran("2", "a");

    Summary lost = Summary.ofOthers(file, ledger, List.of("a", "b"), Duration.ofSeconds(6));
    assertThat(lost.problems()).isEmpty();
    assertThat(lost.notes())
        .containsExactly(
            "Handler runs repeated: 1 (in the hands of a zone that was lost)",
            "Settled by a zone that was lost before it published the outcome: 1");

    ledger.outcome("1", "COMPLETED", "b", 2);
    assertThat(Summary.ofOthers(file, ledger, List.of("a", "b"), Duration.ofSeconds(6)).problems())
        .containsExactly("1 records completed more than once: 1");
  }

  @Test
  void offsetsThatAreLeft_areAProblem() {
    process("1", "a");
    process("2", "b");
    assertThat(summary(false).with(List.of("firstclaim-a has 1 offsets left")).isGood()).isFalse();
  }

  @Test
  void audit_thatFoundSomething_orDidNotGetThrough_isAProblem() {
    process("1", "a");
    process("2", "b");
    Summary good = summary(false).with(new AuditVerdict("b", true, 0));
    assertThat(good.isGood()).isTrue();
    assertThat(good.figures().getLast())
        .isEqualTo("  Violations               0   found by the audit of zone b");
    assertThat(summary(false).with(new AuditVerdict("b", true, 2)).problems())
        .containsExactly("2 violations, see the topic firstclaim.violations");
    assertThat(summary(false).with(new AuditVerdict("b", false, 0)).problems())
        .containsExactly("the audit of zone b did not read all outcomes in time");
  }

  private void process(String id, String zone) {
    ledger.ran(id, zone);
    ledger.outcome(id, "COMPLETED", zone, 1);
  }

  private Summary summary(boolean killed) {
    return Summary.of(file, ledger, zones, killed, TIMES);
  }
}
