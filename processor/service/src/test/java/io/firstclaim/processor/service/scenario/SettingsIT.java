package io.firstclaim.processor.service.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the package makes of its settings, where that takes a process of its own. */
class SettingsIT {
  private static final Map<String, String> NO_AWS =
      Map.of(
          "AWS_EC2_METADATA_DISABLED", "true",
          "AWS_CONFIG_FILE", "/not/there",
          "AWS_SHARED_CREDENTIALS_FILE", "/not/there");

  @TempDir Path directory;

  private Run run(Map<String, String> more, String... args) throws IOException {
    Map<String, String> env = new HashMap<>(NO_AWS);
    env.putAll(more);
    return Run.of(directory, env, args);
  }

  private static Map<String, String> good() {
    return Map.of(
        "FIRSTCLAIM_ZONE", "a",
        "FIRSTCLAIM_INPUT_TOPICS", "orders",
        "FIRSTCLAIM_INPUT_RECORD_ID", "key",
        "FIRSTCLAIM_HANDLER_TYPE", "log",
        "KAFKA_BOOTSTRAP_SERVERS", "127.0.0.1:9092");
  }

  private static Map<String, String> goodBut(Map<String, String> more) {
    Map<String, String> all = new HashMap<>(good());
    all.putAll(more);
    return all;
  }

  @Test
  void allWrongSettings_areToldAtOneStart_aLineEach() throws IOException {
    Run run =
        run(
            goodBut(
                Map.of(
                    "FIRSTCLAIM_ZONE", "Zone A",
                    "FIRSTCLAIM_CLAIM_LEESE", "10s",
                    "FIRSTCLAIM_HANDLER_TYPE", "htttp",
                    "FIRSTCLAIM_LOG_LEVEL", "LOUD",
                    "KAFKA_GROUP_ID", "mine")));

    assertThat(run.exitCode()).as(run.output()).isOne();
    assertThat(run.output().lines())
        .allMatch(line -> line.startsWith("firstclaim: "))
        .hasSize(5)
        .anyMatch(line -> line.startsWith("firstclaim: firstclaim.zone=Zone A: "))
        .anyMatch(line -> line.endsWith("the nearest is FIRSTCLAIM_CLAIM_LEASE"))
        .anyMatch(line -> line.startsWith("firstclaim: firstclaim.handler.type=htttp: "))
        .anyMatch(line -> line.startsWith("firstclaim: FIRSTCLAIM_LOG_LEVEL=LOUD: "))
        .anyMatch(line -> line.startsWith("firstclaim: kafka.group.id=mine: "));
  }

  @ParameterizedTest
  @CsvSource({
    "OTEL_TRACES_SAMPLER, sometimes, otel.traces.sampler: sometimes",
    "OTEL_EXPORTER_OTLP_HEADERS, my-secret, otel.exporter.otlp.headers"
  })
  void wrongSettingOfOpenTelemetry_stopsTheStart_andTellsNoSecret(
      String variable, String value, String told) throws IOException {
    Run run =
        run(
            goodBut(
                Map.of(
                    "FIRSTCLAIM_CLAIM_BACKEND",
                    "memory",
                    "OTEL_TRACES_EXPORTER",
                    "otlp",
                    variable,
                    value)));

    assertThat(run.exitCode()).as(run.output()).isOne();
    assertThat(run.output().lines().filter(line -> line.startsWith("firstclaim: ")))
        .singleElement(InstanceOfAssertFactories.STRING)
        .startsWith("firstclaim: a setting under otel: ")
        .endsWith(told);
    assertThat(run.output()).doesNotContain("secret");
  }

  @Test
  void settingsGivenAsArguments_work() throws IOException {
    Run run =
        run(
            Map.of(),
            "-firstclaim.zone=a",
            "--firstclaim.input.topics=orders",
            "-firstclaim.input.record-id=json:/a=b",
            "-firstclaim.handler.type=log",
            "-firstclaim.claim.lease=soon",
            "--kafka.bootstrap.servers=127.0.0.1:9092");

    assertThat(run.exitCode()).as(run.output()).isOne();
    assertThat(run.output().lines())
        .singleElement()
        .asString()
        .startsWith("firstclaim: firstclaim.claim.lease=soon: ");
  }

  @Test
  void help_namesAllSettings() throws IOException {
    Run run = run(Map.of(), "--help");

    assertThat(run.exitCode()).isZero();
    assertThat(run.output()).contains("firstclaim.claim.lease", "[30s]", "firstclaim.handler.path");
  }

  @Test
  void version_isToldInOneLine() throws IOException {
    Run run = run(Map.of(), "--version");

    assertThat(run.exitCode()).isZero();
    assertThat(run.output()).matches("firstclaim \\d+\\.\\d+\\S*\\R");
  }

  @Test
  void missingRegion_endsTheStart_inOneLine() throws IOException {
    Run run = run(good());

    assertThat(run.exitCode()).as(run.output()).isOne();
    assertThat(run.lines())
        .singleElement()
        .asString()
        .startsWith("firstclaim: AWS_REGION is not set: ");
  }

  @Test
  void missingCredentials_endTheStart_inOneLine() throws IOException {
    Run run = run(goodBut(Map.of("AWS_REGION", "eu-central-1")));

    assertThat(run.exitCode()).as(run.output()).isOne();
    assertThat(run.output()).doesNotContain(" WARN ", "Exception");
    assertThat(run.lines())
        .singleElement()
        .asString()
        .startsWith("firstclaim: AWS_ACCESS_KEY_ID is not set: ");
  }
}
