package io.firstclaim.processor.service.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.firstclaim.lock.testkit.process.JvmTuning;
import io.firstclaim.stack.server.FreePort;
import io.firstclaim.stack.server.S3Server;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The {@code probe} command of the package, which is given neither zone nor topics nor Kafka. */
class ProbeIT {
  private static final String SECRET = "no-one-may-see-this";

  private static final Pattern SEEN =
      Pattern.compile("If-Match by 4 slow writers +\\d of 4 taken +BROKEN");

  @TempDir Path directory;

  private Run run(Map<String, String> settings, String... args) throws IOException {
    Map<String, String> env = new HashMap<>(settings);
    env.put("AWS_REGION", "eu-central-1");
    env.put("AWS_ACCESS_KEY_ID", "local");
    env.put("AWS_SECRET_ACCESS_KEY", SECRET);
    Run run = Run.of(directory, env, args);
    assertThat(run.output()).doesNotContain(SECRET);
    return run;
  }

  private static Map<String, String> s3(S3Server server) {
    return Map.of(
        "FIRSTCLAIM_CLAIM_BACKEND", "s3",
        "FIRSTCLAIM_CLAIM_S3_BUCKET", "probe",
        "AWS_ENDPOINT_URL_S3", server.endpoint().toString());
  }

  @ParameterizedTest
  @EnumSource(Backend.class)
  void storeThatKeepsConditions_isAccepted_checkByCheck(Backend backend) throws IOException {
    Map<String, String> settings = new HashMap<>(backend.settings("probe"));
    settings.put("FIRSTCLAIM_CLAIM_CREATE", "true");

    Run ended = run(settings, "probe");

    assertThat(ended.exitCode()).as(ended.output()).isZero();
    assertThat(ended.output())
        .contains("probe")
        .endsWith("Claims can rest on it." + System.lineSeparator());
    assertThat(ended.output().lines().filter(line -> line.endsWith("  ok")))
        .as(ended.output())
        .hasSizeGreaterThan(5);
  }

  @Test
  void storeThatBreaksACondition_isRefused_withWhatWasSeen() throws IOException {
    try (S3Server raw = S3Server.startRaw(JvmTuning.SHORT_RUN)) {
      raw.createBucket("probe");

      // On a busy machine the four may come one after another, and then nothing is seen.
      Run ended =
          Scenario.await("the four slow writers come at once")
              .until(() -> run(s3(raw), "probe"), each -> SEEN.matcher(each.output()).find());

      assertThat(ended.exitCode()).as(ended.output()).isEqualTo(1);
      assertThat(ended.output())
          .containsPattern("If-None-Match: \\* where one is +refused +ok")
          .containsPattern("PUT without a condition under claims/ +taken +NOT DENIED")
          .endsWith("Claims cannot rest on it." + System.lineSeparator());
    }
  }

  @Test
  void policy_isPrinted_forEachBucketThatTheSettingsName() throws IOException {
    Run ended =
        run(
            Map.of(),
            "policy",
            "-firstclaim.claim.backend=s3",
            "-firstclaim.claim.s3.bucket=claims-bucket",
            "-firstclaim.handler.dataset.bucket=lake-bucket");

    assertThat(ended.exitCode()).as(ended.output()).isZero();
    MappingIterator<JsonNode> policies =
        new ObjectMapper().readerFor(JsonNode.class).readValues(ended.output());
    assertThat(policies.readAll())
        .extracting(policy -> policy.at("/Statement/0/Resource/0").asText())
        .containsExactly(
            "arn:aws:s3:::claims-bucket/claims/*", "arn:aws:s3:::lake-bucket/metastore/*");
  }

  private static void requireOneLine(String line, Run ended) {
    assertThat(ended.exitCode()).as(ended.output()).isEqualTo(2);
    assertThat(ended.output().lines()).singleElement().asString().startsWith("firstclaim: " + line);
  }

  @Test
  void wrongSetting_isToldInOneLine() throws IOException {
    requireOneLine(
        "firstclaim.claim.backend=memory: ",
        run(Map.of("FIRSTCLAIM_CLAIM_BACKEND", "memory"), "probe"));
  }

  @Test
  void unknownArgument_isToldInOneLine() throws IOException {
    requireOneLine("argument=prove: ", run(Map.of(), "prove"));
  }

  @Test
  void settingsGivenAsArguments_work() throws IOException {
    requireOneLine(
        "firstclaim.claim.backend=memory: ",
        run(Map.of(), "-firstclaim.claim.backend=memory", "probe"));
  }

  @Test
  void missingTable_isToldInOneLine() throws IOException {
    requireOneLine(
        "DynamoDB table not-there is missing; create it, ",
        run(Backend.DYNAMODB.settings("not-there"), "probe"));
  }

  @Test
  void unreachableStore_isToldInOneLine() throws IOException {
    requireOneLine(
        "S3 bucket probe: ",
        run(
            Map.of(
                "FIRSTCLAIM_CLAIM_BACKEND", "s3",
                "FIRSTCLAIM_CLAIM_S3_BUCKET", "probe",
                "AWS_ENDPOINT_URL_S3", "http://127.0.0.1:" + FreePort.next()),
            "probe"));
  }
}
