package io.firstclaim.processor.service.store;

import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.processor.engine.setting.WrongSettingException;
import java.net.UnknownHostException;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider;
import software.amazon.awssdk.auth.credentials.ProfileCredentialsProvider;
import software.amazon.awssdk.auth.credentials.WebIdentityTokenFileCredentialsProvider;
import software.amazon.awssdk.awscore.client.builder.AwsClientBuilder;
import software.amazon.awssdk.awscore.client.builder.AwsSyncClientBuilder;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.regions.Region;

/**
 * Clients of AWS; their Region, credentials and endpoint are the AWS SDK's own settings. What is
 * wrong with those is reported as a wrong setting, as waiting does not mend it.
 */
public enum AwsClients {
  /** Clients of DynamoDB. */
  DYNAMODB("AWS_ENDPOINT_URL_DYNAMODB"),
  /** Clients of S3. */
  S3("AWS_ENDPOINT_URL_S3");

  /**
   * Connections to one store: for all that passes the gate, even if each write is a request of its
   * own, and for what does not pass it.
   */
  private static final int CONNECTIONS = 2 * ClaimStore.REQUESTS_AT_ONCE;

  private static final int MAX_REASON = 500;

  private static final Set<String> WRONG_CREDENTIALS =
      Set.of(
          "ExpiredToken",
          "ExpiredTokenException",
          "IncompleteSignature",
          "InvalidAccessKeyId",
          "InvalidClientTokenId",
          "InvalidSignatureException",
          "InvalidToken",
          "MissingAuthenticationToken",
          "MissingAuthenticationTokenException",
          "SignatureDoesNotMatch",
          "UnrecognizedClientException");

  private static final Set<String> WRONG_REGION =
      Set.of(
          "AuthorizationHeaderMalformed",
          "PermanentRedirect",
          "IllegalLocationConstraintException");

  private final String endpointVariable;

  AwsClients(String endpointVariable) {
    this.endpointVariable = endpointVariable;
  }

  /**
   * The client.
   *
   * @throws WrongSettingException if Region or credentials are missing
   */
  public <B extends AwsSyncClientBuilder<B, C> & AwsClientBuilder<B, C>, C> C client(B builder) {
    DefaultCredentialsProvider credentials = DefaultCredentialsProvider.builder().build();
    C client = built(builder.credentialsProvider(credentials));
    requireCredentials(credentials);
    return client;
  }

  private <B extends AwsSyncClientBuilder<B, C> & AwsClientBuilder<B, C>, C> C built(B builder) {
    try {
      return builder
          .httpClientBuilder(Apache5HttpClient.builder().maxConnections(CONNECTIONS))
          .build();
    } catch (SdkException e) {
      throw new WrongSettingException(
          "AWS_REGION",
          null,
          "name the Region, such as eu-central-1; any will do where %s is set (%s)"
              .formatted(endpointVariable, e.getMessage()));
    }
  }

  private static void requireCredentials(DefaultCredentialsProvider credentials) {
    try {
      var _ = credentials.resolveCredentials();
    } catch (SdkException _) {
      requireCredentials(
          "AWS_WEB_IDENTITY_TOKEN_FILE",
          "check AWS_ROLE_ARN, and that the role trusts this service account",
          WebIdentityTokenFileCredentialsProvider::create);
      requireCredentials(
          "AWS_PROFILE",
          "check the profile, and sign in again where it is one of SSO",
          ProfileCredentialsProvider::create);
      throw new WrongSettingException(
          "AWS_ACCESS_KEY_ID",
          null,
          "there are no credentials; give AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, AWS_PROFILE,"
              + " or a role (any will do for a store of one's own that asks for none)");
    }
  }

  /** Says why this source has none, where it was named: the SDK's chain tells of all at once. */
  private static void requireCredentials(
      String variable, String remedy, Supplier<AwsCredentialsProvider> source) {
    String value = System.getenv(variable);
    if (value == null) {
      return;
    }
    try {
      var _ = source.get().resolveCredentials();
    } catch (SdkException e) {
      String reason = OneLine.of(String.valueOf(e.getMessage()), MAX_REASON);
      throw new WrongSettingException(
          variable, value, "it gives no credentials: %s; %s".formatted(reason, remedy));
    }
  }

  /**
   * Asks a client's service.
   *
   * @param region the client's
   * @throws StoreUnavailableException if there is no answer
   * @throws WrongSettingException if the answer is that credentials or Region are wrong
   */
  public <T> T ask(Region region, Supplier<T> request) {
    try {
      return request.get();
    } catch (StoreUnavailableException e) {
      throw wrongSetting(region, e).<RuntimeException>map(wrong -> wrong).orElse(e);
    }
  }

  private Optional<WrongSettingException> wrongSetting(
      Region region, StoreUnavailableException fault) {
    for (@Nullable Throwable t = fault; t != null; t = t.getCause()) {
      if (t instanceof AwsServiceException answer && answer.awsErrorDetails() != null) {
        String code = String.valueOf(answer.awsErrorDetails().errorCode());
        if (WRONG_CREDENTIALS.contains(code)) {
          return Optional.of(
              new WrongSettingException(
                  "AWS credentials",
                  code,
                  "AWS refuses them (%s); check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY,"
                          .formatted(answer.awsErrorDetails().errorMessage())
                      + " AWS_PROFILE or the role, and AWS_REGION"));
        }
        if (WRONG_REGION.contains(code)) {
          return Optional.of(
              wrongRegion(
                  region,
                  "it is in another Region (%s)"
                      .formatted(answer.awsErrorDetails().errorMessage())));
        }
      }
      if (t instanceof UnknownHostException && isNoRegion(region)) {
        return Optional.of(
            wrongRegion(region, "there is no such Region; give one such as eu-central-1"));
      }
    }
    return Optional.empty();
  }

  /** With an endpoint of the user's own, the Region's name does not matter. */
  private boolean isNoRegion(Region region) {
    return System.getenv(endpointVariable) == null
        && System.getenv("AWS_ENDPOINT_URL") == null
        && !Region.regions().contains(region);
  }

  private static WrongSettingException wrongRegion(Region region, String remedy) {
    return new WrongSettingException("AWS_REGION", region.id(), remedy);
  }
}
