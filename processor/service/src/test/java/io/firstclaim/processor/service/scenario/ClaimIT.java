package io.firstclaim.processor.service.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.StoreListener;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.dynamodb.DynamoDbClaimStore;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/** The {@code claim} command of the package, which is given neither zone nor topics nor Kafka. */
class ClaimIT {
  private static final RecordId ID = RecordId.of("order\n4711");

  @TempDir Path directory;

  private Run run(Map<String, String> settings, String... args) throws IOException {
    Map<String, String> env = new HashMap<>(settings);
    env.put("AWS_REGION", "eu-central-1");
    env.put("AWS_ACCESS_KEY_ID", "local");
    env.put("AWS_SECRET_ACCESS_KEY", "local");
    return Run.of(directory, env, args);
  }

  private void create(Backend backend, String place) throws IOException {
    Map<String, String> settings = new HashMap<>(backend.settings(place));
    settings.put("FIRSTCLAIM_CLAIM_CREATE", "true");
    assertThat(run(settings, "probe").exitCode()).isZero();
  }

  @ParameterizedTest
  @EnumSource(Backend.class)
  void recordThatTheStoreDoesNotKnow_isAbsent_underItsKey(Backend backend) throws IOException {
    create(backend, "claim-absent");

    Run ended = run(backend.settings("claim-absent"), "claim", ID.text());

    assertThat(ended.exitCode()).as(ended.output()).isEqualTo(1);
    String hash = ID.key("firstclaim");
    assertThat(ended.output())
        .contains("ID        order%0A4711")
        .contains("state     ABSENT")
        .contains(hash.substring(hash.length() - 32));
  }

  @Test
  void claimedRecord_isShown_withHolderTokenAndAttempts() throws IOException {
    create(Backend.DYNAMODB, "claim-found");
    try (DynamoDbClient client =
        DynamoDbClient.builder()
            .endpointOverride(Servers.DYNAMO_DB.endpoint())
            .region(Region.EU_CENTRAL_1)
            .credentialsProvider(
                StaticCredentialsProvider.create(AwsBasicCredentials.create("local", "local")))
            .httpClientBuilder(Apache5HttpClient.builder())
            .build()) {
      TimeSource time = TimeSource.system();
      var store =
          new DynamoDbClaimStore(
              client,
              "claim-found",
              ClaimSettings.of("firstclaim", "a/host-17"),
              time,
              StoreListener.NONE);
      ClaimResult _ = store.claim(Claim.of(ID, Fingerprint.none(), time.now()));
    }

    Run ended = run(Backend.DYNAMODB.settings("claim-found"), "claim", "order%0A4711");

    assertThat(ended.exitCode()).as(ended.output()).isZero();
    assertThat(ended.output())
        .contains("DynamoDB table claim-found")
        .contains("state     HELD")
        .contains("holder    a/host-17")
        .contains("token     1")
        .contains("attempts  1");
  }

  private static void requireOneLine(String line, Run ended) {
    assertThat(ended.exitCode()).as(ended.output()).isEqualTo(2);
    assertThat(ended.output().lines()).singleElement().asString().startsWith("firstclaim: " + line);
  }

  @Test
  void memoryOfAnotherProcess_cannotBeAsked() throws IOException {
    requireOneLine(
        "firstclaim.claim.backend=memory: ",
        run(Map.of("FIRSTCLAIM_CLAIM_BACKEND", "memory"), "claim", "x"));
  }

  @Test
  void claimWithoutAnId_isToldInOneLine() throws IOException {
    requireOneLine("argument=claim: ", run(Map.of(), "claim"));
  }

  @Test
  void whatIsNoId_isToldInOneLine() throws IOException {
    requireOneLine("claim=: ", run(Backend.DYNAMODB.settings("any"), "claim", ""));
  }

  @Test
  void missingTable_isToldInOneLine() throws IOException {
    requireOneLine("DynamoDB table ", run(Backend.DYNAMODB.settings("not-there"), "claim", "x"));
  }
}
