package io.firstclaim.processor.service.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult.Granted;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.StoreListener;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.dynamodb.DynamoDbClaimStore;
import io.firstclaim.lock.dynamodb.DynamoDbTable;
import io.firstclaim.lock.testkit.process.JvmTuning;
import io.firstclaim.processor.engine.admission.StoreGate;
import io.firstclaim.stack.server.DynamoDbServer;
import io.firstclaim.stack.server.Unhurried;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.awaitility.core.ConditionFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.http.SdkHttpResponse;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbServiceClientConfiguration;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.BatchExecuteStatementRequest;
import software.amazon.awssdk.services.dynamodb.model.BatchExecuteStatementResponse;
import software.amazon.awssdk.services.dynamodb.model.BatchStatementError;
import software.amazon.awssdk.services.dynamodb.model.BatchStatementRequest;
import software.amazon.awssdk.services.dynamodb.model.BatchStatementResponse;
import software.amazon.awssdk.services.dynamodb.model.GetItemRequest;
import software.amazon.awssdk.services.dynamodb.model.GetItemResponse;
import software.amazon.awssdk.services.dynamodb.model.ProvisionedThroughputExceededException;
import software.amazon.awssdk.services.dynamodb.model.PutItemRequest;
import software.amazon.awssdk.services.dynamodb.model.PutItemResponse;
import software.amazon.awssdk.services.dynamodb.model.UpdateItemRequest;
import software.amazon.awssdk.services.dynamodb.model.UpdateItemResponse;

/**
 * The gate before a table that throttles some of the statements of a request, and the others not.
 */
@Execution(ExecutionMode.CONCURRENT)
class ThrottledClaimsTest {
  private static final String TABLE = "claims";
  private static final AttributeValue NO_KEY = AttributeValue.fromS("");
  private static final int HOT = 7;
  private static final String NAMESPACE = "throttled";

  /** What a write says that a busy machine kept from being sent, or answered, in ten seconds. */
  private static final String TOOK_LONGER = "took longer than";

  private final DynamoDbServer server = DynamoDbServer.start(JvmTuning.SHORT_RUN);
  private final DynamoDbClient real =
      DynamoDbClient.builder()
          .endpointOverride(server.endpoint())
          .region(Region.EU_CENTRAL_1)
          .credentialsProvider(
              StaticCredentialsProvider.create(AwsBasicCredentials.create("test", "test")))
          .httpClientBuilder(Apache5HttpClient.builder().maxConnections(64))
          .overrideConfiguration(override -> override.addExecutionInterceptor(new Unhurried()))
          .build();
  private final Throttling client = new Throttling(real);
  private final TimeSource time = TimeSource.system();
  private final ClaimSettings settings = ClaimSettings.of(NAMESPACE, "a");
  private final ClaimStore store =
      new DynamoDbClaimStore(client, TABLE, settings, time, StoreListener.NONE);

  /**
   * Its time stands still, so that it learns from what is throttled alone and not from how fast
   * this machine is. Its pauses are short; what is asked in between is counted.
   */
  private final StoreGate gate =
      new StoreGate(
          () -> {},
          store::writesAtOnce,
          settings.lease(),
          new TimeSource() {
            private final Moment still = time.now();

            @Override
            public Moment now() {
              return still;
            }

            @Override
            public void sleep(Duration duration) throws InterruptedException {
              time.sleep(Duration.ofMillis(10));
            }
          });

  private final AtomicInteger claiming = new AtomicInteger();
  private final AtomicInteger mostClaiming = new AtomicInteger();
  private final List<FutureTask<Void>> workers = new ArrayList<>();

  /** The keys for which the server took so long that they were not waited for. */
  private final Set<String> late = ConcurrentHashMap.newKeySet();

  ThrottledClaimsTest() {
    new DynamoDbTable(real, TABLE).create();
  }

  @AfterEach
  void close() {
    real.close();
    server.close();
  }

  private static final class Throttling implements DynamoDbClient {
    private final DynamoDbClient real;

    /** How often a claim on each of these keys was sent, in whatever request. */
    private final Map<String, AtomicInteger> claims = new ConcurrentHashMap<>();

    private final AtomicInteger throttledStatements = new AtomicInteger();
    private final AtomicInteger throttledSingles = new AtomicInteger();
    private volatile List<String> hot = List.of();
    private volatile CountDownLatch held = new CountDownLatch(0);

    Throttling(DynamoDbClient real) {
      this.real = real;
    }

    /**
     * Answers nothing until it lets go, so that what is asked meanwhile leaves in common requests.
     */
    void hold() {
      held = new CountDownLatch(1);
    }

    void letGo() {
      held.countDown();
    }

    private void awaitLetGo() {
      try {
        held.await();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }

    private void count(String key) {
      int _ = claims.getOrDefault(key, new AtomicInteger()).incrementAndGet();
    }

    private String key(BatchStatementRequest insert) {
      return insert.parameters().stream()
          .map(AttributeValue::s)
          .filter(text -> text != null && claims.containsKey(text))
          .findFirst()
          .orElse("");
    }

    @Override
    public BatchExecuteStatementResponse batchExecuteStatement(BatchExecuteStatementRequest asked) {
      awaitLetGo();
      List<BatchStatementRequest> passed = new ArrayList<>();
      List<Boolean> throttled = new ArrayList<>();
      for (BatchStatementRequest each : asked.statements()) {
        boolean isClaim = each.statement().startsWith("INSERT");
        boolean isHot = isClaim && hot.contains(key(each));
        throttled.add(isHot);
        if (isClaim) {
          count(key(each));
        }
        if (isHot) {
          int _ = throttledStatements.incrementAndGet();
        } else {
          passed.add(each);
        }
      }
      var answers =
          (passed.isEmpty()
                  ? List.<BatchStatementResponse>of()
                  : real.batchExecuteStatement(batch -> batch.statements(passed)).responses())
              .iterator();
      BatchStatementError error =
          BatchStatementError.builder().code("ThrottlingError").message("by the test").build();
      var answer =
          BatchExecuteStatementResponse.builder()
              .responses(
                  throttled.stream()
                      .map(
                          hot ->
                              hot
                                  ? BatchStatementResponse.builder().error(error).build()
                                  : answers.next())
                      .toList());
      answer.sdkHttpResponse(SdkHttpResponse.builder().statusCode(200).build());
      return answer.build();
    }

    @Override
    public UpdateItemResponse updateItem(UpdateItemRequest asked) {
      awaitLetGo();
      String key = String.valueOf(asked.key().getOrDefault("pk", NO_KEY).s());
      count(key);
      if (hot.contains(key)) {
        int _ = throttledSingles.incrementAndGet();
        throw ProvisionedThroughputExceededException.builder()
            .statusCode(400)
            .awsErrorDetails(
                AwsErrorDetails.builder()
                    .errorCode("ProvisionedThroughputExceededException")
                    .errorMessage("by the test")
                    .build())
            .build();
      }
      return real.updateItem(asked);
    }

    @Override
    public PutItemResponse putItem(PutItemRequest asked) {
      return real.putItem(asked);
    }

    @Override
    public GetItemResponse getItem(GetItemRequest asked) {
      return real.getItem(asked);
    }

    @Override
    public DynamoDbServiceClientConfiguration serviceClientConfiguration() {
      return real.serviceClientConfiguration();
    }

    @Override
    public String serviceName() {
      return real.serviceName();
    }

    @Override
    public void close() {}
  }

  private static RecordId id(String run, int n) {
    return RecordId.of(run + n);
  }

  private static String key(String run, int n) {
    return id(run, n).key(NAMESPACE);
  }

  /** Claims a record through the gate until it is granted, and completes it, as the engine does. */
  private void process(RecordId id) throws InterruptedException {
    Claim claim = Claim.of(id, Fingerprint.none(), time.now());
    Lease lease = null;
    while (lease == null) {
      StoreGate.Request request = gate.request(() -> true);
      assertThat(request.pass()).isNull();
      try {
        try {
          lease = claimed(claim).lease();
          request.answered(true);
        } catch (StoreUnavailableException e) {
          String cause = String.valueOf(e.getMessage());
          if (cause.contains(TOOK_LONGER)) {
            late.add(id.key(NAMESPACE));
          }
          request.failed(cause);
          continue;
        }
        Lease held = lease;
        @Nullable SettleResult result = gate.step(() -> store.complete(held, null));
        while (result instanceof SettleResult.Unknown) {
          late.add(id.key(NAMESPACE));
          result = gate.step(() -> store.complete(held, null));
        }
        assertThat(result).isInstanceOf(SettleResult.Settled.class);
      } finally {
        request.leave();
      }
    }
  }

  private Granted claimed(Claim claim) {
    mostClaiming.accumulateAndGet(claiming.incrementAndGet(), Math::max);
    try {
      return (Granted) store.claim(claim);
    } finally {
      claiming.decrementAndGet();
    }
  }

  private void start(String run, int records) {
    IntStream.range(0, records)
        .forEach(
            n -> {
              client.claims.put(key(run, n), new AtomicInteger());
              FutureTask<Void> worker =
                  new FutureTask<>(
                      () -> {
                        process(id(run, n));
                        return null;
                      });
              workers.add(worker);
              Thread.ofVirtual().start(worker);
            });
  }

  private void awaitAll() throws Exception {
    for (FutureTask<Void> worker : workers) {
      worker.get();
    }
    workers.clear();
  }

  private static ConditionFactory eventually() {
    return await().atMost(Duration.ofMinutes(10));
  }

  @Test
  void throttledStatements_slowClaimsDown_andNothingElseOfTheirRequestIsSentAgain()
      throws Exception {
    for (int run = 0; run == 0 || !late.isEmpty(); run++) {
      late.clear();
      start("before-" + run + "-", 400); // the gate learns how much the table takes
      awaitAll();
    }
    int unthrottled = mostClaiming.get();
    assertThat(unthrottled).isGreaterThan(20);
    client.claims.clear();

    client.hot =
        IntStream.range(0, 60).filter(n -> n % HOT == 0).mapToObj(n -> key("r", n)).toList();
    client.hold();
    start("r", 60);
    eventually().until(() -> claiming.get() > 20);
    client.letGo();
    eventually().until(() -> client.throttledSingles.get() > 0 && claiming.get() <= 2);
    assertThat(client.throttledStatements.get()).as("throttled in a common request").isPositive();
    mostClaiming.set(0);
    eventually().until(() -> client.throttledSingles.get() > 3 * client.hot.size());
    assertThat(mostClaiming.get())
        .as("claims at once, while some are throttled")
        .isLessThan(unthrottled / 2);
    // Those that are not throttled go on, and what was granted is completed.
    eventually()
        .until(() -> workers.stream().filter(FutureTask::isDone).count() == 60 - client.hot.size());

    List<String> hot = client.hot;
    client.hot = List.of();
    awaitAll();

    client.claims.keySet().removeAll(hot);
    assertThat(client.claims).hasSize(60 - hot.size());
    client.claims.keySet().removeAll(late);
    assertThat(client.claims.values())
        .as("claims sent on each that was never throttled")
        .allSatisfy(times -> assertThat(times).hasValue(1));
    assertThat(gate.isOpen()).isTrue();
  }
}
