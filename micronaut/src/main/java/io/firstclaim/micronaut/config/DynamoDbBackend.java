package io.firstclaim.micronaut.config;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.StoreListener;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.dynamodb.DynamoDbClaimStore;
import io.firstclaim.lock.dynamodb.DynamoDbTable;
import io.firstclaim.micronaut.config.FirstclaimSettings.BackendName;
import io.micronaut.context.annotation.Bean;
import io.micronaut.context.annotation.Requires;
import jakarta.inject.Singleton;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/** Claims in a DynamoDB table, by a client of its own. */
@Singleton
@Bean(preDestroy = "close")
@Requires(classes = DynamoDbClaimStore.class)
final class DynamoDbBackend implements Backend {
  private final FirstclaimSettings.Claim claim;
  private final FirstclaimSettings.DynamoDb settings;
  private final ClaimSettings claims;
  private @Nullable DynamoDbClient client;

  DynamoDbBackend(
      FirstclaimSettings.Claim claim, FirstclaimSettings.DynamoDb settings, ClaimSettings claims) {
    this.claim = claim;
    this.settings = settings;
    this.claims = claims;
  }

  @Override
  public BackendName name() {
    return BackendName.DYNAMODB;
  }

  @Override
  public ClaimStore open(TimeSource time) {
    DynamoDbClient opened = DynamoDbTable.configure(DynamoDbClient.builder(), claims).build();
    client = opened;
    if (claim.create()) {
      new DynamoDbTable(opened, settings.table()).create();
    }
    return DynamoDbClaimStore.open(
        opened, settings.table(), claims, time, StoreListener.NONE, settings.batch());
  }

  @Override
  public void close() {
    if (client != null) {
      client.close();
    }
  }
}
