package io.firstclaim.bench;

import io.firstclaim.bench.Instance.Plan;
import io.firstclaim.lock.StoreListener;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.dynamodb.DynamoDbClaimStore;
import io.firstclaim.processor.handler.HandlerResult;
import java.net.URI;
import java.util.List;
import java.util.Optional;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/** One zone's engine: it reads the records, and publishes and reads outcomes. */
final class FirstclaimPeer implements Peer {
  private final String bootstrapServers;
  private final DynamoDbClient client;

  FirstclaimPeer(String bootstrapServers, URI endpoint) {
    this.bootstrapServers = bootstrapServers;
    client = DynamoDb.client(endpoint);
  }

  @Override
  public Figure run(Work work) throws Exception {
    Plan plan = Plan.of(work.topic(), Optional.of(work.outcomes())).inFlight(work.atOnce());
    var store =
        new DynamoDbClaimStore(
            client, work.table(), plan.store(), TimeSource.system(), StoreListener.NONE);
    try (Instance zone = new Instance(bootstrapServers, plan, store, _ -> HandlerResult.done())) {
      return Instance.measure(work.records(), List.of(zone), Instance::completed);
    }
  }

  @Override
  public void close() {
    client.close();
  }
}
