package io.firstclaim.processor.service.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What a start of the package leaves to later ones: its classes, loaded and linked. The scenarios
 * start it more than a hundred times, and with this a start takes about half of the CPU time. What
 * commands load is a third of what the service does, and loading the rest would take them as long
 * as they save: so they have a cache of their own. Both are recorded with claims in S3: what
 * DynamoDB takes besides is little.
 */
final class AotCache {
  private static final String NAME = "aot";
  private static final Path FOLDER = Path.of("target", "it", NAME).toAbsolutePath();

  private AotCache() {}

  /** The JVM's arguments for a start of the service. */
  static List<String> ofService() {
    return List.of("-XX:AOTCache=" + Service.FILE);
  }

  /** The JVM's arguments for a command. */
  static List<String> ofCommands() {
    return List.of("-XX:AOTCache=" + Command.FILE);
  }

  /** Recorded by a service that has one record to process. */
  private static final class Service {
    static final Path FILE = prepared("service");

    static {
      try (Groups groups = new Groups();
          Sink sink = new Sink();
          Feed feed = new Feed(NAME);
          Zone zone = new Zone("a", "a1", FOLDER.resolve("a1.log"), Backend.S3, NAME)) {
        groups.createTopic(NAME, 1);
        zone.audited(NAME)
            .set("FIRSTCLAIM_INPUT_TOPICS", NAME)
            .set("FIRSTCLAIM_HANDLER_HTTP_URL", sink.url());
        zone.launch(recording(FILE));
        zone.awaitReady();
        feed.send("one");
        Scenario.await("the record is completed")
            .untilAsserted(() -> assertThat(zone.deliveries("completed")).isEqualTo(1));
        zone.terminate(); // it writes the cache when it ends
        assertThat(zone.awaitEnd(Scenario.PATIENCE)).as("it ends").isTrue();
        assertThat(FILE).as(zone.logTail()).exists();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** Recorded by a command that asks the store. */
  private static final class Command {
    static final Path FILE = prepared("command");

    static {
      Map<String, String> env = new HashMap<>(Backend.S3.settings(NAME));
      env.put("FIRSTCLAIM_CLAIM_CREATE", "true");
      env.putAll(Backend.ACCESS);
      try {
        Run run = Run.with(recording(FILE), FOLDER, env, "probe");
        assertThat(FILE).as(run.output()).exists();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private static Path prepared(String name) {
    try {
      Files.createDirectories(FOLDER);
      Path file = FOLDER.resolve(name + ".aot");
      Files.deleteIfExists(file);
      return file;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<String> recording(Path file) {
    return List.of("-XX:AOTCacheOutput=" + file);
  }
}
