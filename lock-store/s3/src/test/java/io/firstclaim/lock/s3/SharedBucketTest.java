package io.firstclaim.lock.s3;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.StoreListener;
import io.firstclaim.lock.testkit.ManualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;
import software.amazon.awssdk.services.s3.DelegatingS3Client;
import software.amazon.awssdk.services.s3.model.GetBucketLifecycleConfigurationRequest;
import software.amazon.awssdk.services.s3.model.GetBucketLifecycleConfigurationResponse;
import software.amazon.awssdk.services.s3.model.LifecycleRule;
import software.amazon.awssdk.services.s3.model.PutBucketLifecycleConfigurationRequest;
import software.amazon.awssdk.services.s3.model.PutBucketLifecycleConfigurationResponse;

/**
 * Several who set up one bucket at the same moment. S3 takes a bucket's lifecycle rules as a whole,
 * without a condition; the server here takes none, so they are kept by its client.
 */
@ResourceLock(Resources.SYSTEM_ERR)
class SharedBucketTest {
  private static final int STARTS = 6;

  private final Lifecycle client = new Lifecycle();
  private final String name = LocalS3.newName();

  /**
   * All of the first who ask for the rules have them before one of them is changed, and all have
   * changed them before one asks again: who came later would write over what the others have read
   * back, and do not look at any more.
   */
  private static final class Lifecycle extends DelegatingS3Client {
    private final CyclicBarrier allHaveRead = new CyclicBarrier(STARTS);
    private final CountDownLatch allHavePut = new CountDownLatch(STARTS);
    private final AtomicInteger reads = new AtomicInteger();
    private volatile List<LifecycleRule> rules = List.of();

    Lifecycle() {
      super(LocalS3.client());
    }

    @Override
    public GetBucketLifecycleConfigurationResponse getBucketLifecycleConfiguration(
        GetBucketLifecycleConfigurationRequest request) {
      boolean first = reads.incrementAndGet() <= STARTS;
      try {
        if (!first && !allHavePut.await(5, TimeUnit.MINUTES)) {
          throw new TimeoutException("not all have put their rules");
        }
        List<LifecycleRule> read = rules;
        if (first) {
          allHaveRead.await(5, TimeUnit.MINUTES);
        }
        return GetBucketLifecycleConfigurationResponse.builder().rules(read).build();
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }

    @Override
    public PutBucketLifecycleConfigurationResponse putBucketLifecycleConfiguration(
        PutBucketLifecycleConfigurationRequest request) {
      rules = request.lifecycleConfiguration().rules();
      allHavePut.countDown();
      return PutBucketLifecycleConfigurationResponse.builder().build();
    }
  }

  private static ClaimSettings settings(int number) {
    return new ClaimSettings(
        "application-" + number,
        "a",
        Duration.ofSeconds(30),
        Duration.ofSeconds(1),
        Duration.ofDays(10L + number));
  }

  private void createAll(String prefix) throws InterruptedException, ExecutionException {
    LocalS3.createBucket(name);
    List<Future<?>> created = new ArrayList<>();
    try (ExecutorService threads = Executors.newCachedThreadPool()) {
      for (int i = 0; i < STARTS; i++) {
        ClaimSettings settings = settings(i);
        S3Bucket bucket = new S3Bucket(client, name, prefix.formatted(i));
        created.add(threads.submit(() -> bucket.create(settings)));
      }
    }
    for (Future<?> each : created) {
      each.get();
    }
  }

  @Test
  void firstStartsAtTheSameMoment_underPrefixesOfTheirOwn_haveAllTheirRules() throws Exception {
    createAll("application-%d/");

    assertThat(client.rules)
        .extracting(rule -> rule.filter().prefix() + rule.expiration().days())
        .containsExactlyInAnyOrder(
            "application-0/11",
            "application-1/12",
            "application-2/13",
            "application-3/14",
            "application-4/15",
            "application-5/16");
  }

  @Test
  void firstStartsAtTheSameMoment_underOnePrefix_haveTheLongestRetentionOfAll() throws Exception {
    createAll("claims/");

    assertThat(client.rules)
        .singleElement()
        .satisfies(rule -> assertThat(rule.expiration().days()).isEqualTo(16));
  }

  /** Somebody read the rules before ours was there, and writes them much later. */
  @Test
  void ruleThatWasMadeShorterMuchLater_isWarnedOfByEverySweep() throws Exception {
    createAll("claims/");
    client.rules =
        client.rules.stream()
            .map(rule -> rule.copy(copy -> copy.expiration(kept -> kept.days(11))))
            .toList();

    assertThat(warningsOfSweep(settings(0))).isEmpty();
    assertThat(warningsOfSweep(settings(1)))
        .singleElement()
        .asString()
        .contains("has a lifecycle rule firstclaim-claims/ that removes after 11 days")
        .contains("claims must stay for 12: make it longer");
  }

  private List<String> warningsOfSweep(ClaimSettings settings) {
    ManualTime time = ManualTime.start();
    LocalS3.live(time);
    var sweeper =
        new Sweeper(
            new S3Bucket(client, name, "claims/"),
            settings,
            Duration.ofDays(1),
            time,
            StoreListener.NONE,
            (listed, removed) -> {});
    String log =
        BucketSetupTest.logOf(
            () -> {
              try {
                var _ = sweeper.sweep();
              } catch (InterruptedException e) {
                throw new IllegalStateException(e);
              }
            });
    return log.lines().filter(line -> line.contains("lifecycle")).toList();
  }
}
