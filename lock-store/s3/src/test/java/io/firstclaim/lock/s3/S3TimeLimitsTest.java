package io.firstclaim.lock.s3;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.document.DocumentStore;
import io.firstclaim.lock.testkit.aws.TimeLimitContract;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;

class S3TimeLimitsTest extends TimeLimitContract {
  private @Nullable S3Client client;

  @AfterEach
  void close() {
    if (client != null) {
      client.close();
    }
  }

  private S3Client client(ExecutionInterceptor interceptor, Optional<Duration> limit) {
    // The interceptor sees the limits that the store gives each request before they are lifted.
    S3ClientBuilder builder =
        LocalS3.unhurried(
            LocalS3.intercepted(LocalS3.timed(LocalS3.builder(LocalS3.endpoint())), interceptor));
    limit.ifPresent(
        given ->
            builder.overrideConfiguration(
                builder.overrideConfiguration().toBuilder()
                    .apiCallTimeout(given)
                    .apiCallAttemptTimeout(given.dividedBy(4))
                    .build()));
    client = builder.build();
    return client;
  }

  @Override
  protected ClaimStore claims(
      ExecutionInterceptor interceptor, Optional<Duration> limit, ClaimSettings settings) {
    return LocalS3.store(client(interceptor, limit), settings, time, time);
  }

  @Override
  protected DocumentStore documents(ExecutionInterceptor interceptor, Optional<Duration> limit) {
    return new S3DocumentStore(client(interceptor, limit), LocalS3.BUCKET);
  }
}
