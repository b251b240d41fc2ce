package io.firstclaim.processor.scenario;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.processor.scenario.Outcomes.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

@Timeout(180)
class PoisonIT {
  private static final int MAX_ATTEMPTS = 3;

  /** One partition, so that every record has the poison for a neighbour. */
  @RegisterExtension final Scenario scenario = new Scenario(1);

  private final List<String> before = Feed.ids("before", 15);
  private final List<String> behind = Feed.ids("behind", 15);

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
    List<Zone> zones =
        List.of(
            limited(scenario.zone("a")).set("FIRSTCLAIM_HANDLER_HTTP_TIMEOUT", "3s"),
            limited(scenario.zone("b")).set("FIRSTCLAIM_HANDLER_HTTP_TIMEOUT", "3s"));
    scenario.start();
    scenario.feed().send(before);
    Map<String, RecordMetadata> places =
        Map.of(
            "fails", send("fails"),
            "hangs", send("hangs"),
            "refused", send("refused"));
    scenario.feed().send(behind);

    scenario.eventually(
        "the hanging handler is called a second time",
        () -> assertThat(scenario.sink().callsOf("hangs")).hasSize(2));
    for (Zone zone : zones) {
      assertThat(scenario.groups().committed(zone.group()).getOrDefault(0, 0L))
          .as("committed while a record is not settled")
          .isLessThanOrEqualTo(places.get("hangs").offset());
    }
    scenario.eventually(
        "the three are dead", () -> assertThat(scenario.outcomes().of("DEAD")).hasSize(3));

    Map<String, Outcome> dead = scenario.outcomes().onlyOne("DEAD");
    requireNeighboursCompletedBefore(dead.get("hangs"));
    requireAttempts("fails", 1, 2, 3);
    requireAttempts("hangs", 1, 2, 3);
    requireAttempts("refused", 1);
    assertThat(scenario.outcomes().of("FAILED"))
        .extracting(Outcome::id)
        .containsExactlyInAnyOrder("fails", "fails", "hangs", "hangs");
    scenario.eventually("dead letters come", () -> assertThat(letters.all()).hasSize(3));
    String url = scenario.sink().url();
    requireLetter(letters, dead.get("fails"), places, "3", "HTTP 500 from " + url);
    requireLetter(letters, dead.get("hangs"), places, "3", "no answer from " + url + " within");
    requireLetter(letters, dead.get("refused"), places, "1", "HTTP 422 from " + url);
    scenario.awaitAtTheEnd(zones.toArray(Zone[]::new));
  }

  @Test
  void recordThatKillsTheProcess_isCountedInTheStore_andBecomesADeadLetter() throws Exception {
    BlockingQueue<Call> toKill = new LinkedBlockingQueue<>();
    scenario
        .sink()
        .behave(
            call -> {
              if (!call.id().equals("kills")) {
                return 200;
              }
              toKill.add(call);
              return call.awaitVerdict();
            });
    TopicReader<DeadLetter> letters = scenario.deadLetters();
    Zone a = limited(scenario.zone("a"));
    Zone b = limited(scenario.zone("b"));
    for (Zone zone : List.of(a, b)) {
      zone.lease(Duration.ofSeconds(3)).set("KAFKA_SESSION_TIMEOUT_MS", "3000");
    }
    scenario.start();
    scenario.feed().send(before);
    Map<String, RecordMetadata> places = Map.of("kills", send("kills"));
    scenario.feed().send(behind);

    for (int attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      Call call = toKill.poll(Scenario.PATIENCE.toSeconds(), TimeUnit.SECONDS);
      assertThat(call).isNotNull();
      Zone killed = call.zone().equals("a") ? a : b;
      killed.kill();
      killed.launch();
    }
    scenario.eventually(
        "the record is dead", () -> assertThat(scenario.outcomes().ids("DEAD")).containsExactly("kills"));

    Outcome dead = scenario.outcomes().onlyOne("DEAD").get("kills");
    requireAttempts("kills", 1, 2, 3);
    requireNeighboursCompletedBefore(dead);
    scenario.eventually("the dead letter comes", () -> assertThat(letters.all()).hasSize(1));
    requireLetter(letters, dead, places, "3", "3 attempts ended without a verdict");
    scenario.awaitAtTheEnd(a, b);
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

  private void requireNeighboursCompletedBefore(Outcome dead) {
    List<String> neighbours = new ArrayList<>(before);
    neighbours.addAll(behind);
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
      Outcome dead,
      Map<String, RecordMetadata> places,
      String attempts,
      String cause) {
    assertThat(dead.cause()).startsWith(cause);
    DeadLetter letter =
        letters.all().stream().filter(each -> each.id().equals(dead.id())).findFirst().orElseThrow();
    assertThat(letter.key()).isEqualTo(dead.id().getBytes(UTF_8));
    assertThat(letter.value()).isEqualTo(("value of " + dead.id()).getBytes(UTF_8));
    RecordMetadata place = places.get(dead.id());
    assertThat(letter.headers())
        .isEqualTo(
            List.of(
                "first=1",
                "second=\0\uFFFD",
                "firstclaim-id=" + dead.id(),
                "firstclaim-attempts=" + attempts,
                "firstclaim-zone=" + dead.zone(),
                "firstclaim-cause=" + dead.cause(),
                "firstclaim-topic=" + scenario.topic(),
                "firstclaim-partition=" + place.partition(),
                "firstclaim-offset=" + place.offset()));
  }
}
