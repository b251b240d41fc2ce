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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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
}
