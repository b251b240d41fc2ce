package io.firstclaim.bench;

import io.firstclaim.bench.Instance.Plan;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.StoreListener;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.dynamodb.DynamoDbClaimStore;
import io.firstclaim.lock.s3.S3Bucket;
import io.firstclaim.lock.s3.S3ClaimStore;
import io.firstclaim.processor.handler.HandlerResult;
import java.net.URI;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import software.amazon.awssdk.core.SdkClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.s3.S3Client;

/** One zone's engine: it reads the records, and publishes and reads outcomes. */
final class FirstclaimPeer implements Peer {
  private final String bootstrapServers;
  private final SdkClient client;
  private final BiFunction<Work, Plan, ClaimStore> store;

  private FirstclaimPeer(
      String bootstrapServers, SdkClient client, BiFunction<Work, Plan, ClaimStore> store) {
    this.bootstrapServers = bootstrapServers;
    this.client = client;
    this.store = store;
  }

  static Peer onDynamoDb(String bootstrapServers, URI endpoint) {
    DynamoDbClient client = DynamoDb.client(endpoint);
    return new FirstclaimPeer(
        bootstrapServers,
        client,
        (work, plan) ->
            new DynamoDbClaimStore(
                client, work.table(), plan.store(), TimeSource.system(), StoreListener.NONE));
  }

  static Peer onS3(String bootstrapServers, URI endpoint) {
    S3Client client = S3.client(endpoint);
    return new FirstclaimPeer(
        bootstrapServers,
        client,
        (work, plan) ->
            new S3ClaimStore(
                new S3Bucket(client, S3.BUCKET, work.table()),
                plan.store(),
                TimeSource.system(),
                StoreListener.NONE));
  }

  @Override
  public Figure run(Work work) throws Exception {
    Plan plan = Plan.of(work.topic(), Optional.of(work.outcomes())).inFlight(work.atOnce());
    try (Instance zone =
        new Instance(bootstrapServers, plan, store.apply(work, plan), _ -> HandlerResult.done())) {
      return Instance.measure(work.records(), List.of(zone), Instance::completed);
    }
  }

  @Override
  public void close() {
    client.close();
  }
}
