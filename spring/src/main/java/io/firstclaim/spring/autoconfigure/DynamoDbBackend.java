package io.firstclaim.spring.autoconfigure;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.StoreListener;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.dynamodb.DynamoDbClaimStore;
import io.firstclaim.lock.dynamodb.DynamoDbTable;
import io.firstclaim.spring.autoconfigure.FirstclaimProperties.BackendName;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/** Claims in a DynamoDB table, by a client of its own. */
final class DynamoDbBackend implements Backend {
  private final FirstclaimProperties.Claim properties;
  private final ClaimSettings claims;
  private final AwsAccess access;
  private @Nullable DynamoDbClient client;

  DynamoDbBackend(FirstclaimProperties.Claim properties, ClaimSettings claims, AwsAccess access) {
    this.properties = properties;
    this.claims = claims;
    this.access = access;
  }

  @Override
  public BackendName name() {
    return BackendName.DYNAMODB;
  }

  @Override
  public ClaimStore open(TimeSource time) {
    String table = properties.dynamodb().table();
    DynamoDbClient opened =
        access.applied(DynamoDbTable.configure(DynamoDbClient.builder(), claims)).build();
    client = opened;
    if (properties.create()) {
      new DynamoDbTable(opened, table).create();
    }
    return DynamoDbClaimStore.open(
        opened, table, claims, time, StoreListener.NONE, properties.dynamodb().batch());
  }

  @Override
  public void close() {
    if (client != null) {
      client.close();
    }
  }
}
