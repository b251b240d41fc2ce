package io.firstclaim.spring.autoconfigure;

import io.awspring.cloud.autoconfigure.core.AwsConnectionDetails;
import java.net.URI;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.regions.providers.AwsRegionProvider;

/**
 * Where Spring Cloud AWS is there, AWS is reached as it says: by a service connection ({@link
 * AwsConnectionDetails}), and by its credentials and Region.
 */
@AutoConfiguration(before = FirstclaimAutoConfiguration.class)
@ConditionalOnClass(AwsConnectionDetails.class)
public class FirstclaimAwsAutoConfiguration {
  /** Made by Spring. */
  FirstclaimAwsAutoConfiguration() {}

  @Bean
  AwsAccess firstclaimAwsAccess(
      ObjectProvider<AwsConnectionDetails> connections,
      ObjectProvider<AwsRegionProvider> regions,
      ObjectProvider<AwsCredentialsProvider> credentials) {
    AwsConnectionDetails details = connections.getIfUnique();
    return new AwsAccess(
        details == null ? null : endpoint(details),
        region(details, regions.getIfUnique()),
        credentials(details, credentials.getIfUnique()));
  }

  private static @Nullable URI endpoint(AwsConnectionDetails details) {
    return details.getEndpoint();
  }

  private static @Nullable Region region(
      @Nullable AwsConnectionDetails details, @Nullable AwsRegionProvider provider) {
    String region = details == null ? null : details.getRegion();
    if (region != null) {
      return Region.of(region);
    }
    return provider == null ? null : provider.getRegion();
  }

  private static @Nullable AwsCredentialsProvider credentials(
      @Nullable AwsConnectionDetails details, @Nullable AwsCredentialsProvider provider) {
    if (details != null && details.getAccessKey() != null && details.getSecretKey() != null) {
      return StaticCredentialsProvider.create(
          AwsBasicCredentials.create(details.getAccessKey(), details.getSecretKey()));
    }
    return provider;
  }
}
