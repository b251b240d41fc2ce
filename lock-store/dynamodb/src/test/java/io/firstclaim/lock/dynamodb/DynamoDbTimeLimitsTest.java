package io.firstclaim.lock.dynamodb;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.document.DocumentStore;
import io.firstclaim.lock.testkit.aws.TimeLimitContract;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbClientBuilder;

class DynamoDbTimeLimitsTest extends TimeLimitContract {
  private @Nullable DynamoDbClient client;

  @AfterEach
  void close() {
    if (client != null) {
      client.close();
    }
  }

  private DynamoDbClient client(ExecutionInterceptor interceptor, Optional<Duration> limit) {
    // The interceptor sees the limits that the store gives each request before they are lifted.
    DynamoDbClientBuilder builder =
        LocalDynamoDb.unhurried(
            LocalDynamoDb.intercepted(
                LocalDynamoDb.builder(LocalDynamoDb.endpoint()), interceptor));
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
    return LocalDynamoDb.store(client(interceptor, limit), settings, time);
  }

  @Override
  protected DocumentStore documents(ExecutionInterceptor interceptor, Optional<Duration> limit) {
    return new DynamoDbDocumentStore(client(interceptor, limit), LocalDynamoDb.TABLE);
  }
}
