package io.firstclaim.bench;

import com.amazonaws.services.dynamodbv2.AcquireLockOptions;
import com.amazonaws.services.dynamodbv2.AmazonDynamoDBLockClient;
import com.amazonaws.services.dynamodbv2.AmazonDynamoDBLockClientOptions;
import com.amazonaws.services.dynamodbv2.LockItem;
import com.amazonaws.services.dynamodbv2.ReleaseLockOptions;
import io.firstclaim.bench.Backend.Session;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/**
 * AWS's lock client: a lock a record, marked as done where it is released. It reads each lock
 * before it writes it. Nothing renews the locks, which are held too briefly to need it.
 */
final class LockClientPeer implements Peer {
  private final DynamoDbClient client;

  LockClientPeer(URI endpoint) {
    client = DynamoDb.client(endpoint);
  }

  @Override
  public Figure run(Work work) throws Exception {
    try (AmazonDynamoDBLockClient locks =
        new AmazonDynamoDBLockClient(
            AmazonDynamoDBLockClientOptions.builder(client, work.table())
                .withPartitionKeyName("pk")
                .withOwnerName("a/bench")
                .withLeaseDuration(30L)
                .withHeartbeatPeriod(10L)
                .withTimeUnit(TimeUnit.SECONDS)
                .withCreateHeartbeatBackgroundThread(false)
                .build())) {
      return Session.atOnce(work.records(), work.atOnce(), n -> once(locks, work.id(n)));
    }
  }

  private static void once(AmazonDynamoDBLockClient locks, String id) {
    LockItem lock;
    try {
      lock =
          locks
              .tryAcquireLock(
                  AcquireLockOptions.builder(id)
                      .withShouldSkipBlockingWait(true)
                      .withReplaceData(false) // whoever finds it may have been done with it
                      .withDeleteLockOnRelease(false)
                      .build())
              .orElseThrow();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    if (lock.getData().isPresent()) {
      throw new IllegalStateException(id + " is done");
    }
    ByteBuffer done = ByteBuffer.wrap("DONE".getBytes(StandardCharsets.UTF_8));
    if (!locks.releaseLock(
        ReleaseLockOptions.builder(lock).withDeleteLock(false).withData(done).build())) {
      throw new IllegalStateException(id + " was lost");
    }
  }

  @Override
  public void close() {
    client.close();
  }
}
