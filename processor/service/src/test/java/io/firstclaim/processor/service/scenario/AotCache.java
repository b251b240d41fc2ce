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
 * start it more than a hundred times, and with this a start takes little more than half of the CPU
 * time. Commands load less than half of what the service does, and loading the rest would take them
 * half of what they save: so they have a cache of their own. Both are recorded with claims in
 * DynamoDB, where most scenarios have theirs: what S3 takes besides is little.
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

  // What records is not in these classes: other threads that run their code would wait until they
  // are initialised, and they for those threads.

  private static final class Service {
    static final Path FILE = recordedByAService();
  }

  private static final class Command {
    static final Path FILE = recordedByACommand();
  }

  /** By a service that completes a record, gives one up, and is asked about it. */
  private static Path recordedByAService() {
    Path file = prepared("service");
    try (Groups groups = new Groups();
        Sink sink = new Sink();
        Feed feed = new Feed(NAME);
        Outcomes outcomes = new Outcomes(NAME + ".outcomes");
        Zone zone = new Zone("a", "a1", FOLDER.resolve("a1.log"), Backend.DYNAMODB, NAME)) {
      groups.createTopic(NAME, 1);
      sink.behave(call -> call.id().equals("refused") ? 422 : 200);
      zone.audited(NAME)
          .operatedWith(Operator.TOKEN, FOLDER)
          .set("FIRSTCLAIM_INPUT_TOPICS", NAME)
          .set("FIRSTCLAIM_HANDLER_HTTP_URL", sink.url());
      zone.launch(recording(file));
      zone.awaitReady();
      feed.send(List.of("taken", "refused"));
      Scenario.await("one record is completed, the other is dead")
          .untilAsserted(
              () -> {
                assertThat(outcomes.ids("COMPLETED")).containsExactly("taken");
                assertThat(outcomes.ids("DEAD")).containsExactly("refused");
              });
      Operator.get(zone, "/api/summary");
      Operator.get(zone, "/api/records/refused");
      Operator.redrive(zone, "refused", Map.of("reason", "once more"));
      assertThat(Operator.metrics(zone)).isNotEmpty();
      zone.terminate(); // it writes the cache when it ends
      assertThat(zone.awaitEnd(Scenario.PATIENCE)).as("it ends").isTrue();
      assertThat(file).as(zone.logTail()).exists();
      return file;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** By a command that asks the store. */
  private static Path recordedByACommand() {
    Path file = prepared("command");
    Map<String, String> env = new HashMap<>(Backend.DYNAMODB.settings(NAME));
    env.put("FIRSTCLAIM_CLAIM_CREATE", "true");
    env.putAll(Backend.ACCESS);
    try {
      Run run = Run.with(recording(file), FOLDER, env, "probe");
      assertThat(file).as(run.output()).exists();
      return file;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
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
