package io.firstclaim.bench;

import io.firstclaim.bench.Backend.Session;
import java.net.URI;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/** Two conditional writes a record, each waited for on a virtual thread; nothing else. */
final class SdkPeer implements Peer {
  private final DynamoDbClient client;

  SdkPeer(URI endpoint) {
    client = DynamoDb.client(endpoint);
  }

  @Override
  public Figure run(Work work) throws Exception {
    return Session.atOnce(
        work.records(),
        work.atOnce(),
        n -> {
          var _ = client.updateItem(DynamoDb.claimOf(work.table(), work.id(n)));
          var _ = client.putItem(DynamoDb.completionOf(work.table(), work.id(n)));
        });
  }

  @Override
  public void close() {
    client.close();
  }
}
