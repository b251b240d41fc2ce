package io.firstclaim.processor.service.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * What a start of the package leaves to later ones: its classes, loaded and linked. The scenarios
 * start it more than a hundred times, and with this each start takes a third of the CPU time. It is
 * recorded by a first start, which has one record to process, with claims in S3: what DynamoDB
 * takes besides is little.
 */
final class AotCache {
  private static final String NAME = "aot";
  private static final Path FILE = record(Path.of("target", "it", NAME));

  private AotCache() {}

  /** The JVM's arguments for a start with it. */
  static List<String> jvmArgs() {
    return List.of("-XX:AOTCache=" + FILE);
  }

  private static Path record(Path folder) {
    Path file = folder.resolve("firstclaim.aot");
    try (Groups groups = new Groups();
        Sink sink = new Sink();
        Feed feed = new Feed(NAME);
        Zone zone = new Zone("a", "a1", folder.resolve("a1.log"), Backend.S3, NAME)) {
      Files.createDirectories(folder);
      Files.deleteIfExists(file);
      groups.createTopic(NAME, 1);
      zone.audited(NAME)
          .set("FIRSTCLAIM_INPUT_TOPICS", NAME)
          .set("FIRSTCLAIM_HANDLER_HTTP_URL", sink.url());
      zone.launch(List.of("-XX:AOTCacheOutput=" + file.toAbsolutePath()));
      zone.awaitReady();
      feed.send("one");
      Scenario.await("the record is completed")
          .untilAsserted(() -> assertThat(zone.deliveries("completed")).isEqualTo(1));
      zone.terminate(); // it writes the cache when it ends
      assertThat(zone.awaitEnd(Scenario.PATIENCE)).as("it ends").isTrue();
      assertThat(file).as(zone.logTail()).exists();
      return file.toAbsolutePath();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
