package io.firstclaim.lock.testkit.aws;

import static io.firstclaim.lock.testkit.Claimant.settled;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.document.DocumentKey;
import io.firstclaim.lock.document.DocumentStore;
import io.firstclaim.lock.document.History;
import io.firstclaim.lock.document.WriteResult;
import io.firstclaim.lock.testkit.Claimant;
import io.firstclaim.lock.testkit.ManualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.core.RequestOverrideConfiguration;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;

/**
 * The contract of time limits: every request carries those of its lease, whatever its client
 * allows, so that no client that is passed in lets a step outlast what the lease has for it.
 */
public abstract class TimeLimitContract {
  private static final RecordId ID = RecordId.of("order-4711");
  private static final DocumentKey KEY = DocumentKey.of("tests/" + Nonce.random());
  private static final Duration MINUTE = Duration.ofMinutes(1);

  /** Than five seconds, which is what a store allows: a busy machine may need much of it. */
  private static final Duration LITTLE_LESS = Duration.ofMillis(4900);

  private final ClaimSettings settings =
      new ClaimSettings(
          "limits-" + Nonce.random(),
          "a",
          Duration.ofSeconds(30),
          Duration.ofSeconds(1),
          Duration.ofDays(8));

  protected final ManualTime time = ManualTime.start();
  private final Limits limits = new Limits();

  /**
   * A store whose client has the SDK's own limits, which are none.
   *
   * @param limit of its client; none if empty
   */
  protected abstract ClaimStore claims(
      ExecutionInterceptor interceptor, Optional<Duration> limit, ClaimSettings settings);

  /** The same for documents. */
  protected abstract DocumentStore documents(
      ExecutionInterceptor interceptor, Optional<Duration> limit);

  private record Limit(Optional<Duration> call, Optional<Duration> oneTry) {}

  private static final class Limits implements ExecutionInterceptor {
    private final List<Limit> seen = new ArrayList<>();

    @Override
    public void beforeExecution(Context.BeforeExecution context, ExecutionAttributes attributes) {
      Optional<? extends RequestOverrideConfiguration> own =
          context.request().overrideConfiguration();
      seen.add(
          new Limit(
              own.flatMap(RequestOverrideConfiguration::apiCallTimeout),
              own.flatMap(RequestOverrideConfiguration::apiCallAttemptTimeout)));
    }
  }

  private void assertLimits(Duration expected) {
    assertThat(limits.seen)
        .isNotEmpty()
        .allSatisfy(
            limit -> {
              assertThat(limit.call).contains(expected);
              assertThat(limit.oneTry.orElseThrow()).isLessThan(expected.dividedBy(2));
            });
  }

  private void claimAndSettle(Optional<Duration> limitOfClient) {
    Claimant a = new Claimant(claims(limits, limitOfClient, settings), time);
    Lease lease = settled(a.store().renew(a.acquire(ID)));
    a.heldOff(ID);
    settled(a.store().release(lease, time.now().wall(), "again"));
    time.advance(Duration.ofSeconds(2));
    settled(a.store().complete(a.acquire(ID), "result"));
    assertThat(a.store().find(ID)).isPresent();
  }

  @Test
  void everyRequestOfAClaim_hasTheLimitsOfItsLease_onAClientWithoutAny() {
    claimAndSettle(Optional.empty());

    assertLimits(settings.storeTimeout());
  }

  @Test
  void everyRequestOfAClaim_hasTheLimitsOfItsLease_onAClientWithLongerOnes() {
    claimAndSettle(Optional.of(MINUTE));

    assertLimits(settings.storeTimeout());
  }

  @Test
  void shorterLimitsOfTheClient_stay() {
    claimAndSettle(Optional.of(LITTLE_LESS));

    assertLimits(LITTLE_LESS);
  }

  @Test
  void everyRequestOfADocument_hasLimits() {
    DocumentStore store = documents(limits, Optional.empty());

    assertThat(store.find(KEY)).isEmpty();
    assertThat(store.write(KEY, null, "{}", History.NONE.with(Nonce.random())))
        .isEqualTo(new WriteResult.Written());

    assertLimits(MINUTE);
  }
}
