package io.firstclaim.processor.service.scenario;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Dead records that operators dismiss, and violations that they acknowledge, over HTTP. */
class DismissIT {
  private static final Map<String, String> NEEDLESS = Map.of("reason", "needless");

  @TempDir static Path folder;

  @RegisterExtension final Scenario scenario = new Scenario(Backend.DYNAMODB, 2);

  private Zone zone(String name) {
    return scenario.zone(name).audited(scenario.topic()).operatedWith(Operator.TOKEN, folder);
  }

  private static Set<String> ids(Zone zone, String list) throws IOException {
    return new TreeSet<>(Operator.get(zone, "/api/" + list).path("items").findValuesAsText("id"));
  }

  private void awaitDead(Zone zone, String... ids) {
    scenario.eventually(
        "the dead in zone " + zone.name(),
        () -> assertThat(ids(zone, "dead")).containsExactlyInAnyOrder(ids));
  }

  /**
   * Publishes a completion of this record once more, as if it had been made under another lease.
   */
  private void plantViolation(String id) throws Exception {
    try (var reader = new TopicReader<>(scenario.topic() + ".outcomes", Function.identity());
        var producer =
            new KafkaProducer<>(
                Map.of("bootstrap.servers", Servers.KAFKA.bootstrapServers()),
                new ByteArraySerializer(),
                new ByteArraySerializer())) {
      scenario.eventually("its end is published", () -> assertThat(ends(reader, id)).isNotEmpty());
      ConsumerRecord<byte[], byte[]> end = ends(reader, id).getFirst();
      String other = text(end.value()).replaceFirst("\"token\":(\\d+)", "\"token\":1$1");
      var _ =
          producer
              .send(
                  new ProducerRecord<>(
                      end.topic(),
                      end.partition(),
                      end.key(),
                      other.getBytes(UTF_8),
                      end.headers()))
              .get();
    }
  }

  private static List<ConsumerRecord<byte[], byte[]>> ends(
      TopicReader<ConsumerRecord<byte[], byte[]>> outcomes, String id) {
    return outcomes.all().stream()
        .filter(outcome -> text(outcome.key()).equals(id))
        .filter(outcome -> text(outcome.value()).contains("\"COMPLETED\""))
        .toList();
  }

  private static String text(byte[] bytes) {
    return new String(bytes, UTF_8);
  }

  /** It is listed and counted for as long as it is kept, acknowledged or not. */
  private void awaitViolations(Zone zone, int acknowledged) {
    scenario.eventually(
        "the violation in zone " + zone.name(),
        () -> {
          JsonNode overview = Operator.get(zone, "/api/summary").path("overview");
          assertThat(overview.path("violations").path("count").asInt()).isOne();
          assertThat(overview.path("acknowledged").asInt()).isEqualTo(acknowledged);
          JsonNode breach = overview.path("found").path(0);
          assertThat(breach.path("verdict").asText()).isEqualTo("COMPLETED_TWICE");
          assertThat(breach.path("acknowledged").isNull()).isEqualTo(acknowledged == 0);
          assertThat(Operator.metrics(zone))
              .contains(
                  "firstclaim_violations_total 1.0",
                  "firstclaim_violations_acknowledged %d.0".formatted(acknowledged));
        });
  }

  /** Those that died of a 410 before this moment. */
  private Map<String, Object> goneUntil(Instant moment) {
    return Map.of(
        "topic",
        scenario.topic(),
        "cause",
        "410",
        "until",
        moment.toString(),
        "reason",
        "sent by mistake");
  }

  /** How many acts with this filter say that they dismissed, until one has looked at all. */
  private static int dismissed(Zone zone, Map<String, Object> filter) {
    AtomicInteger sum = new AtomicInteger();
    Scenario.await("all are looked at")
        .until(
            () -> {
              JsonNode said = Operator.act(zone, "/api/dismiss", filter);
              int _ = sum.addAndGet(said.path("dismissed").asInt());
              return said.path("isAll").asBoolean();
            });
    return sum.get();
  }

  @Test
  void whatIsDismissed_isRedrivenByItselfAlone_andWhatIsAcknowledged_staysListed()
      throws Exception {
    AtomicBoolean mended = new AtomicBoolean();
    scenario
        .sink()
        .behave(
            call ->
                mended.get()
                    ? 200
                    : switch (call.id()) {
                      case "one", "late" -> 422;
                      case "two", "three" -> 410;
                      default -> 200;
                    });
    Zone a = zone("a");
    Zone b = zone("b");
    Servers.KAFKA.createTopic(scenario.topic() + ".acts", 1, Map.of("retention.ms", "604800000"));
    scenario.start();
    scenario.eventually(
        "zone a says what its acts will come to",
        () ->
            assertThat(Files.readString(a.log()))
                .contains("%s.acts has retention.ms=604800000: ".formatted(scenario.topic()))
                .contains(
                    "--entity-name %s.acts --add-config retention.ms=-1"
                        .formatted(scenario.topic())));
    scenario.feed().send(List.of("good", "late", "one", "two", "three"));
    awaitDead(a, "one", "two", "three", "late");

    assertThat(Operator.statusOf(a, "/api/records/good/dismiss", NEEDLESS)).isEqualTo(409);
    JsonNode one = Operator.act(a, "/api/records/one/dismiss", NEEDLESS);
    assertThat(one.path("state").asText()).isEqualTo("DEAD");
    assertThat(one.path("dismissed").path("by").asText()).isEqualTo("otto");
    assertThat(one.path("dismissed").path("token")).isEqualTo(one.path("token"));
    assertThat(one.path("isDismissed").asBoolean()).isTrue();
    var again = Operator.act(b, "/api/records/one/dismiss", Map.of("reason", "once more"));
    assertThat(again.path("dismissed")).as("the first counts").isEqualTo(one.path("dismissed"));

    Map<String, Object> gone = Map.of("topic", scenario.topic(), "cause", "410", "dryRun", true);
    awaitDead(b, "two", "three", "late");
    JsonNode tried = Operator.tryOut(b, "/api/dismiss", gone);
    assertThat(tried.path("count").asInt()).isEqualTo(2);
    assertThat(tried.path("samples").findValuesAsText("state")).containsExactly("DEAD", "DEAD");
    awaitDead(b, "two", "three", "late");
    Instant firstDeath =
        Collections.min(
            tried.path("samples").findValuesAsText("at").stream().map(Instant::parse).toList());
    Instant until = Instant.parse(tried.path("until").asText());
    assertThat(dismissed(b, goneUntil(firstDeath)))
        .as("those that died at this moment or later")
        .isZero();
    int dismissed = dismissed(b, goneUntil(until));
    // An act that failed, and so was repeated, may have dismissed them all the same.
    if (!b.logText().contains(" -> failed: ")) {
      assertThat(dismissed).isEqualTo(2);
    }
    assertThat(dismissed(b, goneUntil(until))).isZero();
    awaitDead(a, "late");
    assertThat(Operator.get(a, "/api/summary").path("overview").path("dead").path("count").asInt())
        .isEqualTo(1);
    assertThat(ids(a, "dismissed")).containsExactly("one", "three", "two");

    plantViolation("good");
    Map<String, String> seen = Map.of("reason", "planted by a test");
    awaitViolations(a, 0);
    awaitViolations(b, 0);
    assertThat(Operator.statusOf(a, "/api/violations/nobody/acknowledge", seen)).isEqualTo(404);
    JsonNode said = Operator.act(a, "/api/violations/good/acknowledge", seen);
    assertThat(said.path("by").asText()).isEqualTo("otto");
    awaitViolations(b, 1);

    a.kill();
    scenario.start(a);
    awaitDead(a, "late");
    awaitViolations(a, 1);

    mended.set(true);
    Map<String, Object> all = Map.of("id", "all", "topic", scenario.topic(), "reason", "fixed");
    JsonNode dry =
        Operator.tryOut(a, "/api/redrive", Map.of("topic", scenario.topic(), "dryRun", true));
    assertThat(dry.path("count").asInt()).isEqualTo(1);
    var _ = Operator.act(a, "/api/redrive", all);
    scenario.eventually(
        "the redrive is done",
        () ->
            assertThat(Operator.get(a, "/api/redrives/all").path("state").asText())
                .isEqualTo("DONE"));
    JsonNode done = Operator.get(a, "/api/redrives/all");
    assertThat(done.path("moved").asInt()).as("%s", done).isEqualTo(1);
    assertThat(done.path("skipped").path("dismissed").asInt()).as("%s", done).isEqualTo(3);
    scenario.awaitCompleted(List.of("late"));

    JsonNode redriven = Operator.redrive(a, "one", Map.of("reason", "it was not needless"));
    assertThat(redriven.path("dismissed").path("reason").asText()).isEqualTo("needless");
    scenario.awaitCompleted(List.of("one"));
    assertThat(Operator.get(a, "/api/records/one").path("isDismissed").asBoolean(true)).isFalse();
    assertThat(a.logText()).contains("it was dismissed by otto: needless");
    assertThat(scenario.outcomes().of("COMPLETED", "two")).isZero();
  }
}
