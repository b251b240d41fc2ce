package io.firstclaim.lock.dynamodb;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.testkit.fault.Match;
import io.firstclaim.lock.testkit.fault.Request;
import java.net.http.HttpResponse;
import java.util.function.Predicate;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/**
 * Requests that arrive late, on a store that sends each write in a batch, even a single one. There
 * a takeover follows a read, and is conditional on what was read.
 */
class BatchedLateRequestsTest extends DynamoDbLateRequestsTest {
  @Override
  ClaimStore store(DynamoDbClient client, ClaimSettings settings, TimeSource machine) {
    return LocalDynamoDb.batched(client, settings, machine);
  }

  @Override
  protected Predicate<Request> takeover() {
    return Match.operation("PutItem", "UpdateItem");
  }

  @Override
  protected boolean took(HttpResponse<String> answer) {
    return answer.body().startsWith("{\"Responses\"")
        ? !answer.body().contains("\"Error\"")
        : super.took(answer);
  }
}
