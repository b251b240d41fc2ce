package io.firstclaim.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.aws.RequestTimer;
import io.firstclaim.lock.document.DocumentKey;
import io.firstclaim.lock.document.DocumentStore;
import io.firstclaim.lock.document.History;
import io.firstclaim.lock.document.WriteResult;
import io.firstclaim.lock.testkit.fault.Fault;
import io.firstclaim.lock.testkit.fault.FaultProxy;
import io.firstclaim.lock.testkit.fault.Match;
import io.firstclaim.lock.testkit.fault.Rule;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;

/**
 * The contract of a store whose client has one connection: the answer to a caller that waits for it
 * until its time limit, as it is taken by a request that is never answered; and what becomes of
 * limits that are not reached.
 */
@Timeout(600)
public abstract class ConnectionContract {
  private static final Logger LOG = LoggerFactory.getLogger(ConnectionContract.class);
  private static final DocumentKey KEY = DocumentKey.of("tests/" + Nonce.random());

  /** The limit for one request is a second. */
  protected static final ClaimSettings SETTINGS =
      new ClaimSettings(
          "connections-" + Nonce.random(),
          "a",
          Duration.ofSeconds(3),
          ClaimSettings.LEAST_SKEW,
          Duration.ofDays(8));

  protected final ManualTime time = ManualTime.start();

  /** Of the client: what its HTTP client fails by. */
  protected final HttpClientFaults faults = new HttpClientFaults();

  /** Has requests fail on their way, before the SDK gives them to its HTTP client. */
  protected static final class HttpClientFaults implements ExecutionInterceptor {
    private volatile @Nullable RuntimeException fault;

    @Override
    public void beforeTransmission(
        Context.BeforeTransmission context, ExecutionAttributes attributes) {
      RuntimeException now = fault;
      if (now != null) {
        throw now;
      }
    }
  }

  protected abstract FaultProxy proxy();

  protected abstract ClaimStore claims();

  protected abstract DocumentStore documents();

  /** A client whose requests may take a minute each. */
  protected abstract void askPatiently();

  @AfterEach
  void mend() {
    proxy().close();
  }

  private static RecordId newId() {
    return RecordId.of(Nonce.random().toString());
  }

  /** What a request brings that is answered in its second, as not each is on a busy machine. */
  private static <T> T answered(Supplier<T> request) {
    while (true) {
      try {
        return request.get();
      } catch (StoreUnavailableException e) {
        LOG.debug("Asking again", e);
      }
    }
  }

  private void takeTheConnection() throws InterruptedException {
    assertThat(answered(() -> documents().find(KEY))).as("the client is warm").isEmpty();
    Rule never = proxy().add(Rule.always(Match.any(), new Fault.LoseResponse()));
    var unused = CompletableFuture.runAsync(this::askPatiently, Thread::startVirtualThread);
    assertThat(never.awaitHits(1, Duration.ofMinutes(5))).isTrue();
  }

  @Test
  void answeredRequest_leavesNoTimeLimitBehind() {
    assertThat(answered(() -> documents().find(KEY))).isEmpty();
    int before = timeLimits();
    assertThat(answered(() -> documents().find(KEY))).isEmpty();

    assertThat(timeLimits()).isLessThanOrEqualTo(before);
  }

  private static int timeLimits() {
    return ((ScheduledThreadPoolExecutor) RequestTimer.get()).getQueue().size();
  }

  @Test
  void claim_isUnavailable() throws Exception {
    takeTheConnection();

    assertThatThrownBy(() -> claims().claim(Claim.of(newId(), Fingerprint.none(), time.now())))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining(" did not answer ");
  }

  @Test
  void step_isUnknown() throws Exception {
    Lease lease = answered(() -> new Claimant(claims(), time).acquire(newId()));
    takeTheConnection();

    assertThat(claims().renew(lease)).isInstanceOf(SettleResult.Unknown.class);
  }

  @Test
  void document_isUnavailable_andItsWriteUnknown() throws Exception {
    takeTheConnection();

    assertThatThrownBy(() -> documents().find(KEY)).isInstanceOf(StoreUnavailableException.class);
    assertThat(documents().write(KEY, null, "{}", History.NONE.with(Nonce.random())))
        .isInstanceOf(WriteResult.Unknown.class);
  }

  static List<RuntimeException> faultsOfHttpClients() {
    return List.of(
        new CancellationException(),
        new IllegalStateException("as of a connection that is shut down"),
        new NullPointerException("Connection"));
  }

  @ParameterizedTest
  @MethodSource("faultsOfHttpClients")
  void faultOfTheHttpClient_isNoAnswer(RuntimeException fault) {
    Lease lease = answered(() -> new Claimant(claims(), time).acquire(newId()));
    faults.fault = fault;

    assertThatThrownBy(() -> claims().claim(Claim.of(newId(), Fingerprint.none(), time.now())))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining(" did not answer ");
    assertThatThrownBy(() -> claims().find(lease.id()))
        .isInstanceOf(StoreUnavailableException.class);
    assertThat(claims().renew(lease)).isInstanceOf(SettleResult.Unknown.class);
    assertThat(claims().complete(lease, null)).isInstanceOf(SettleResult.Unknown.class);
    assertThatThrownBy(() -> documents().find(KEY)).isInstanceOf(StoreUnavailableException.class);
    assertThat(documents().write(KEY, null, "{}", History.NONE.with(Nonce.random())))
        .isInstanceOf(WriteResult.Unknown.class);
    assertThat(documents().delete(KEY, "any")).isInstanceOf(WriteResult.Unknown.class);
  }
}
