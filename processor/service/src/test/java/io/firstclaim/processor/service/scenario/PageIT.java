package io.firstclaim.processor.service.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The page in Chromium, on two zones. {@code src/test/page/page.mjs} does what a person would; it
 * needs Chromium and Node, and fetches Playwright and axe. Screenshots are in {@code target/page}.
 */
@Timeout(300)
class PageIT {
  private static final Path CHROMIUM = Path.of("/usr/bin/chromium");
  private static final Path SOURCES = Path.of("src", "test", "page");
  private static final Path FOLDER = Path.of("target", "page");
  private static final String HOSTILE = "<img src=x onerror=\"window.pwned=1\">";
  private static final String TOKEN = "an-operators";
  private static final int LETTERS = 20;

  @RegisterExtension final Scenario scenario = new Scenario(Backend.DYNAMODB, 4);

  @BeforeAll
  static void fetchTheTools() throws Exception {
    assumeTrue(Files.isExecutable(CHROMIUM), () -> "not tried: there is no " + CHROMIUM);
    Files.createDirectories(FOLDER);
    for (String file : List.of("package.json", "page.mjs")) {
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
    ProcessBuilder program =
        new ProcessBuilder(command)
            .directory(FOLDER.toFile())
            .redirectErrorStream(true)
            .redirectOutput(FOLDER.resolve("log").toFile());
    program.environment().putAll(env);
    Process process = program.start();
    try {
      return process.waitFor(4, TimeUnit.MINUTES) ? process.exitValue() : -1;
    } finally {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
  }

  private Zone zone(String name) {
    return scenario
        .zone(name)
        .audited()
        .operatedWith(TOKEN, FOLDER)
        .set("FIRSTCLAIM_APPLICATION", scenario.topic());
  }

  @Test
  void whatAPersonDoesOnThePage_works() throws Exception {
    AtomicBoolean mended = new AtomicBoolean();
    List<String> bad = new ArrayList<>(Feed.ids("order", LETTERS));
    bad.add(HOSTILE);
    scenario.sink().behave(call -> bad.contains(call.id()) && !mended.get() ? 422 : 200);
    Zone a = zone("a");
    zone("b");
    scenario.start();
    scenario.feed().send(Feed.ids("good", 200));
    scenario.feed().send(bad);
    scenario.eventually(
        "all are dead", () -> assertThat(scenario.outcomes().ids("DEAD")).containsAll(bad));
    mended.set(true);

    int exit =
        run(
            Map.of(
                "URL",
                "http://127.0.0.1:" + a.port() + "/",
                "TOKEN",
                TOKEN,
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
    assertThat(scenario.outcomes().of("COMPLETED", HOSTILE)).isEqualTo(1);
  }
}
