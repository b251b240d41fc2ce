package io.firstclaim.lock.dynamodb;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.StoreListener;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.store.DatedClock;
import io.firstclaim.lock.store.StoreClock;
import io.firstclaim.lock.testkit.ManualTime;
import io.firstclaim.lock.testkit.fault.FaultProxy;
import io.firstclaim.lock.testkit.process.JvmTuning;
import io.firstclaim.stack.server.AwsPlace;
import io.firstclaim.stack.server.AwsTable;
import io.firstclaim.stack.server.DynamoDbServer;
import io.firstclaim.stack.server.Unhurried;
import java.net.URI;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.http.SdkHttpResponse;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.retries.StandardRetryStrategy;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbClientBuilder;
import software.amazon.awssdk.services.dynamodb.model.CreateTableRequest;
import software.amazon.awssdk.services.dynamodb.model.InternalServerErrorException;
import software.amazon.awssdk.services.dynamodb.model.ResourceInUseException;
import software.amazon.awssdk.services.dynamodb.model.ResourceNotFoundException;

/**
 * One DynamoDB Local for all tests of this JVM, with one table. It ends with the JVM. With the
 * system property {@code dynamodb.endpoint} it is the server there; with {@code aws.table} the
 * tests of {@code -Paws} use that table in AWS, and empty it as the JVM ends.
 *
 * <p>Most tests live in a time of their own, which is then the store's too; the others have the
 * answers dated by it.
 */
final class LocalDynamoDb {
  private static final Optional<String> IN_AWS = AwsPlace.given(AwsTable.PROPERTY);

  static final String TABLE = IN_AWS.orElse("claims");

  /** Holds the server, so that only who asks for it starts it, and not who wants a client alone. */
  private static final class Running {
    static final URI ENDPOINT =
        Optional.ofNullable(System.getProperty("dynamodb.endpoint"))
            .map(URI::create)
            .orElseGet(() -> DynamoDbServer.start(JvmTuning.SHORT_RUN).endpoint());

    static {
      try (DynamoDbClient client = unhurried(builder(ENDPOINT)).build()) {
        new DynamoDbTable(client, TABLE).create();
      }
    }
  }

  /** Holds the tests' common client. */
  private static final class Common {
    static final DynamoDbClient CLIENT =
        IN_AWS.map(Common::inAws).orElseGet(() -> unhurried(builder(endpoint())).build());

    private static DynamoDbClient inAws(String name) {
      AwsTable table = AwsTable.open(name);
      Runtime.getRuntime().addShutdownHook(new Thread(table::close));
      return table.client();
    }
  }

  private LocalDynamoDb() {}

  static URI endpoint() {
    return Running.ENDPOINT;
  }

  /** The tests' common client, straight to the server. */
  static DynamoDbClient client() {
    return Common.CLIENT;
  }

  /** Makes a table, which the SDK may do twice: where the first answer did not come in time. */
  static void createTable(DynamoDbClient client, Consumer<CreateTableRequest.Builder> table) {
    try {
      client.createTable(table);
    } catch (ResourceInUseException e) {
      // It is there, as is wanted.
    }
  }

  /** Deletes a table, which the SDK may do twice: where the first answer did not come in time. */
  static void deleteTable(DynamoDbClient client, String name) {
    try {
      client.deleteTable(delete -> delete.tableName(name));
    } catch (ResourceNotFoundException e) {
      // It is gone, as is wanted.
    }
  }

  /** A store by the test's time, to the millisecond. */
  static DynamoDbClaimStore store(ClaimSettings settings, TimeSource time) {
    return store(client(), settings, time);
  }

  static DynamoDbClaimStore store(DynamoDbClient client, ClaimSettings settings, TimeSource time) {
    return new DynamoDbClaimStore(items(client, settings, time), 1);
  }

  /** A store by the test's time that sends all its writes as statements, even single ones. */
  static DynamoDbClaimStore batched(
      DynamoDbClient client, ClaimSettings settings, TimeSource time) {
    return allStatements(items(client, settings, time));
  }

  /** A store that sends all writes as statements, on a table without transactions. */
  static DynamoDbClaimStore batchedOneByOne(ClaimSettings settings, TimeSource time) {
    ClaimItems items = items(client(), settings, time);
    return allStatements(
        new ClaimItems(
            items.client(),
            TABLE,
            settings,
            time,
            items.clock(),
            items.listener(),
            items.limits(),
            false));
  }

  /** A store that sends all writes as statements, and goes by the dates of the server's answers. */
  static DynamoDbClaimStore datedBatched(
      DynamoDbClient client, ClaimSettings settings, TimeSource time) {
    var clock = new DatedClock(time, settings.lease(), StoreListener.NONE);
    return allStatements(new ClaimItems(client, TABLE, settings, time, clock, StoreListener.NONE));
  }

  private static DynamoDbClaimStore allStatements(ClaimItems items) {
    return new DynamoDbClaimStore(items, new BatchedItems(items, DynamoDbClaimStore.BATCH, 1));
  }

  static ClaimItems items(DynamoDbClient client, ClaimSettings settings, TimeSource time) {
    return items(client, settings, time, StoreListener.NONE);
  }

  static ClaimItems items(
      DynamoDbClient client, ClaimSettings settings, TimeSource time, StoreListener listener) {
    return new ClaimItems(client, TABLE, settings, time, StoreClock.ofMachine(time), listener);
  }

  /** A store by the dates of the server's answers, as it is in use. */
  static DynamoDbClaimStore datedStore(
      DynamoDbClient client, ClaimSettings settings, TimeSource time) {
    return new DynamoDbClaimStore(client, TABLE, settings, time, StoreListener.NONE, 1);
  }

  /** The name of a table that is not there. */
  static String newTable() {
    return "table-" + Nonce.random();
  }

  /** A client as the SDK makes it, with its own retries and limits. */
  static DynamoDbClientBuilder builder(URI endpoint) {
    return DynamoDbClient.builder()
        .endpointOverride(endpoint)
        .region(Region.EU_CENTRAL_1)
        .credentialsProvider(
            StaticCredentialsProvider.create(AwsBasicCredentials.create("test", "test")))
        .httpClientBuilder(Apache5HttpClient.builder().maxConnections(64));
  }

  /** The same, without the SDK's own retries but of what the server did not get to. */
  static DynamoDbClientBuilder notRetrying(DynamoDbClientBuilder builder) {
    return builder.overrideConfiguration(
        builder.overrideConfiguration().toBuilder()
            .retryStrategy(
                StandardRetryStrategy.builder()
                    .maxAttempts(3)
                    .useClientDefaults(false)
                    .circuitBreakerEnabled(false)
                    .retryOnException(LocalDynamoDb::foundItsTableLocked)
                    .build())
            .build());
  }

  /**
   * Whether DynamoDB Local gave a request up, as others had its table for ten seconds; it says that
   * DynamoDB itself would not.
   */
  private static boolean foundItsTableLocked(Throwable refusal) {
    return refusal instanceof InternalServerErrorException
        && String.valueOf(refusal.getMessage()).contains("waiting for a lock");
  }

  /** The same, whose requests have the time that they take. */
  static DynamoDbClientBuilder unhurried(DynamoDbClientBuilder builder) {
    return intercepted(builder, new Unhurried());
  }

  /** The same, through a proxy that may lose answers: a try waits some seconds for one then. */
  static DynamoDbClientBuilder patient(DynamoDbClientBuilder builder, FaultProxy proxy) {
    return intercepted(builder, Unhurried.where(proxy::isFaulty));
  }

  static DynamoDbClientBuilder intercepted(
      DynamoDbClientBuilder builder, ExecutionInterceptor interceptor) {
    return builder.overrideConfiguration(
        builder.overrideConfiguration().toBuilder().addExecutionInterceptor(interceptor).build());
  }

  /** A client whose server lives in the test's time, cut to the second. */
  static DynamoDbClient dated(ManualTime time) {
    return dated(() -> time);
  }

  /** The same, where the time changes with the test. */
  static DynamoDbClient dated(Supplier<ManualTime> time) {
    return unhurried(dated(builder(endpoint()), time)).build();
  }

  /** The same by another way. */
  static DynamoDbClientBuilder dated(DynamoDbClientBuilder builder, Supplier<ManualTime> time) {
    return intercepted(builder, new Dated(time));
  }

  /** Answers dated by the test's own time. */
  private record Dated(Supplier<ManualTime> time) implements ExecutionInterceptor {
    @Override
    public SdkHttpResponse modifyHttpResponse(
        Context.ModifyHttpResponse context, ExecutionAttributes attributes) {
      String date =
          DateTimeFormatter.RFC_1123_DATE_TIME.format(time.get().right().atOffset(ZoneOffset.UTC));
      return context.httpResponse().copy(response -> response.putHeader("Date", date));
    }
  }
}
