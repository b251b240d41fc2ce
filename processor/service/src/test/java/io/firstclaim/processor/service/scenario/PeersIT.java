package io.firstclaim.processor.service.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Two instances of one zone, each of which keeps what became of some records. */
@Order(2)
class PeersIT {
  private static final int DEAD = 60;
  private static final int HELD = 6;

  @TempDir static Path folder;

  @RegisterExtension final Scenario scenario = new Scenario(Backend.DYNAMODB, 4);

  private Zone instance() {
    return scenario
        .zone("a")
        .audited(scenario.topic())
        .operatedWith(Operator.TOKEN, folder)
        .set("FIRSTCLAIM_ZONES", "a")
        .inLongSessions(); // in which one that is killed is missed
  }

  private static List<String> ids(JsonNode page) {
    return page.path("items").findValuesAsText("id");
  }

  private static List<String> pageByPage(Zone asked, String list) throws IOException {
    List<String> all = new ArrayList<>();
    String after = "";
    while (true) {
      JsonNode page = Operator.get(asked, "/api/" + list + after);
      all.addAll(ids(page));
      if (page.path("next").isNull()) {
        return all;
      }
      after = "&after=" + page.path("next").asText();
    }
  }

  private void awaitWhole(Zone asked, Set<String> dead) {
    scenario.eventually(
        asked.instance() + " lists all the dead",
        () ->
            assertThat(ids(Operator.get(asked, "/api/dead?limit=1000")))
                .containsExactlyElementsOf(dead));
  }

  @Test
  @EnabledIfSystemProperty(named = "soak", matches = "true") // with TLS it is the same, and more
  void whicheverIsAsked_knowsAllOfItsZone_andSaysWhoDoesNotAnswer() throws Exception {
    tryOut(instance(), instance());
  }

  @Test
  void withTls_theyTrustEachOther_asMicronautsSettingsSay() throws Exception {
    Certificate certificate = Certificate.make(folder);
    tryOut(instance().securedWith(certificate), instance().securedWith(certificate));
  }

  private void tryOut(Zone one, Zone two) throws IOException {
    CountDownLatch mayGo = new CountDownLatch(1);
    scenario
        .sink()
        .behave(
            call -> {
              if (call.id().startsWith("held")) {
                mayGo.await();
              }
              return call.id().startsWith("dead") ? 422 : 200;
            });
    scenario.start();
    Set<String> dead = new TreeSet<>(Feed.ids("dead", DEAD));
    scenario.feed().send(dead);
    scenario.feed().send(Feed.ids("held", HELD));

    awaitWhole(one, dead);
    awaitWhole(two, dead);
    Set<String> parts = new TreeSet<>();
    for (Zone each : List.of(one, two)) {
      List<String> own = ids(Operator.ownPart(each, scenario.topic(), "/api/dead?limit=1000"));
      assertThat(own).as("kept by " + each.instance()).isNotEmpty().hasSizeLessThan(DEAD);
      parts.addAll(own);
      assertThat(pageByPage(each, "dead?limit=7")).containsExactlyElementsOf(dead);
      assertThat(pageByPage(each, "search?limit=7&outcome=dead&cause=422&zone=a"))
          .containsExactlyElementsOf(dead);
      assertThat(pageByPage(each, "search?limit=7&outcome=dead&zone=b")).isEmpty();
      JsonNode some = Operator.get(each, "/api/search?prefix=dead-1");
      assertThat(ids(some)).allMatch(id -> id.startsWith("dead-1")).isNotEmpty();
      assertThat(some.path("lookedAt").asInt()).isEqualTo(ids(some).size());
      for (String id : dead) {
        scenario.eventually(
            "the history of %s, asked at %s".formatted(id, each.instance()),
            () ->
                assertThat(
                        Operator.get(each, "/api/records/" + id)
                            .path("history")
                            .findValuesAsText("outcome"))
                    .contains("DEAD"));
      }
      scenario.eventually(
          each.instance() + " has the answer of the other, which may be late on a busy machine",
          () -> {
            JsonNode summary = Operator.get(each, "/api/summary");
            assertThat(summary.path("others").findValuesAsText("name"))
                .containsExactly(each == one ? two.instance() : one.instance());
            assertThat(summary.path("overview").path("dead").path("count").asInt()).isEqualTo(DEAD);
            assertThat(summary.path("overview").path("missing")).isEmpty();
          });
    }
    assertThat(parts).isEqualTo(dead);
    scenario.eventually(
        "each says what it holds",
        () -> {
          Set<String> held = new TreeSet<>(ids(Operator.get(one, "/api/held")));
          held.addAll(ids(Operator.get(two, "/api/held")));
          assertThat(held).containsExactlyElementsOf(new TreeSet<>(Feed.ids("held", HELD)));
        });

    mayGo.countDown();
    two.kill();
    JsonNode missing = Operator.get(one, "/api/summary").path("overview").path("missing");
    assertThat(missing).hasSize(1);
    assertThat(missing.get(0).asText()).startsWith("127.0.0.1:" + two.port() + ": ");
    assertThat(Operator.firstStatusOfGet(one, "/api/dead")).isEqualTo(503);
    awaitWhole(one, dead);
  }
}
