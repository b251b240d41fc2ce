package io.firstclaim.lock.dynamodb;

import static io.firstclaim.lock.testkit.Claimant.granted;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult.Granted;
import io.firstclaim.lock.ClaimResult.Held;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.SettleResult.Settled;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.dynamodb.FaultyClient.Fate;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Batches that are denied, not understood or answered as none should be. */
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(Resources.SYSTEM_ERR)
class BatchRefusalsTest extends BatchFixture {
  private static final String SAID = "takes no statements";

  private List<Object> claimAllOf(String name) throws InterruptedException {
    return inOneBatch(claimsOf(name), this::claim, () -> claim(another()));
  }

  private int sentInBatches() {
    return client.batches().stream().mapToInt(size -> size).sum();
  }

  @Test
  void answersOfWhichSomeAreMissing_areNotBelieved() throws Exception {
    for (Claim claim : claims.subList(0, 10)) {
      var _ = other.claim(Claim.of(claim.id(), Fingerprint.none(), time.now()));
    }
    client.requests(FaultyClient.Request.SHORT);

    List<Object> results = claimAll();

    assertThat(results.subList(0, 10)).allMatch(result -> result instanceof Held);
    assertThat(results.subList(10, WRITES)).allMatch(result -> result instanceof Granted);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"AccessDeniedException", "UnknownOperationException", "ValidationException"})
  void batchThatIsDeniedOrUnknown_inTheMiddle_isSentAlone_asIsAllThatFollows_andSaidOnce(
      String code) throws Exception {
    List<Lease> leases = leases();
    assertThat(sentInBatches()).isEqualTo(WRITES);
    client.refusal(code);

    String log =
        logOf(
            () -> {
              assertThat(completeAll(leases)).allMatch(result -> result instanceof Settled);
              assertThat(client.singles()).hasSize(WRITES).containsOnly("PutItem");
              client.forget();
              for (Claim claim : claimsOf("more-")) {
                assertThat(claim(claim)).isInstanceOf(Granted.class);
              }
            });

    assertEachCompletedOnce();
    assertThat(client.batches()).isEmpty();
    assertThat(log).containsOnlyOnce(SAID).contains(code, "dynamodb:PartiQLInsert");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ProvisionedThroughputExceededException",
        "ThrottlingException",
        "InternalServerError",
        "ReplicatedWriteConflictException"
      })
  void batchThatIsThrottledAsAWhole_isInDoubt_andItsRepetitionGranted(String code)
      throws Exception {
    client.refusal(code);
    assertThat(claimAll()).allMatch(result -> result instanceof StoreUnavailableException);

    client.refusal(null);
    assertThat(leases()).allMatch(lease -> lease.token() == 1);
    assertThat(client.batches()).containsExactly(WRITES);
  }

  @Test
  void claimsThatAreDenied_whileSettlementsAreNot_areFoundNoChance_andSaidOnce() throws Exception {
    List<Lease> leases = leases();
    Fate denied = new Fate.Failed("AccessDenied");

    String log =
        logOf(
            () -> {
              client.statements(_ -> denied);
              assertThat(claimAllOf("first-")).allMatch(result -> result instanceof Granted);
              client.statements(_ -> FaultyClient.SENT);
              assertThat(completeAll(leases)).allMatch(result -> result instanceof Settled);
              client.statements(_ -> denied);
              assertThat(claimAllOf("second-")).allMatch(result -> result instanceof Granted);
            });
    assertThat(log).containsOnlyOnce(SAID);

    client.forget();
    for (Claim claim : claimsOf("third-")) {
      assertThat(claim(claim)).isInstanceOf(Granted.class);
    }
    assertThat(client.batches()).isEmpty();
  }

  @Test
  void statementsThatAreGrantedAgain_areSentAgain_afterSomeMinutes() throws Exception {
    int together = store.writesAtOnce();
    client.refusal("AccessDeniedException");
    assertThat(claimAll()).allMatch(result -> result instanceof Granted);
    assertThat(store.writesAtOnce())
        .as("each is a request of its own")
        .isEqualTo(ClaimStore.REQUESTS_AT_ONCE)
        .isLessThan(together);

    world.advance(StatementSupport.AGAIN.minusSeconds(1));
    client.forget();
    granted(store.claim(another()));
    assertThat(client.batches()).as("not yet").isEmpty();

    world.advance(Duration.ofSeconds(1));
    String log =
        logOf(
            () -> {
              granted(store.claim(another()));
              await().atMost(PATIENCE).until(() -> client.batches().equals(List.of(2)));
              granted(store.claim(another()));
            });
    assertThat(client.batches()).as("one try, by nobody's write").containsExactly(2);
    assertThat(log).as("what was said before").doesNotContain(SAID);

    client.refusal(null);
    world.advance(StatementSupport.AGAIN);
    granted(store.claim(another()));
    await().atMost(PATIENCE).until(() -> store.writesAtOnce() == together);
    client.forget();
    assertThat(claimAllOf("again-")).allMatch(result -> result instanceof Granted);
    assertThat(client.batches()).contains(6);
  }

  @Test
  void tableThatIgnoresConditions_isNotTriedAgain() {
    client.statements(_ -> new Fate.Ignored());
    var tried = new DynamoDbClaimStore(items, new BatchedItems(items, 25, 1).tried());
    client.statements(_ -> FaultyClient.SENT);
    client.forget();
    world.advance(StatementSupport.AGAIN);

    for (Claim claim : claims) {
      granted(tried.claim(claim));
    }

    assertThat(client.batches()).isEmpty();
  }
}
