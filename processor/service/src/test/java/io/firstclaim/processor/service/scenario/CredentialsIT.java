package io.firstclaim.processor.service.scenario;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Credentials that the package must ask a service of AWS for: that of a Kubernetes service account,
 * and that of a profile which has signed in. The service is a stand-in on the loopback.
 */
class CredentialsIT {
  private static final String ROLE_ARN = "arn:aws:iam::123456789012:role/firstclaim";

  @TempDir Path directory;

  /** What the stand-in was asked, as {@code path?query body token}. */
  private final Queue<String> asked = new ConcurrentLinkedQueue<>();

  private HttpServer server;
  private int status = 200;
  private String answer = "";

  @BeforeEach
  void start() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          String body = new String(exchange.getRequestBody().readAllBytes(), UTF_8);
          asked.add(
              "%s %s %s"
                  .formatted(
                      exchange.getRequestURI(),
                      URLDecoder.decode(body, UTF_8),
                      exchange.getRequestHeaders().getFirst("x-amz-sso_bearer_token")));
          byte[] bytes = answer.getBytes(UTF_8);
          exchange.sendResponseHeaders(status, bytes.length);
          exchange.getResponseBody().write(bytes);
          exchange.close();
        });
    server.start();
  }

  @AfterEach
  void stop() {
    server.stop(0);
  }

  private Run probe(Map<String, String> more) throws IOException {
    Map<String, String> env = new HashMap<>(Backend.DYNAMODB.settings("credentials"));
    env.put("FIRSTCLAIM_CLAIM_CREATE", "true");
    env.put("AWS_REGION", "eu-central-1");
    env.put("AWS_EC2_METADATA_DISABLED", "true");
    env.put("AWS_SHARED_CREDENTIALS_FILE", "/not/there");
    String endpoint = "http://127.0.0.1:" + server.getAddress().getPort();
    env.put("AWS_ENDPOINT_URL_STS", endpoint);
    env.put("AWS_ENDPOINT_URL_SSO", endpoint);
    env.putAll(more);
    return Run.of(directory, env, "probe");
  }

  private Map<String, String> serviceAccount() throws IOException {
    Path token = Files.writeString(directory.resolve("token"), "the-service-accounts-token");
    return Map.of(
        "AWS_WEB_IDENTITY_TOKEN_FILE",
        token.toString(),
        "AWS_ROLE_ARN",
        ROLE_ARN,
        "AWS_CONFIG_FILE",
        "/not/there");
  }

  @Test
  void serviceAccount_isGivenItsRole() throws IOException {
    answer =
        """
        <AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
          <AssumeRoleWithWebIdentityResult>
            <Credentials>
              <AccessKeyId>ASIAROLE</AccessKeyId>
              <SecretAccessKey>secret</SecretAccessKey>
              <SessionToken>session</SessionToken>
              <Expiration>%s</Expiration>
            </Credentials>
          </AssumeRoleWithWebIdentityResult>
        </AssumeRoleWithWebIdentityResponse>
        """
            .formatted(Instant.now().plus(Duration.ofHours(1)));

    Run run = probe(serviceAccount());

    assertThat(run.exitCode()).as(run.output()).isZero();
    assertThat(asked)
        .anySatisfy(
            request ->
                assertThat(request)
                    .contains("Action=AssumeRoleWithWebIdentity")
                    .contains("RoleArn=" + ROLE_ARN)
                    .contains("WebIdentityToken=the-service-accounts-token"));
  }

  @Test
  void serviceAccountThatMayNotHaveTheRole_endsTheStart_withWhatAwsSays() throws IOException {
    status = 403;
    answer =
        """
        <ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
          <Error>
            <Type>Sender</Type>
            <Code>AccessDenied</Code>
            <Message>Not authorized to perform sts:AssumeRoleWithWebIdentity</Message>
          </Error>
        </ErrorResponse>
        """;

    Run run = probe(serviceAccount());

    assertThat(run.exitCode()).as(run.output()).isEqualTo(2);
    assertThat(run.lines())
        .singleElement()
        .asString()
        .startsWith("firstclaim: AWS_WEB_IDENTITY_TOKEN_FILE=" + directory.resolve("token"))
        .contains("Not authorized to perform sts:AssumeRoleWithWebIdentity")
        .contains("AWS_ROLE_ARN");
    assertThat(run.output()).doesNotContain("the-service-accounts-token");
  }

  @Test
  void profileThatSignedIn_isGivenItsRole() throws Exception {
    answer =
        """
        {"roleCredentials": {"accessKeyId": "ASIASSO", "secretAccessKey": "secret",
         "sessionToken": "session", "expiration": %d}}
        """
            .formatted(Instant.now().plus(Duration.ofHours(1)).toEpochMilli());
    Path config =
        Files.writeString(
            directory.resolve("config"),
            """
            [profile payments]
            sso_session = company
            sso_account_id = 123456789012
            sso_role_name = firstclaim
            [sso-session company]
            sso_region = eu-central-1
            sso_start_url = https://company.awsapps.com/start
            """);
    Path cache = Files.createDirectories(directory.resolve(".aws/sso/cache"));
    Files.writeString(
        cache.resolve(sha1("company") + ".json"),
        """
        {"accessToken": "the-signed-in-token", "region": "eu-central-1",
         "startUrl": "https://company.awsapps.com/start", "expiresAt": "%s"}
        """
            .formatted(Instant.now().plus(Duration.ofHours(1))));

    Run run =
        probe(
            Map.of(
                "AWS_CONFIG_FILE", config.toString(),
                "AWS_PROFILE", "payments",
                "HOME", directory.toString()));

    assertThat(run.exitCode()).as(run.output()).isZero();
    assertThat(asked)
        .anySatisfy(
            request ->
                assertThat(request)
                    .contains("role_name=firstclaim")
                    .contains("account_id=123456789012")
                    .contains("the-signed-in-token"));
  }

  /** The name under which the SDK looks for the token of a session. */
  private static String sha1(String session) throws NoSuchAlgorithmException {
    byte[] hash = MessageDigest.getInstance("SHA-1").digest(session.getBytes(UTF_8));
    return HexFormat.of().formatHex(hash);
  }
}
