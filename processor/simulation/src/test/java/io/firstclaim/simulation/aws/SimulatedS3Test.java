package io.firstclaim.simulation.aws;

import static io.firstclaim.lock.testkit.Claimant.settled;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.ConformanceResult;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.StoreListener;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.s3.S3Bucket;
import io.firstclaim.lock.s3.Sweeper;
import io.firstclaim.lock.testkit.ClaimStoreContract;
import io.firstclaim.lock.testkit.Claimant;
import io.firstclaim.lock.testkit.ClockTortureContract;
import io.firstclaim.lock.testkit.ManualTime;
import io.firstclaim.lock.testkit.RandomHistoryContract;
import io.firstclaim.lock.testkit.aws.LateRequestContract;
import io.firstclaim.lock.testkit.deduplicator.DeduplicatorContract;
import io.firstclaim.lock.testkit.fault.Match;
import io.firstclaim.lock.testkit.fault.Request;
import io.firstclaim.lock.testkit.mutex.MutexContract;
import io.firstclaim.stack.server.Unhurried;
import java.net.URI;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.http.SdkHttpResponse;
import software.amazon.awssdk.retries.DefaultRetryStrategy;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;

/** What the simulation's S3 must keep, as any S3 must, for its results to count. */
class SimulatedS3Test {
  private static final Duration SECOND = Duration.ofSeconds(1);

  @Nested
  class Claims extends ClaimStoreContract {
    private final TestS3 s3 = new TestS3(false);

    @Override
    protected ClaimStore store(ClaimSettings settings, TimeSource machine) {
      return s3.in(time).store(settings, machine);
    }

    @Override
    protected Duration tick() {
      return SECOND;
    }
  }

  @Nested
  class ClaimsInAVersionedBucket extends ClaimStoreContract {
    private final TestS3 s3 = new TestS3(true);

    @Override
    protected ClaimStore store(ClaimSettings settings, TimeSource machine) {
      return s3.in(time).store(settings, machine);
    }

    @Override
    protected Duration tick() {
      return SECOND;
    }
  }

  @Nested
  class Mutexes extends MutexContract {
    private final TestS3 s3 = new TestS3(false);

    @Override
    protected ClaimStore store(ClaimSettings settings, TimeSource machine) {
      return s3.in(time).store(settings, machine);
    }

    @Override
    protected Duration tick() {
      return Duration.ofSeconds(2);
    }
  }

  @Nested
  class Deduplicators extends DeduplicatorContract {
    private final TestS3 s3 = new TestS3(false);

    @Override
    protected ClaimStore store(ClaimSettings settings, TimeSource machine) {
      return s3.in(time).store(settings, machine);
    }

    @Override
    protected Duration tick() {
      return Duration.ofSeconds(2);
    }
  }

  @Nested
  class Histories extends RandomHistoryContract {
    private final TestS3 s3 = new TestS3(false);

    @Override
    public ClaimStore store(ClaimSettings settings, ManualTime machine) {
      return s3.in(machine).store(settings, machine);
    }

    @Override
    public Duration tick() {
      return SECOND;
    }

    @Override
    protected int histories() {
      return 5;
    }
  }

  @Nested
  class Clocks extends ClockTortureContract {
    private final TestS3 s3 = new TestS3(false);

    @Override
    public ClaimStore store(ClaimSettings settings, TimeSource machine, ManualTime world) {
      return s3.in(world).store(settings, machine);
    }

    @Override
    public boolean judgesByMachine() {
      return false;
    }

    @Override
    protected int histories() {
      return 15;
    }
  }

  /** The JDK's server has a Date of its own. */
  private record DateOf(ManualTime time) implements ExecutionInterceptor {
    @Override
    public SdkHttpResponse modifyHttpResponse(
        Context.ModifyHttpResponse context, ExecutionAttributes attributes) {
      String date =
          DateTimeFormatter.RFC_1123_DATE_TIME.format(time.right().atOffset(ZoneOffset.UTC));
      return context.httpResponse().copy(response -> response.putHeader("Date", date));
    }
  }

  @Nested
  class LateRequests extends LateRequestContract {
    private static final TestS3 S3 = new TestS3(false);
    private static final HttpServer SERVER = S3.serve(0);

    @AfterAll
    static void stop() {
      SERVER.stop(0);
    }

    @Override
    protected URI endpoint() {
      return URI.create("http://127.0.0.1:" + SERVER.getAddress().getPort());
    }

    @Override
    protected ClaimStore store(
        URI endpoint,
        ExecutionInterceptor interceptor,
        ClaimSettings settings,
        TimeSource machine) {
      S3.in(time);
      S3ClientBuilder builder = S3Bucket.configure(TestS3.builder(endpoint.toString()), settings);
      S3Client client =
          opened(
              builder
                  .overrideConfiguration(
                      builder.overrideConfiguration().toBuilder()
                          .addExecutionInterceptor(new DateOf(time))
                          .addExecutionInterceptor(interceptor)
                          .addExecutionInterceptor(new Unhurried())
                          .retryStrategy(DefaultRetryStrategy.doNotRetry())
                          .build())
                  .build());
      return TestS3.store(client, settings, machine);
    }

    @Override
    protected Predicate<Request> takeover() {
      return Match.header("If-Match");
    }

    @Override
    protected boolean took(HttpResponse<String> answer) {
      assertThat(answer.statusCode()).as(answer.body()).isIn(200, 412);
      return answer.statusCode() == 200;
    }

    @Override
    protected Duration tick() {
      return SECOND;
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void itsConditionsAreKept_alsoInRaces(boolean versioned) {
    S3Client client =
        S3Bucket.configure(new TestS3(versioned).builder(), ClaimSettings.of("any", "a")).build();

    assertThat(new S3Bucket(client, TestS3.BUCKET, TestS3.PREFIX).checks())
        .allMatch(ConformanceResult::kept);
  }

  @Test
  void aSweeperSweepsIt_butNotWhereDeletesAreTwoSteps() throws InterruptedException {
    assertThat(remainsAfterASweep(null)).isFalse();
    assertThat(
            remainsAfterASweep(
                step -> {
                  var _ =
                      CompletableFuture.runAsync(
                          step, CompletableFuture.delayedExecutor(20, TimeUnit.MILLISECONDS));
                }))
        .isTrue();
  }

  private static boolean remainsAfterASweep(@Nullable Consumer<Runnable> later)
      throws InterruptedException {
    ManualTime time = ManualTime.start();
    ClaimSettings settings =
        new ClaimSettings("swept", "a", Duration.ofSeconds(30), SECOND, Duration.ofDays(1));
    TestS3 s3 = new TestS3(Instant::now, later).in(time);
    Claimant claimant = new Claimant(s3.store(settings, time), time);
    RecordId id = RecordId.of("order-4711");
    settled(claimant.store().complete(claimant.acquire(id), null));
    time.advance(Duration.ofDays(2));
    S3Client client = S3Bucket.configure(s3.builder(), settings).build();
    var _ =
        new Sweeper(
                new S3Bucket(client, TestS3.BUCKET, TestS3.PREFIX),
                settings,
                Duration.ofHours(1),
                time,
                StoreListener.NONE,
                (_, _) -> {})
            .sweep();
    return claimant.store().find(id).isPresent();
  }
}
