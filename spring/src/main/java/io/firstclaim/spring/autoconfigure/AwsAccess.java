package io.firstclaim.spring.autoconfigure;

import java.net.URI;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.awscore.client.builder.AwsClientBuilder;
import software.amazon.awssdk.regions.Region;

/**
 * How AWS is reached, where the application says so; the AWS SDK's own way for what is null.
 *
 * @param endpoint of a service container, for all services
 * @param region the Region
 * @param credentials the credentials
 */
record AwsAccess(
    @Nullable URI endpoint, @Nullable Region region, @Nullable AwsCredentialsProvider credentials) {

  /** The same builder. */
  <B extends AwsClientBuilder<?, ?>> B applied(B builder) {
    if (endpoint != null) {
      var unused = builder.endpointOverride(endpoint);
    }
    if (region != null) {
      var unused = builder.region(region);
    }
    if (credentials != null) {
      var unused = builder.credentialsProvider(credentials);
    }
    return builder;
  }
}
