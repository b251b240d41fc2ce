package io.firstclaim.processor.service.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The page in Chromium, on two zones. {@code src/test/page/page.mjs} does what a person would; it
 * needs Chromium and Node, and fetches Playwright and axe. Screenshots are in {@code target/page}.
 */
@Order(3)
class PageIT {
  private static final Path CHROMIUM = Path.of("/usr/bin/chromium");
  private static final Path SOURCES = Path.of("src", "test", "page");
  private static final Path FOLDER = Path.of("target", "page");
  private static final String HOSTILE = "<img src=x onerror=\"window.pwned=1\">";
  private static final int LETTERS = 60; // more than a page has

  @RegisterExtension final Scenario scenario = new Scenario(Backend.DYNAMODB, 4);

  @BeforeAll
  static void fetchTheTools() throws Exception {
    assumeTrue(Files.isExecutable(CHROMIUM), () -> "not tried: there is no " + CHROMIUM);
    Files.createDirectories(FOLDER);
    for (String file : List.of("package.json", "page.mjs", "killed.mjs")) {
      var _ =
          Files.copy(
              SOURCES.resolve(file), FOLDER.resolve(file), StandardCopyOption.REPLACE_EXISTING);
    }
    boolean hasTools;
    try {
      hasTools =
          run(Map.of(), "npm", "install", "--no-audit", "--no-fund", "--no-package-lock") == 0;
    } catch (IOException e) { // there is no such program
      hasTools = false;
    }
    assumeTrue(hasTools, "not tried: npm cannot install Playwright and axe, see target/page/log");
  }

  /** Runs a program in the folder; its output is in the file log there. */
  private static int run(Map<String, String> env, String... command)
      throws IOException, InterruptedException {
    Process process = start("log", env, command);
    try {
      return process.waitFor(Scenario.PATIENCE.toSeconds(), TimeUnit.SECONDS)
          ? process.exitValue()
          : -1;
    } finally {
      end(process);
    }
  }

  private static Process start(String log, Map<String, String> env, String... command)
      throws IOException {
    ProcessBuilder program =
        new ProcessBuilder(command)
            .directory(FOLDER.toFile())
            .redirectErrorStream(true)
            .redirectOutput(FOLDER.resolve(log).toFile());
    program.environment().putAll(env);
    return program.start();
  }

  private static void end(Process process) {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
  }

  private Zone zone(String name) {
    return scenario.zone(name).audited(scenario.topic()).operatedWith(Operator.TOKEN, FOLDER);
  }

  @Test
  void whatAPersonDoesOnThePage_works() throws Exception {
    AtomicBoolean mended = new AtomicBoolean();
    List<String> bad = new ArrayList<>(Feed.ids("order", LETTERS));
    bad.add(HOSTILE);
    scenario
        .sink()
        .behave(
            call -> {
              if (call.id().equals("slow")) {
                awaitAnotherCall("slow");
              }
              return bad.contains(call.id()) && !mended.get() ? 422 : 200;
            });
    Zone a = zone("a").inLongSessions();
    zone("b").inLongSessions();
    scenario.start();
    scenario.feed().send(Feed.ids("good", 200));
    scenario.feed().send(bad);
    scenario.feed().send("slow");
    scenario.eventually(
        "all are dead", () -> assertThat(scenario.outcomes().ids("DEAD")).containsAll(bad));
    mended.set(true);

    int exit =
        run(
            Map.of(
                "URL",
                "http://127.0.0.1:" + a.port() + "/",
                "TOKEN",
                Operator.TOKEN,
                "READER",
                Operator.READER,
                "HOSTILE",
                HOSTILE,
                "LETTERS",
                String.valueOf(LETTERS),
                "CHROMIUM",
                CHROMIUM.toString(),
                "SHOTS",
                "."),
            "node",
            "page.mjs");

    assertThat(exit).as(Files.readString(FOLDER.resolve("log"))).isZero();
    assertThat(scenario.outcomes().onlyOne("COMPLETED", HOSTILE).token())
        .isGreaterThan(scenario.outcomes().onlyOne("DEAD", HOSTILE).token());
  }

  /**
   * Takes minutes, as the page draws whole ones: {@code -Psoak}. The screenshots are {@code
   * killed-before}, {@code -during} and {@code -after}.
   */
  @Test
  @EnabledIfSystemProperty(named = "soak", matches = "true")
  void zoneThatIsKilledWhileThePageIsOpen_isSeenAsGone_andComesBack() throws Exception {
    scenario.sink().behave(Sink.takes(Duration.ofMillis(100), Duration.ofMillis(900)));
    Zone a = zone("a");
    Zone b = zone("b");
    scenario.start();
    AtomicInteger sent = new AtomicInteger();
    Process page =
        start(
            "killed.log",
            Map.of(
                "URL",
                "http://127.0.0.1:" + b.port() + "/",
                "TOKEN",
                Operator.TOKEN,
                "CHROMIUM",
                CHROMIUM.toString(),
                "SHOTS",
                "."),
            "node",
            "killed.mjs");
    try (var _ =
            new Repeated(
                Duration.ofMillis(50),
                () -> scenario.feed().send("event-" + sent.incrementAndGet()));
        BufferedWriter say = page.outputWriter()) {
      scenario
          .within(Duration.ofMinutes(10), "two minutes of zone a")
          .untilAsserted(() -> assertThat(minutes(b, "a")).hasSizeGreaterThan(2));
      take(say, "before");
      a.kill();
      int minutesOfA = minutes(b, "a").size();
      scenario
          .within(Duration.ofMinutes(10), "zone b takes over")
          .untilAsserted(
              () ->
                  assertThat(minutes(b, "b"))
                      .anyMatch(minute -> minute.path("takeovers").asInt() > 0));
      take(say, "during");
      scenario.start(a);
      scenario
          .within(Duration.ofMinutes(10), "another minute of zone a")
          .untilAsserted(() -> assertThat(minutes(b, "a")).hasSizeGreaterThan(minutesOfA));
      take(say, "after");
    } finally {
      boolean ended = page.waitFor(5, TimeUnit.MINUTES);
      end(page);
      assertThat(ended ? page.exitValue() : -1)
          .as(Files.readString(FOLDER.resolve("killed.log")))
          .isZero();
    }
  }

  private void awaitAnotherCall(String id) {
    Scenario.await("somebody else is given it")
        .forever()
        .until(() -> scenario.sink().callsOf(id).size() > 1);
  }

  private static List<JsonNode> minutes(Zone asked, String of) throws IOException {
    List<JsonNode> minutes = new ArrayList<>();
    for (JsonNode minute : Operator.get(asked, "/api/summary").path("overview").path("minutes")) {
      if (minute.path("zone").asText().equals(of)) {
        minutes.add(minute);
      }
    }
    return minutes;
  }

  private void take(BufferedWriter say, String name) throws IOException {
    Path log = FOLDER.resolve("killed.log");
    say.write(name + "\n");
    say.flush();
    scenario
        .within(Duration.ofMinutes(10), "the screenshot " + name)
        .untilAsserted(() -> assertThat(Files.readString(log)).contains("- " + name));
  }
}
