package io.firstclaim.processor.service.scenario;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.util.List;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Shadow mode in two zones, beside the application whose settings it takes. */
class ShadowIT {
  private static final int EVENTS = 40;
  private static final int ALL = EVENTS + 3 + 2 + 2;

  @RegisterExtension final Scenario scenario = new Scenario(Backend.DYNAMODB, 4);

  @Test
  void besideTheApplicationInForce_eachZoneTellsWhatWouldBeSkipped_andTouchesNothing()
      throws Exception {
    Zone inForce = scenario.zone("a");
    Zone a = inShadow("a");
    Zone b = inShadow("b");
    TopicReader<DeadLetter> letters = scenario.deadLetters();
    scenario.start(inForce, a, b);
    List<String> ids = Feed.ids("event", EVENTS);
    scenario.feed().send(ids);
    awaitRecords(EVENTS, a, b);

    scenario.feed().send(ids.subList(0, 3));
    RecordMetadata shared = send("event-7", "of another event");
    send("event-8", "of another event");
    send(null, "without an ID");
    send(null, "nor this one");
    awaitRecords(ALL, a, b);
    scenario.awaitAtTheEnd(inForce, a, b);

    for (Zone zone : List.of(a, b)) {
      JsonNode found = get(zone, "/api/summary").path("instance").path("shadow");
      assertThat(found).isEqualTo(get(zone, "/api/shadow"));
      assertThat(found.path("records").asLong()).isEqualTo(ALL);
      assertThat(found.path("ids").asLong()).isEqualTo(EVENTS);
      assertThat(found.path("redelivered").asLong()).isZero();
      assertThat(found.path("duplicates").asLong()).isEqualTo(3);
      assertThat(found.path("mismatches").asLong()).isEqualTo(2);
      assertThat(found.path("noId").asLong()).isEqualTo(2);
      assertThat(found.path("samples"))
          .anySatisfy(
              sample -> {
                assertThat(sample.path("finding").asText()).isEqualTo("MISMATCH");
                assertThat(sample.path("id").asText()).isEqualTo("event-7");
                assertThat(sample.path("at").path("partition").asInt())
                    .isEqualTo(shared.partition());
                assertThat(sample.path("at").path("offset").asLong()).isEqualTo(shared.offset());
                assertThat(sample.path("first").path("offset").asLong())
                    .isEqualTo(offsetOf("event-7"));
                assertThat(sample.path("by").asText()).matches("[ab]/.+");
              });
      assertThat(zone.metric("firstclaim_shadow_total", "finding=\"duplicate\"")).isEqualTo(3);
      assertThat(zone.metric("firstclaim_shadow_longest_lag_seconds")).isPositive();
      assertThat(zone.logText()).contains("SHADOW MODE");
    }
    assertThat(count(a, "first") + count(b, "first")).isEqualTo(EVENTS);
    assertThat(scenario.sink().called()).containsExactlyInAnyOrderElementsOf(ids);
    ids.forEach(scenario::requireNoNeedlessCall); // one of shadow mode would be one
    assertThat(scenario.outcomes().of("COMPLETED"))
        .allMatch(outcome -> outcome.instance().equals(inForce.instance()));
    scenario.eventually(
        "the dead letters of the application in force",
        () ->
            assertThat(letters.all())
                .hasSize(4)
                .allMatch(
                    letter -> letter.headers().contains("firstclaim-application=firstclaim")));
  }

  private Zone inShadow(String zone) {
    return scenario.zone(zone).inShadow().inLongSessions();
  }

  private void awaitRecords(int expected, Zone... zones) {
    for (Zone zone : zones) {
      scenario.eventually(
          "zone %s has seen %d".formatted(zone.instance(), expected),
          () -> assertThat(count(zone, "records")).isEqualTo(expected));
    }
  }

  private static long count(Zone zone, String what) throws IOException {
    return get(zone, "/api/shadow").path(what).asLong();
  }

  private static JsonNode get(Zone zone, String path) throws IOException {
    return new ObjectMapper()
        .readTree(zone.send(HttpRequest.newBuilder(zone.uri(path)).build()).body());
  }

  private long offsetOf(String id) {
    return scenario.feed().places().stream()
        .filter(place -> place.id().equals(id))
        .findFirst()
        .orElseThrow()
        .offset();
  }

  private RecordMetadata send(@Nullable String key, String value) {
    return scenario
        .feed()
        .send(
            scenario
                .feed()
                .message(
                    key == null ? null : key.getBytes(UTF_8), value.getBytes(UTF_8), List.of()));
  }
}
