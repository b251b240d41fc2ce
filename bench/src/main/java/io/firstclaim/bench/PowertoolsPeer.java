package io.firstclaim.bench;

import com.amazonaws.services.lambda.runtime.Context;
import com.fasterxml.jackson.databind.node.TextNode;
import io.firstclaim.bench.Backend.Session;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.time.Duration;
import org.aspectj.lang.ProceedingJoinPoint;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.lambda.powertools.idempotency.Idempotency;
import software.amazon.lambda.powertools.idempotency.IdempotencyConfig;
import software.amazon.lambda.powertools.idempotency.internal.IdempotencyHandler;
import software.amazon.lambda.powertools.idempotency.persistence.DynamoDBPersistenceStore;

/**
 * Powertools for AWS Lambda: an idempotent call a record, its result stored. What the aspect would
 * call is called without weaving. The first write is conditional, the second is not.
 */
final class PowertoolsPeer implements Peer {
  private static final String RESULT = "DONE";

  private final DynamoDbClient client;

  /** An invocation with thirty seconds left. */
  private final Context invocation =
      of(Context.class, name -> name.equals("getRemainingTimeInMillis") ? 30_000 : null);

  private final ProceedingJoinPoint call =
      of(ProceedingJoinPoint.class, name -> name.equals("proceed") ? RESULT : null);

  PowertoolsPeer(URI endpoint) {
    client = DynamoDb.client(endpoint);
  }

  @Override
  public Figure run(Work work) throws Exception {
    Idempotency.config()
        .withPersistenceStore(
            DynamoDBPersistenceStore.builder()
                .withDynamoDbClient(client)
                .withTableName(work.table())
                .withKeyAttr("pk")
                .withExpiryAttr("expiresAt")
                .build())
        .withConfig(IdempotencyConfig.builder().withExpiration(Duration.ofDays(15)).build())
        .configure();
    return Session.atOnce(work.records(), work.atOnce(), n -> once(work.id(n)));
  }

  private void once(String id) {
    try {
      Object result =
          new IdempotencyHandler(call, "bench", TextNode.valueOf(id), invocation).handle();
      if (!RESULT.equals(result)) {
        throw new IllegalStateException(id + " ended as " + result);
      }
    } catch (Throwable e) { // as the handler declares it
      throw new IllegalStateException(e);
    }
  }

  private interface Answers {
    @Nullable Object to(String method);
  }

  private static <T> T of(Class<T> type, Answers answers) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (_, method, _) -> answers.to(method.getName())));
  }

  @Override
  public void close() {
    client.close();
  }
}
