package io.firstclaim.processor.service.scenario;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.processor.service.scenario.Outcomes.Outcome;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

@Order(1)
@OneBackend(Backend.DYNAMODB)
class PoisonIT {
  private static final int MAX_ATTEMPTS = 3;

  /** It is for one that hangs, and a busy machine is not to need it for any other. */
  private static final String HTTP_TIMEOUT = "15s";

  /** One partition, so that every record has the poison for a neighbour. */
  @RegisterExtension final Scenario scenario;

  PoisonIT(Backend backend) {
    scenario = new Scenario(backend, 1);
  }

  @Test
  void recordsThatFailHangOrAreRefused_becomeDeadLetters_whileTheirNeighboursGoOn() {
    scenario
        .sink()
        .behave(
            call ->
                switch (call.id()) {
                  case "fails" -> 500;
                  case "hangs" -> call.awaitVerdict();
                  case "refused" -> 422;
                  default -> 200;
                });
    TopicReader<DeadLetter> letters = scenario.deadLetters();
    List<String> before = Feed.ids("before", 15);
    List<String> behind = Feed.ids("behind", 15);
    List<Zone> zones = List.of(limited(scenario.zone("a")), limited(scenario.zone("b")));
    zones.forEach(
        zone -> zone.set("FIRSTCLAIM_HANDLER_HTTP_TIMEOUT", HTTP_TIMEOUT).inLongSessions());
    scenario.start();
    scenario.feed().send(before);
    RecordMetadata fails = send("fails");
    RecordMetadata hangs = send("hangs");
    RecordMetadata refused = send("refused");
    scenario.feed().send(behind);

    scenario.eventually(
        "the hanging handler is called a second time",
        () -> assertThat(scenario.sink().callsOf("hangs")).hasSizeGreaterThan(1));
    for (Zone zone : zones) {
      assertThat(scenario.committed(zone).getOrDefault(0, 0L))
          .as("committed while a record is not settled")
          .isLessThanOrEqualTo(hangs.offset());
    }
    scenario.eventually(
        "the three are dead",
        () ->
            assertThat(scenario.outcomes().onlyOne("DEAD"))
                .containsOnlyKeys("fails", "hangs", "refused"));

    List<String> neighbours = new ArrayList<>(before);
    neighbours.addAll(behind);
    scenario.awaitCompleted(neighbours);
    Instant dead = scenario.outcomes().onlyOne("DEAD", "hangs").at();
    assertThat(behind)
        .as("records behind the one that hangs, which was there for three time limits")
        .anySatisfy(
            id -> assertThat(scenario.outcomes().onlyOne("COMPLETED", id).at()).isBefore(dead));
    requireAttempts("fails", 1, 2, 3);
    requireAttempts("hangs", 1, 2, 3);
    requireAttempts("refused", 1);
    scenario.eventually(
        "each failure is told",
        () ->
            assertThat(scenario.outcomes().of("FAILED"))
                .as("a neighbour may have had no answer in time, on a busy machine, nor the store")
                .filteredOn(failure -> !failure.isUnbegun())
                .extracting(Outcome::id)
                .filteredOn(id -> !neighbours.contains(id))
                .containsExactlyInAnyOrder("fails", "fails", "hangs", "hangs"));
    scenario.eventually("dead letters come", () -> assertThat(letters.all()).hasSize(3));
    String url = scenario.sink().url();
    requireLetter(letters, "fails", fails, "3", "HTTP 500 from " + url);
    requireLetter(letters, "hangs", hangs, "3", "no answer from " + url + " within");
    requireLetter(letters, "refused", refused, "1", "HTTP 422 from " + url);
    scenario.awaitAtTheEnd(zones.toArray(Zone[]::new));
  }

  /**
   * While the poison is in its handler, records behind it are sent, done, and only then it kills.
   */
  @Test
  void recordThatKillsTheProcess_isCountedInTheStore_andBecomesADeadLetter() {
    scenario.sink().behave(call -> call.id().equals("kills") ? call.awaitVerdict() : 200);
    TopicReader<DeadLetter> letters = scenario.deadLetters();
    Map<String, Zone> zones =
        Map.of("a", limited(scenario.zone("a")), "b", limited(scenario.zone("b")));
    scenario.start();
    RecordMetadata kills = send("kills");
    List<String> neighbours = new ArrayList<>();

    for (int attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      int calls = attempt;
      scenario.eventually(
          "attempt " + attempt, () -> assertThat(scenario.sink().callsOf("kills")).hasSize(calls));
      neighbours.addAll(Feed.ids("neighbour-" + attempt, 10));
      scenario.feed().send(neighbours.subList(neighbours.size() - 10, neighbours.size()));
      scenario.awaitCompleted(neighbours);
      String by = scenario.sink().callsOf("kills").getLast().zone();
      Zone killed = Objects.requireNonNull(zones.get(by));
      killed.kill();
      killed.launch();
    }
    scenario.eventually(
        "the record is dead",
        () -> assertThat(scenario.outcomes().ids("DEAD")).containsExactly("kills"));

    requireAttempts("kills", 1, 2, 3);
    requireCompletedBefore("kills", neighbours);
    scenario.eventually("the dead letter comes", () -> assertThat(letters.all()).hasSize(1));
    requireLetter(
        letters,
        "kills",
        kills,
        "3",
        "its attempts are used up, and none of them has recorded an end");
    zones.values().forEach(Zone::awaitReady);
    scenario.awaitAtTheEnd(zones.values().toArray(Zone[]::new));
  }

  private static Zone limited(Zone zone) {
    return zone.set("FIRSTCLAIM_RETRY_MAX_ATTEMPTS", Integer.toString(MAX_ATTEMPTS))
        .set("FIRSTCLAIM_RETRY_BACKOFF", "100ms");
  }

  private RecordMetadata send(String id) {
    Feed feed = scenario.feed();
    return feed.send(
        feed.message(
            id.getBytes(UTF_8),
            ("value of " + id).getBytes(UTF_8),
            List.of(
                new RecordHeader("first", "1".getBytes(UTF_8)),
                new RecordHeader("second", new byte[] {0, -1}))));
  }

  private void requireCompletedBefore(String id, List<String> neighbours) {
    Outcome dead = scenario.outcomes().onlyOne("DEAD", id);
    Map<String, Outcome> completed = scenario.outcomes().onlyOne("COMPLETED");
    assertThat(completed).containsOnlyKeys(neighbours);
    assertThat(completed.values())
        .allSatisfy(outcome -> assertThat(outcome.at()).isBefore(dead.at()));
  }

  private void requireAttempts(String id, Integer... attempts) {
    assertThat(scenario.sink().callsOf(id)).extracting(Call::attempt).containsExactly(attempts);
  }

  private void requireLetter(
      TopicReader<DeadLetter> letters,
      String id,
      RecordMetadata place,
      String attempts,
      String cause) {
    Outcome dead = scenario.outcomes().onlyOne("DEAD", id);
    assertThat(dead.cause()).startsWith(cause);
    DeadLetter letter =
        letters.all().stream().filter(each -> each.id().equals(id)).findFirst().orElseThrow();
    assertThat(letter.key()).isEqualTo(id.getBytes(UTF_8));
    assertThat(letter.value()).isEqualTo(("value of " + id).getBytes(UTF_8));
    assertThat(letter.headers())
        .isEqualTo(
            List.of(
                "first=1",
                "second=\0\uFFFD",
                "firstclaim-application=firstclaim",
                "firstclaim-id=" + id,
                "firstclaim-attempts=" + attempts,
                "firstclaim-zone=" + dead.zone(),
                "firstclaim-cause=" + dead.cause(),
                "firstclaim-topic=" + scenario.topic(),
                "firstclaim-partition=" + place.partition(),
                "firstclaim-offset=" + place.offset(),
                "firstclaim-timestamp=" + place.timestamp()));
  }
}
