package io.firstclaim.processor.service.bench;

import io.firstclaim.processor.service.bench.Backend.Session;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.provider.dynamodb2.DynamoDBLockProvider;
import net.javacrumbs.shedlock.provider.dynamodb2.DynamoDBUtils;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.ProvisionedThroughput;

/** ShedLock: a lock a record, locked and unlocked. Its writes are smaller: it knows no "done". */
final class ShedLockPeer implements Peer {
  private static final Duration LEASE = Duration.ofSeconds(30);

  private final DynamoDbClient client;

  ShedLockPeer(URI endpoint) {
    client = DynamoDb.client(endpoint);
  }

  @Override
  public Figure run(Work work) throws Exception {
    String table = work.table() + "-shedlock"; // the key's name is its own
    var _ =
        DynamoDBUtils.createLockTable(
            client,
            table,
            ProvisionedThroughput.builder()
                .readCapacityUnits(10_000L)
                .writeCapacityUnits(10_000L)
                .build());
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
