package io.firstclaim.lock.dynamodb;

import io.firstclaim.bench.standin.StandIn;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.StoreListener;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.store.StoreClock;
import io.firstclaim.lock.testkit.ManualTime;
import io.firstclaim.lock.testkit.RandomHistoryContract;
import io.firstclaim.lock.testkit.WallClockContract;
import io.firstclaim.stack.server.Unhurried;
import io.netty.channel.Channel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/**
 * The contracts of the stores in DynamoDB, on the stand-in for it that the bench measures on: where
 * it does not keep them, its figures count for nothing. It is in this package as the contracts
 * drive the store's clock, which users cannot.
 */
class StandInTest {
  private static final String TABLE = "claims";

  private static Channel server;
  private static DynamoDbClient client;

  @BeforeAll
  static void start() throws InterruptedException {
    server =
        StandIn.serve(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), Duration.ZERO);
    int port = ((InetSocketAddress) server.localAddress()).getPort();
    client =
        DynamoDbClient.builder()
            .endpointOverride(URI.create("http://127.0.0.1:" + port))
            .region(Region.EU_CENTRAL_1)
            .credentialsProvider(
                StaticCredentialsProvider.create(AwsBasicCredentials.create("test", "test")))
            .httpClientBuilder(Apache5HttpClient.builder().maxConnections(64))
            .overrideConfiguration(override -> override.addExecutionInterceptor(new Unhurried()))
            .build();
    new DynamoDbTable(client, TABLE).create();
  }

  @AfterAll
  static void stop() throws InterruptedException {
    client.close();
    server.close().sync();
    server.eventLoop().parent().shutdownGracefully(0, 1, TimeUnit.SECONDS).sync();
  }

  private static ClaimItems items(ClaimSettings settings, TimeSource time) {
    return new ClaimItems(
        client, TABLE, settings, time, StoreClock.ofMachine(time), StoreListener.NONE);
  }

  private static ClaimStore single(ClaimSettings settings, TimeSource time) {
    return new DynamoDbClaimStore(items(settings, time), 1);
  }

  /** Sends each write as a statement, even a single one. */
  private static ClaimStore batched(ClaimSettings settings, TimeSource time) {
    ClaimItems items = items(settings, time);
    return new DynamoDbClaimStore(items, new BatchedItems(items, DynamoDbClaimStore.BATCH, 1));
  }

  @Nested
  class Claims extends WallClockContract {
    @Override
    protected ClaimStore store(ClaimSettings settings, TimeSource time) {
      return single(settings, time);
    }
  }

  @Nested
  class BatchedClaims extends WallClockContract {
    @Override
    protected ClaimStore store(ClaimSettings settings, TimeSource time) {
      return batched(settings, time);
    }
  }

  @Nested
  class Histories extends RandomHistoryContract {
    @Override
    public ClaimStore store(ClaimSettings settings, ManualTime machine) {
      return single(settings, machine);
    }

    @Override
    protected int histories() {
      return 2;
    }
  }

  @Nested
  class BatchedHistories extends RandomHistoryContract {
    @Override
    public ClaimStore store(ClaimSettings settings, ManualTime machine) {
      return batched(settings, machine);
    }

    @Override
    protected int histories() {
      return 2;
    }
  }
}
