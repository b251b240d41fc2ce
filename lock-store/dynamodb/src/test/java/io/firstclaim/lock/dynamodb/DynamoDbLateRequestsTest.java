package io.firstclaim.lock.dynamodb;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.testkit.aws.LateRequestContract;
import io.firstclaim.lock.testkit.fault.Match;
import io.firstclaim.lock.testkit.fault.Request;
import java.net.URI;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.function.Predicate;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

class DynamoDbLateRequestsTest extends LateRequestContract {
  @Override
  protected URI endpoint() {
    return LocalDynamoDb.endpoint();
  }

  @Override
  protected ClaimStore store(
      URI endpoint, ExecutionInterceptor interceptor, ClaimSettings settings, TimeSource machine) {
    var client =
        opened(
            LocalDynamoDb.intercepted(
                    LocalDynamoDb.unhurried(
                        LocalDynamoDb.notRetrying(LocalDynamoDb.builder(endpoint))),
                    interceptor)
                .build());
    return store(client, settings, machine);
  }

  ClaimStore store(DynamoDbClient client, ClaimSettings settings, TimeSource machine) {
    return LocalDynamoDb.store(client, settings, machine);
  }

  @Override
  protected Predicate<Request> takeover() {
    return Match.operation("UpdateItem");
  }

  @Override
  protected boolean took(HttpResponse<String> answer) {
    if (answer.statusCode() != 200) {
      assertThat(answer.body()).contains("ConditionalCheckFailedException");
    }
    return answer.statusCode() == 200;
  }

  @Override
  protected Duration tick() {
    return Duration.ofMillis(1);
  }
}
