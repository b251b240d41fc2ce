package io.firstclaim.processor.service.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.firstclaim.lock.testkit.Soak;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

@OneBackend(Backend.S3)
class ActiveActiveIT {
  private static final String FILE = "/io/firstclaim/stack/earthquakes.jsonl";
  private static final int EVENTS = Soak.times(600, 1707);
  private static final int DELIVERIES = 3;

  /** The events come bit by bit: a zone that stands still meanwhile misses some, and not all. */
  private static final int PARTS = 6;

  private static final Duration LEASE = Duration.ofSeconds(30);

  @RegisterExtension final Scenario scenario;

  ActiveActiveIT(Backend backend) {
    scenario = new Scenario(backend, 6);
  }

  @Test
  void everyEvent_isCompletedOnce_andBothZonesTakeAFairShare() throws Exception {
    Map<String, String> events = events();
    assertThat(events).hasSize(EVENTS);
    scenario.sink().behave(Sink.takes(Duration.ofMillis(1), Duration.ofMillis(30)));
    Zone a = scenario.zone("a").inDefaultGroupOf(scenario.topic()).lease(LEASE);
    Zone b = scenario.zone("b").inDefaultGroupOf(scenario.topic()).lease(LEASE);
    scenario.start();

    List<String> ids = List.copyOf(events.keySet());
    for (int part = 0; part < PARTS; part++) {
      Map<String, String> some = new LinkedHashMap<>(events);
      boolean _ =
          some.keySet().retainAll(ids.subList(part * EVENTS / PARTS, (part + 1) * EVENTS / PARTS));
      for (int i = 1; i < DELIVERIES; i++) {
        send(some);
      }
      scenario.awaitCompleted(some.keySet());
    }
    send(events);
    scenario.awaitAtTheEnd(a, b);

    assertThat(scenario.outcomes().onlyOne("COMPLETED")).containsOnlyKeys(events.keySet());
    assertThat(scenario.sink().calls())
        .allSatisfy(
            call ->
                assertThat(new String(call.body(), StandardCharsets.UTF_8))
                    .isEqualTo(events.get(call.id())));
    events.keySet().forEach(scenario::requireNoNeedlessCall);
    assertThat(scenario.claims().all())
        .hasSameSizeAs(events.keySet())
        .allMatch(claim -> claim.state().equals("DONE"));
    for (Zone zone : List.of(a, b)) {
      assertThat(scenario.outcomes().of("COMPLETED"))
          .as("records of zone %s", zone.name())
          .filteredOn(outcome -> outcome.zone().equals(zone.name()))
          .hasSizeGreaterThanOrEqualTo(events.size() / 4);
      scenario.eventually(
          "the deliveries to zone %s are counted".formatted(zone.name()),
          () ->
              assertThat(zone.deliveries("completed") + zone.deliveries("duplicate"))
                  .isGreaterThanOrEqualTo((long) DELIVERIES * events.size()));
    }
  }

  private void send(Map<String, String> events) {
    events.forEach(scenario.feed()::send);
    scenario.feed().flush();
  }

  /** The first events by their IDs, as one line of JSON each. */
  private static Map<String, String> events() throws IOException {
    ObjectMapper json = new ObjectMapper();
    Map<String, String> events = new LinkedHashMap<>();
    try (InputStream file =
            Objects.requireNonNull(ActiveActiveIT.class.getResourceAsStream(FILE), FILE);
        BufferedReader lines =
            new BufferedReader(new InputStreamReader(file, StandardCharsets.UTF_8))) {
      for (String line : lines.lines().limit(EVENTS).toList()) {
        events.put(json.readTree(line).required("id").textValue(), line);
      }
    }
    return events;
  }
}
