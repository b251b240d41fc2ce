package io.firstclaim.bench;

import io.firstclaim.bench.Backend.Session;
import io.firstclaim.lock.aws.TimeLimits;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.provider.dynamodb2.DynamoDBLockProvider;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeDefinition;
import software.amazon.awssdk.services.dynamodb.model.BillingMode;
import software.amazon.awssdk.services.dynamodb.model.KeySchemaElement;
import software.amazon.awssdk.services.dynamodb.model.KeyType;

/** ShedLock: a lock a record, locked and unlocked. Its writes are smaller: it knows no "done". */
final class ShedLockPeer implements Peer {
  /** What it calls its key. */
  private static final String KEY = "_id";

  private static final AttributeDefinition ATTRIBUTE =
      AttributeDefinition.builder().attributeName(KEY).attributeType("S").build();
  private static final KeySchemaElement HASH =
      KeySchemaElement.builder().attributeName(KEY).keyType(KeyType.HASH).build();

  private static final Duration LEASE = Duration.ofSeconds(30);

  private final DynamoDbClient client;

  ShedLockPeer(URI endpoint) {
    client = DynamoDb.client(endpoint);
  }

  @Override
  public Figure run(Work work) throws Exception {
    String table = work.table() + "-shedlock"; // the key's name is its own
    var _ =
        client.createTable(
            create ->
                create
                    .tableName(table)
                    .attributeDefinitions(List.of(ATTRIBUTE))
                    .keySchema(List.of(HASH))
                    .billingMode(BillingMode.PAY_PER_REQUEST)
                    .overrideConfiguration(TimeLimits.SETUP));
    LockProvider locks = new DynamoDBLockProvider(client, table);
    return Session.atOnce(
        work.records(),
        work.atOnce(),
        n ->
            locks
                .lock(new LockConfiguration(Instant.now(), work.id(n), LEASE, Duration.ZERO))
                .orElseThrow()
                .unlock());
  }

  @Override
  public void close() {
    client.close();
  }
}
