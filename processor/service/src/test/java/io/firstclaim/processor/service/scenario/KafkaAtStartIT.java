package io.firstclaim.processor.service.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.Moment;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.stack.server.FreePort;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * What a start makes of Kafka. In a container stack, a broker that has not started yet has no
 * address either. What is waited for is said again after 15 s, in a line.
 */
class KafkaAtStartIT {
  private static final Duration SAY_EVERY = Duration.ofSeconds(15);

  @RegisterExtension final Scenario scenario = new Scenario(Backend.DYNAMODB, 1);

  /** It is said once in each 15 s since the launch at most. */
  private static void isSaid(Zone zone, Moment launch, String line) {
    List<String> said = zone.logText().lines().filter(each -> each.contains(line)).toList();
    assertThat(said).isNotEmpty();
    assertThat(SAY_EVERY.multipliedBy(said.size() - 1))
        .isLessThanOrEqualTo(TimeSource.system().now().since(launch));
  }

  @Test
  void brokerWithoutAddress_isWaitedFor_inOneLine(@TempDir Path directory) throws IOException {
    Path hosts = Files.createFile(directory.resolve("hosts"));
    String port = Servers.KAFKA.bootstrapServers().replaceFirst(".*:", "");
    Zone zone =
        scenario
            .zone("a")
            .set("KAFKA_BOOTSTRAP_SERVERS", "late.test:" + port)
            .set(
                "JDK_JAVA_OPTIONS",
                "-Djdk.net.hosts.file=%s -Dsun.net.inetaddr.negative.ttl=0".formatted(hosts));
    Moment launch = TimeSource.system().now();
    zone.launch();
    String line = "Waiting for Kafka: no name in bootstrap.servers=late.test:" + port;
    scenario.eventually("the zone waits", () -> isSaid(zone, launch, line));
    assertThat(zone.isReady()).isFalse();
    scenario.eventually("the zone is live", () -> assertThat(zone.isLive()).isTrue());
    scenario.eventually(
        "metrics say that it is not ready",
        () -> assertThat(zone.prometheus().lines()).contains("firstclaim_ready 0.0"));

    Files.write(hosts, List.of("127.0.0.1 late.test localhost"));
    zone.awaitReady();
    assertThat(zone.prometheus().lines()).contains("firstclaim_ready 1.0", "firstclaim_paused 0.0");
    isSaid(zone, launch, line);
  }

  @Test
  void brokerThatRefuses_isWaitedFor_inOneLine() {
    String wrong = "127.0.0.1:" + FreePort.next();
    Zone zone = scenario.zone("a").set("KAFKA_BOOTSTRAP_SERVERS", wrong);
    Moment launch = TimeSource.system().now();
    zone.launch();
    String line = "Waiting for Kafka: nothing answers at bootstrap.servers=" + wrong;
    scenario.eventually("the zone says what it waits for", () -> isSaid(zone, launch, line));
    scenario.eventually("the zone is live", () -> assertThat(zone.isLive()).isTrue());
    isSaid(zone, launch, line);
    assertThat(zone.logText().lines().filter(each -> each.contains(" WARN ")))
        .allMatch(each -> each.contains(line));
  }

  @Test
  void stopInTheMiddleOfTheStart_endsWithZero() {
    Zone zone = scenario.zone("a");
    zone.launch();
    scenario.eventually("it has begun", () -> assertThat(zone.logText()).isNotEmpty());

    zone.terminate();

    assertThat(zone.awaitEnd(Scenario.PATIENCE)).isTrue();
    assertThat(zone.exitCode()).as(zone.logText()).isZero();
  }

  @Test
  void stopWhileKafkaHasNoAddress_isInGoodOrder(@TempDir Path directory) throws IOException {
    Path hosts = Files.createFile(directory.resolve("hosts"));
    Zone zone =
        scenario
            .zone("a")
            .set("KAFKA_BOOTSTRAP_SERVERS", "late.test:9092")
            .set("JDK_JAVA_OPTIONS", "-Djdk.net.hosts.file=" + hosts);
    zone.launch();
    scenario.eventually(
        "the zone waits", () -> assertThat(zone.logText()).contains("Waiting for Kafka"));
    zone.terminate();
    assertThat(zone.awaitEnd(Scenario.PATIENCE)).isTrue();
    assertThat(zone.exitCode()).isZero();
  }

  @Test
  void wrongKafkaSetting_endsTheStart_inOneLine() throws IOException {
    Zone zone = scenario.zone("a").set("KAFKA_RECEIVE_BUFFER_BYTES", "some\nmore");
    zone.launch();
    assertThat(zone.awaitEnd(Scenario.PATIENCE)).isTrue();
    assertThat(zone.exitCode()).isOne();
    assertThat(zone.logText().lines().filter(line -> !line.contains(" INFO ")))
        .singleElement()
        .asString()
        .startsWith("firstclaim: a setting under kafka: ")
        .contains("some more", "receive.buffer.bytes", "Not a number");
  }

  @Test
  void compactedTopicsOfActsAndViolations_endTheStart_withTheCommandThatMendsThem(
      @TempDir Path directory) throws IOException {
    String application = scenario.topic();
    for (String topic : List.of(application + ".acts", application + ".violations")) {
      Servers.KAFKA.createTopic(topic, 1, Map.of("cleanup.policy", "compact"));
      Zone zone =
          scenario.zone("a").audited(application).inDefaultGroup().operatedWith("t0ken", directory);
      zone.launch();
      assertThat(zone.awaitEnd(Scenario.PATIENCE)).isTrue();
      assertThat(zone.exitCode()).isOne();
      assertThat(zone.logText())
          .contains("firstclaim: topic %s has cleanup.policy=compact, ".formatted(topic))
          .contains("--entity-name %s --add-config cleanup.policy=delete".formatted(topic));
      scenario.groups().configureTopic(topic, "cleanup.policy", "delete");
    }
  }
}
