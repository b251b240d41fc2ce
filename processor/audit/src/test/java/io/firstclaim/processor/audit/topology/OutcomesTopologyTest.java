package io.firstclaim.processor.audit.topology;

import static io.firstclaim.processor.engine.api.Outcome.Kind.BLOCKED;
import static io.firstclaim.processor.engine.api.Outcome.Kind.COMPLETED;
import static io.firstclaim.processor.engine.api.Outcome.Kind.DEAD;
import static io.firstclaim.processor.engine.api.Outcome.Kind.FAILED;
import static io.firstclaim.processor.engine.api.Outcome.Kind.LEASE_LOST;
import static io.firstclaim.processor.engine.api.Outcome.Kind.MISMATCH;
import static io.firstclaim.processor.engine.api.Outcome.Kind.TAKEN_OVER;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.RecordId;
import io.firstclaim.processor.audit.api.Dead;
import io.firstclaim.processor.audit.api.Latencies;
import io.firstclaim.processor.audit.api.Minute;
import io.firstclaim.processor.audit.api.Stuck;
import io.firstclaim.processor.engine.api.Outcome;
import io.firstclaim.processor.engine.api.OutcomeMessage;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.stream.IntStream;
import org.HdrHistogram.Histogram;
import org.apache.kafka.common.header.Headers;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class OutcomesTopologyTest {
  private static final Fingerprint OTHER_PAYLOAD = Fingerprint.of(new byte[] {2});

  @TempDir Path directory;
  private TestAudit audit;

  @BeforeEach
  void start() {
    audit = new TestAudit(directory);
  }

  @AfterEach
  void close() {
    audit.close();
  }

  @Test
  void recordThatIsCompleted_hasItsHistory_andIsNoViolation() {
    Outcome failed =
        TestAudit.outcome("order-1", FAILED, "b", 1, audit.now(), Duration.ofMillis(3), "no luck");
    audit.publish(failed);
    audit.publish("order-1", TAKEN_OVER, 2);
    audit.publish("order-1", COMPLETED, 2);

    assertThat(audit.kinds("order-1")).containsExactly(FAILED, TAKEN_OVER, COMPLETED);
    assertThat(audit.history("order-1").getFirst()).isEqualTo(failed);
    assertThat(audit.verdicts()).isEmpty();
    assertThat(audit.history("order-2")).isEmpty();
  }

  @Test
  void secondCompletion_withAnotherToken_isAViolation() {
    audit.publish("order-1", COMPLETED, 1);
    audit.publish("order-1", COMPLETED, 2);

    assertThat(audit.verdicts()).containsExactly("order-1 COMPLETED_TWICE");
  }

  @Test
  void secondCompletion_withAnotherPayload_isAViolation() {
    audit.publish("order-1", COMPLETED, 1);
    audit.publish(audit.outcome("order-1", COMPLETED, 1), OTHER_PAYLOAD);

    assertThat(audit.verdicts()).containsExactly("order-1 COMPLETED_TWICE");
  }

  @Test
  void completionThatIsAnnouncedTwice_countsOnce() {
    Instant minute = audit.now();
    audit.publish("order-1", COMPLETED, 1);
    audit.publish("order-1", COMPLETED, 1);

    assertThat(audit.verdicts()).isEmpty();
    assertThat(audit.kinds("order-1")).containsExactly(COMPLETED);
    assertThat(audit.minute("a", minute).completed()).isEqualTo(1);
  }

  /** As the claim was lost: a record's first token is 1, again. */
  @Test
  void secondCompletion_withTheSameToken_byAnother_isAViolation_andIsAnnouncedTwiceAsTheFirst() {
    Outcome first = audit.outcome("order-1", COMPLETED, 1);
    Outcome second =
        TestAudit.outcome(
            "order-1", COMPLETED, "b", 1, audit.now(), Duration.ofMillis(3), "x".repeat(3000));
    audit.publish(first);
    audit.publish(second);

    assertThat(audit.verdicts()).containsExactly("order-1 COMPLETED_TWICE");
    assertThat(audit.kinds("order-1")).containsExactly(COMPLETED, COMPLETED);
    audit.publish(first);
    audit.publish(second);
    assertThat(audit.verdicts()).isEmpty();
    assertThat(audit.kinds("order-1")).hasSize(2);
  }

  @Test
  void completionAfterTheRetention_isNone() {
    audit.publish("order-1", COMPLETED, 2);
    audit.pass(TestAudit.RETENTION);
    audit.publish("order-1", COMPLETED, 1);

    assertThat(audit.verdicts()).isEmpty();
  }

  @Test
  void completionWithinTheRetention_isFound_howeverLongAgo() {
    audit.publish("order-1", COMPLETED, 1);
    audit.pass(TestAudit.RETENTION.minusMinutes(2));
    audit.publish("order-1", COMPLETED, 2);

    assertThat(audit.verdicts()).containsExactly("order-1 COMPLETED_TWICE");
  }

  @ParameterizedTest
  @EnumSource(names = {"COMPLETED", "DEAD", "TAKEN_OVER"})
  void tokenThatGoesBack_isAViolation(Outcome.Kind kind) {
    audit.publish("order-1", TAKEN_OVER, 5);
    audit.pass(Duration.ofSeconds(1));
    audit.publish("order-1", kind, 4);

    assertThat(audit.verdicts()).containsExactly("order-1 TOKEN_WENT_BACK");
  }

  @Test
  void takeoverThatIsAnnouncedLate_isNoViolation() {
    Outcome late = audit.outcome("order-1", TAKEN_OVER, 4);
    audit.pass(Duration.ofMinutes(1));
    audit.publish("order-1", TAKEN_OVER, 5);
    audit.publish(late);
    audit.publish("order-1", COMPLETED, 5);

    assertThat(audit.verdicts()).isEmpty();
  }

  @Test
  void tokensOfAnotherPayload_areAnotherRecords() {
    audit.publish("order-1", TAKEN_OVER, 5);
    audit.publish("order-1", COMPLETED, 5);
    audit.pass(Duration.ofSeconds(1));
    audit.publish(audit.outcome("order-1", TAKEN_OVER, 2), OTHER_PAYLOAD);
    audit.publish(audit.outcome("order-1", MISMATCH, 2), OTHER_PAYLOAD);

    assertThat(audit.verdicts()).isEmpty();
    assertThat(audit.kinds("order-1")).containsExactly(TAKEN_OVER, COMPLETED, TAKEN_OVER, MISMATCH);
  }

  @Test
  void completionByALostLease_isFound_inEitherOrder() {
    audit.publish("order-1", LEASE_LOST, 3);
    audit.publish("order-1", COMPLETED, 3);
    audit.publish("order-2", COMPLETED, 3);
    audit.publish("order-2", LEASE_LOST, 3);

    assertThat(audit.verdicts())
        .containsExactly("order-1 COMPLETED_BY_LOST_LEASE", "order-2 COMPLETED_BY_LOST_LEASE");
  }

  @Test
  void higherTokenAfterACompletion_saysThatItsLeaseWasLost() {
    audit.publish("order-1", COMPLETED, 3);
    audit.publish("order-1", TAKEN_OVER, 4);

    assertThat(audit.verdicts()).containsExactly("order-1 COMPLETED_BY_LOST_LEASE");
  }

  @Test
  void leaseThatWasLost_isNoViolation_ifAnotherCompletes() {
    audit.publish("order-1", TAKEN_OVER, 2);
    audit.publish("order-1", LEASE_LOST, 1);
    audit.publish("order-1", COMPLETED, 2);
    audit.publish("order-1", LEASE_LOST, 1);

    assertThat(audit.verdicts()).isEmpty();
  }

  @Test
  void redrivenRecord_isNoViolation_norIsALateWordOfItsOldEnd() {
    audit.publish("order-1", DEAD, 3);
    audit.publish("order-1", COMPLETED, 5);
    audit.publish("order-1", DEAD, 3);

    assertThat(audit.verdicts()).isEmpty();
    assertThat(audit.kinds("order-1")).containsExactly(DEAD, COMPLETED);
    assertThat(audit.dead()).isEmpty();
  }

  @Test
  void violation_saysWhatAndWhose_andIsKept() {
    audit.publish("order-1", COMPLETED, 1);
    audit.pass(Duration.ofSeconds(1));
    audit.publish(
        TestAudit.outcome("order-1", COMPLETED, "b", 2, audit.now(), Duration.ZERO, null));

    JsonNode json = audit.violationMessages().getFirst();
    assertThat(json.get("id").asText()).isEqualTo("order-1");
    assertThat(json.get("verdict").asText()).isEqualTo("COMPLETED_TWICE");
    assertThat(json.get("zone").asText()).isEqualTo("b");
    assertThat(json.get("instance").asText()).isEqualTo("b1");
    assertThat(json.get("token").asLong()).isEqualTo(2);
    assertThat(json.get("otherToken").asLong()).isEqualTo(1);
    assertThat(audit.list(Stores.VIOLATIONS, Stores::violation))
        .singleElement()
        .satisfies(kept -> assertThat(kept.at()).isEqualTo(audit.now()));

    audit.pass(TestAudit.RETENTION.plusMinutes(2));
    assertThat(audit.list(Stores.VIOLATIONS, Stores::violation)).isEmpty();
    audit.publish("order-2", COMPLETED, 1);
    audit.pass(Duration.ofMinutes(1));
    assertThat(audit.rows(Stores.VIOLATIONS)).isZero();
  }

  /** An operator may have acknowledged the first one. */
  @Test
  void violationAfterAnother_takesItsPlace() {
    audit.publish("order-1", COMPLETED, 1);
    audit.publish("order-1", COMPLETED, 2);
    audit.pass(Duration.ofHours(1));
    audit.publish("order-1", COMPLETED, 3);

    assertThat(audit.list(Stores.VIOLATIONS, Stores::violation))
        .singleElement()
        .satisfies(kept -> assertThat(kept.at()).isEqualTo(audit.now()))
        .satisfies(kept -> assertThat(kept.outcome().token()).isEqualTo(3));
  }

  @Test
  void outcomesOfOthers_sayNothing() {
    byte[] key = "order-1".getBytes(UTF_8);
    byte[] value = audit.outcome("order-1", COMPLETED, 1).json();
    Fingerprint payload = Fingerprint.of(new byte[] {1});
    audit.publish(key, value, TestAudit.headers("store-2", payload), audit.now());
    for (String header :
        List.of(
            OutcomeMessage.APPLICATION,
            OutcomeMessage.NAMESPACE,
            OutcomeMessage.STORE,
            OutcomeMessage.FINGERPRINT)) {
      Headers other = TestAudit.headers(TestAudit.STORE, payload);
      other.remove(header);
      audit.publish(key, value, other, audit.now());
      other.add(header, "another".getBytes(UTF_8));
      audit.publish(key, value, other, audit.now());
    }
    Headers presence = TestAudit.headers(TestAudit.STORE, payload);
    presence.add(OutcomeMessage.PRESENCE, new byte[] {1});
    audit.publish(key, value, presence, audit.now());

    assertThat(audit.history("order-1")).isEmpty();
    assertThat(audit.minute("a", audit.now()).completed()).isZero();
  }

  @ParameterizedTest
  @EnumSource(names = {"TAKEN_OVER", "FAILED", "LEASE_LOST", "BLOCKED"})
  void recordThatWasBegun_isStuckAfterTheLimit_untilItIsSettled(Outcome.Kind kind) {
    audit.publish("order-1", kind, kind == BLOCKED ? 0 : 2);
    Instant begun = audit.now();
    audit.pass(TestAudit.STUCK_AFTER);
    assertThat(audit.stuck()).isEmpty();

    audit.pass(Duration.ofMillis(1));
    assertThat(audit.stuck())
        .singleElement()
        .satisfies(
            stuck -> {
              assertThat(stuck.since()).isEqualTo(begun);
              assertThat(stuck.last().kind()).isEqualTo(kind);
            });

    audit.publish("order-1", FAILED, 3);
    assertThat(audit.stuck()).extracting(Stuck::since).containsExactly(begun);
    audit.publish("order-1", COMPLETED, 4);
    assertThat(audit.stuck()).isEmpty();
  }

  /** As over HTTP, by a holder that names no zone; a zone has announced it. */
  @Test
  void endThatWasMadeOutsideTheZones_settlesARecord_andCountsForNoZone() {
    audit.publish("order-1", FAILED, 2);
    audit.publish("order-2", FAILED, 2);
    audit.pass(Duration.ofHours(1));
    assertThat(audit.stuck()).hasSize(2);
    int rows = audit.minutes().size();

    audit.publish(TestAudit.outcome("order-1", COMPLETED, "", 3, audit.now(), Duration.ZERO, null));
    audit.publish(TestAudit.outcome("order-2", DEAD, "", 3, audit.now(), Duration.ZERO, "no use"));

    assertThat(audit.stuck()).isEmpty();
    assertThat(audit.dead()).extracting(Dead::id).containsExactly(RecordId.of("order-2"));
    assertThat(audit.verdicts()).isEmpty();
    assertThat(audit.minutes()).as("of zone a alone").hasSize(rows);
  }

  @Test
  void wordThatComesLate_beginsNoRecordAnew() {
    audit.publish("order-1", COMPLETED, 4);
    audit.publish("order-1", BLOCKED, 0);
    audit.publish("order-1", FAILED, 2);
    audit.publish("order-2", DEAD, 4);
    audit.publish("order-2", LEASE_LOST, 3);
    audit.pass(Duration.ofHours(1));

    assertThat(audit.stuck()).isEmpty();
    assertThat(audit.dead()).hasSize(1);
  }

  @Test
  void stuckRecord_isForgotten_whenTheStoreForgetsIt() {
    audit.publish("order-1", FAILED, 2);
    audit.pass(TestAudit.RETENTION.plusMinutes(2));
    assertThat(audit.stuck()).isEmpty();

    audit.publish("order-2", COMPLETED, 1);
    audit.pass(Duration.ofMinutes(1));
    assertThat(audit.rows(Stores.OPEN)).isZero();
  }

  @Test
  void clockThatIsAheadForAWhile_hasNothingForgotten() {
    audit.publish("order-1", DEAD, 2);
    audit.publish("order-2", FAILED, 2);
    audit.publish("order-3", COMPLETED, 1);
    audit.publish("order-3", COMPLETED, 2);
    audit.runAhead(TestAudit.RETENTION.plusHours(1));
    audit.pass(Duration.ofHours(1));
    audit.publish("order-4", COMPLETED, 1);

    assertThat(audit.dead()).hasSize(1);
    assertThat(audit.stuck()).hasSize(1);
    assertThat(audit.list(Stores.VIOLATIONS, Stores::violation)).hasSize(1);
  }

  @Test
  void recordGivenUp_isListedAsDead_untilItIsTriedAgain() {
    Instant at = audit.now();
    Outcome dead = TestAudit.outcome("order-1", DEAD, "b", 5, at, Duration.ZERO, "it is broken");
    audit.publish(dead);
    audit.pass(Duration.ofHours(1));
    audit.publish("order-1", LEASE_LOST, 4);
    assertThat(audit.dead())
        .singleElement()
        .satisfies(
            listed -> {
              assertThat(listed.since()).isEqualTo(at);
              assertThat(listed.last()).isEqualTo(dead);
            });

    audit.publish("order-1", FAILED, 7);
    assertThat(audit.dead()).isEmpty();
    audit.publish("order-1", DEAD, 8);
    assertThat(audit.dead()).extracting(Dead::last).extracting(Outcome::token).containsExactly(8L);
  }

  @Test
  void history_isBounded_andKeepsWhatVerdictsRestOn() {
    audit.publish("order-1", TAKEN_OVER, 2);
    for (int i = 0; i < 200; i++) {
      audit.publish("order-1", FAILED, 2 + i);
    }
    audit.publish("order-1", COMPLETED, 300);

    assertThat(audit.kinds("order-1"))
        .hasSize(RecordState.MAX_EVENTS)
        .startsWith(TAKEN_OVER, FAILED)
        .endsWith(FAILED, COMPLETED);
    assertThat(audit.verdicts()).isEmpty();
  }

  @Test
  void recordThatSaysAgainAndAgainThatItWaits_isRememberedOnce() {
    for (int i = 0; i < 100; i++) {
      audit.publish("order-1", BLOCKED, 0);
    }
    audit.publish("order-1", COMPLETED, 1);

    assertThat(audit.kinds("order-1")).containsExactly(BLOCKED, COMPLETED);
  }

  @Test
  void longTexts_areCut() {
    Outcome outcome =
        TestAudit.outcome(
            "order-1", FAILED, "a", 1, audit.now(), Duration.ZERO, "why ".repeat(100_000));
    audit.publish(outcome);

    assertThat(audit.history("order-1").getFirst().cause()).hasSizeLessThan(600);
  }

  @Test
  void minutes_countByZone_andTellHowLongHandlersRan() {
    Instant first = audit.now();
    for (int i = 1; i <= 100; i++) {
      audit.publish(
          TestAudit.outcome(
              "order-" + i, COMPLETED, "a", 1, audit.now(), Duration.ofMillis(i * 10L), null));
    }
    audit.publish(
        TestAudit.outcome("x", COMPLETED, "b", 1, audit.now(), Duration.ofMillis(7), null));
    audit.publish("y", TAKEN_OVER, 1);
    audit.publish("y", FAILED, 1);
    audit.publish("y", LEASE_LOST, 1);
    audit.publish("y", DEAD, 2);
    audit.publish("z", MISMATCH, 2);
    audit.pass(Duration.ofMinutes(1));
    audit.publish("w", COMPLETED, 1);

    Minute minute = audit.minute("a", first);
    assertThat(minute.completed()).isEqualTo(100);
    assertThat(minute.takeovers()).isEqualTo(1);
    assertThat(minute.failures()).isEqualTo(1);
    assertThat(minute.lost()).isEqualTo(1);
    assertThat(minute.deadLetters()).isEqualTo(1);
    assertThat(minute.mismatches()).isEqualTo(1);
    assertThat(minute.latencies().quantile(0.5).toMillis()).isBetween(490L, 510L);
    assertThat(minute.latencies().quantile(0.99).toMillis()).isBetween(980L, 1000L);
    assertThat(audit.minute("b", first).latencies().count()).isEqualTo(1);
    assertThat(audit.minute("a", first.plusSeconds(60)).completed()).isEqualTo(1);

    Minute both = minute.plus(audit.minute("b", first));
    assertThat(both.completed()).isEqualTo(101);
    assertThat(both.latencies().count()).isEqualTo(101);
    assertThat(both.latencies().quantile(0)).isEqualTo(Duration.ofMillis(7));
  }

  @Test
  void zonesThatSomebodyMakesUp_areNotAllRead() {
    for (int i = 0; i < 200; i++) {
      audit.publish(TestAudit.outcome("x", FAILED, "z" + i, 1, audit.now(), Duration.ZERO, "none"));
    }

    assertThat(audit.minutes()).hasSize(MinuteRows.MOST_ZONES);
  }

  @Test
  void latenciesOfAnotherForm_areNone() {
    Histogram large = new Histogram(1, Long.MAX_VALUE / 2, 5);
    ByteBuffer bytes = ByteBuffer.allocate(large.getNeededByteBufferCapacity());
    int length = large.encodeIntoByteBuffer(bytes);

    assertThatThrownBy(() -> Latencies.of(Arrays.copyOf(bytes.array(), length)))
        .isInstanceOf(IllegalArgumentException.class);
    Latencies longest = Latencies.none().plus(Duration.ofDays(2));
    assertThat(Latencies.of(longest.bytes())).isEqualTo(longest);
  }

  @Test
  void minutes_areKeptForAWeek() {
    Instant first = audit.now();
    audit.publish("order-1", COMPLETED, 1);
    audit.pass(Duration.ofDays(7).minusMinutes(1));
    audit.publish("order-2", COMPLETED, 1);
    assertThat(audit.minute("a", first).completed()).isEqualTo(1);
  }

  @Test
  void messageFromTheFuture_makesNothingOld() {
    audit.publish("order-1", COMPLETED, 1);
    Outcome ahead = audit.outcome("order-2", COMPLETED, 1);
    audit.publish(
        "order-2".getBytes(UTF_8),
        ahead.json(),
        TestAudit.headers(TestAudit.STORE, Fingerprint.of(new byte[] {1})),
        audit.now().plus(Duration.ofDays(365)));
    audit.publish("order-1", COMPLETED, 2);

    assertThat(audit.verdicts()).containsExactly("order-1 COMPLETED_TWICE");
  }

  @Test
  void outcomeThatCouldNotBe_isNoFault() {
    for (Instant at : List.of(Instant.MAX, Instant.MIN, Instant.EPOCH)) {
      audit.publish(
          TestAudit.outcome("order-1", TAKEN_OVER, "a", Long.MAX_VALUE, at, Duration.ZERO, null));
      audit.publish(
          TestAudit.outcome(
              "order-1", DEAD, "a", Long.MIN_VALUE, at, Duration.ofMillis(Long.MIN_VALUE), null));
      audit.publish(
          TestAudit.outcome(
              "order-1", COMPLETED, "a", 0, at, Duration.ofMillis(Long.MAX_VALUE), null));
    }
    audit.publish(
        TestAudit.outcome("x", COMPLETED, "<script>", 1, audit.now(), Duration.ZERO, null));

    assertThat(audit.history("x")).isEmpty();
  }

  @Test
  void garbage_isNoFault() {
    Random random = new Random(11);
    byte[] good = audit.outcome("order-1", FAILED, 1).json();
    Headers headers = TestAudit.headers(TestAudit.STORE, Fingerprint.none());
    for (int i = 0; i < 2_000; i++) {
      byte[] bad = good.clone();
      bad[random.nextInt(bad.length)] ^= (byte) (1 << random.nextInt(8));
      audit.publish(new byte[] {1, 0, (byte) 0xff}, bad, headers, audit.now());
    }
    assertThat(audit.verdicts()).isEmpty();
  }

  @Test
  void stateOfAnotherVersion_countsAsNone() {
    audit.publish("order-1", COMPLETED, 1);
    byte[] own = RecordState.empty().bytes();
    byte[] other = own.clone();
    other[0]++;
    assertThat(RecordState.of(other)).isEqualTo(RecordState.empty());
    assertThat(Stores.dead(RecordId.of("x"), other)).isEmpty();
  }

  @Test
  void straysOfATopicThatGotMorePartitions_areKeptWithTheirID_inTheOrderInWhichTheyWereMade() {
    Instant died = audit.now();
    audit.pass(Duration.ofHours(1));
    try (TestAudit grown = new TestAudit(directory.resolve("grown"), 2)) {
      List<String> ids = IntStream.range(0, 20).mapToObj(i -> "order-" + i).toList();
      for (String id : ids) {
        grown.publish(id, COMPLETED, 8);
        grown.publish(
            TestAudit.outcome(id, DEAD, "a", 5, died.minusSeconds(60), Duration.ZERO, "why"));
      }

      assertThat(ids).anyMatch(id -> Sorter.partitionOf(id.getBytes(UTF_8), 2) == 1);
      assertThat(ids)
          .allSatisfy(id -> assertThat(grown.kinds(id)).containsExactly(DEAD, COMPLETED));
      assertThat(grown.dead()).isEmpty();
      assertThat(grown.verdicts()).as("a record that was redriven").isEmpty();
    }
  }

  @Test
  void strayThatIsOlderThanTheRetention_isPassedOver_asItsIDMayBeNewAgain() {
    audit.publish("order-1", COMPLETED, 9);
    Outcome old = audit.outcome("order-2", COMPLETED, 1);
    audit.publish(
        "order-2".getBytes(UTF_8),
        old.json(),
        TestAudit.headers(TestAudit.STORE, Fingerprint.of(new byte[] {1})),
        audit.now().minus(TestAudit.RETENTION).minusSeconds(1));
    audit.publish("order-2", COMPLETED, 2);

    assertThat(audit.kinds("order-2")).containsExactly(COMPLETED);
    assertThat(audit.verdicts()).isEmpty();
  }

  /** Whoever changes this shape raises {@link OutcomesTopology#VERSION}, and keeps a file of it. */
  @Test
  void shape_isThatOfItsVersion() throws IOException {
    assertThat(
            OutcomesTopology.of(TestAudit.settings(directory), TestAudit.STORE, audit.time, 1)
                .describe()
                .toString())
        .isEqualTo(kept("topology-v" + OutcomesTopology.VERSION + ".txt"));
  }

  /** The same for the form of the values: a sample of each. */
  @Test
  void values_areThoseOfTheirVersion() throws IOException {
    Instant at = Instant.parse("2100-01-01T00:00:00Z");
    Outcome outcome =
        TestAudit.outcome("order-1", TAKEN_OVER, "a", 5, at, Duration.ofMillis(9), "why");
    OutcomeMessage message =
        new OutcomeMessage(
            "orders",
            "orders",
            "store-1",
            RecordId.of("order-1"),
            Fingerprint.of(new byte[] {1}),
            outcome);
    byte[] record =
        RecordState.empty()
            .with(message, outcome.json(), at.toEpochMilli(), TestAudit.RETENTION)
            .state()
            .bytes();
    Minute minute =
        new Minute("a", at, 1, 2, 3, 4, 5, 6, Latencies.none().plus(Duration.ofMillis(9)));
    HexFormat hex = HexFormat.of();

    assertThat(
            "%s%n%s%n%s%n"
                .formatted(
                    hex.formatHex(record),
                    hex.formatHex(Stores.bytes(minute)),
                    hex.formatHex(new Stores.Listed(at.toEpochMilli(), new byte[] {7}).bytes())))
        .isEqualTo(kept("values-v" + OutcomesTopology.VERSION + ".txt"));
  }

  private static String kept(String name) throws IOException {
    try (InputStream file =
        Objects.requireNonNull(OutcomesTopologyTest.class.getResourceAsStream(name), name)) {
      return new String(file.readAllBytes(), UTF_8);
    }
  }
}
