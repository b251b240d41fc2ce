package io.firstclaim.lock.dynamodb;

import static io.firstclaim.lock.testkit.Claimant.granted;
import static io.firstclaim.lock.testkit.Claimant.settled;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimOperations;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimResult.Granted;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.RedriveId;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.SettleResult.Settled;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.testkit.Claimant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** Twenty writes in one request, and what may become of it. */
class BatchFaultsTest extends BatchFixture {
  @Test
  void whatABatchWrites_isWhatTheSingleRequestsWrite() throws Exception {
    ClaimStore single = LocalDynamoDb.store(ClaimSettings.of(settings.namespace(), "a"), time);
    assertSameItems(single, lease -> store.renew(lease), lease -> single.renew(lease));
    assertSameItems(
        single, lease -> store.complete(lease, "x"), lease -> single.complete(lease, "x"));
    assertSameItems(
        single, lease -> store.complete(lease, null), lease -> single.complete(lease, null));
    assertSameItems(
        single,
        lease -> store.release(lease, time.now().wall().plusSeconds(1), "again"),
        lease -> single.release(lease, time.now().wall().plusSeconds(1), "again"));
    assertSameItems(
        single, lease -> store.bury(lease, "poison"), lease -> single.bury(lease, "poison"));
  }

  @Test
  void whatABatchWritesOfMutexes_isWhatTheSingleRequestsWrite() throws Exception {
    ClaimStore single = LocalDynamoDb.store(ClaimSettings.of(settings.namespace(), "a"), time);
    List<Lease> leases =
        mutexes("in-batch-").stream().map(claim -> granted(store.claim(claim)).lease()).toList();
    Lease lease = granted(single.claim(mutexes("alone-").getFirst())).lease();
    assertThat(item(lease)).containsKey(Items.ON_BEHALF_OF);
    assertSame(leases.getFirst(), lease);

    assertSameStep(leases, lease, store::renew, single::renew);
  }

  private List<Claim> mutexes(String name) {
    return IntStream.range(0, 6)
        .mapToObj(i -> Claim.ofMutex(List.of(RecordId.of(name + i)), "order-1", time.now()))
        .toList();
  }

  @Test
  void whatABatchWritesOfRedrivenRecords_isWhatTheSingleRequestsWrite() throws Exception {
    ClaimStore single = LocalDynamoDb.store(ClaimSettings.of(settings.namespace(), "a"), time);
    Lease alone = redriven(single, claimsOf("alone-").getFirst());
    List<Lease> leases = new ArrayList<>();
    for (Claim claim : claimsOf("in-batch-")) {
      leases.add(redriven(store, claim));
    }
    assertThat(item(alone)).containsKey(Items.REDRIVE);
    assertSame(leases.getFirst(), alone);

    assertSameStep(
        leases, alone, lease -> store.bury(lease, "poison"), lease -> single.bury(lease, "poison"));
    assertThat(item(alone)).containsKey(Items.REDRIVE);
  }

  /** Buries this record, redrives it and claims it again. */
  private Lease redriven(ClaimStore by, Claim claim) {
    settled(by.bury(granted(by.claim(claim)).lease(), "poison"));
    var redrive = new RedriveId("again");
    var _ =
        Claimant.freed(((ClaimOperations) by).redrive(claim.id(), claim.fingerprint(), redrive));
    return granted(by.claim(Claim.of(claim.id(), claim.fingerprint(), time.now()))).lease();
  }

  private void assertSameStep(
      List<Lease> leases,
      Lease lease,
      Function<Lease, SettleResult> inBatch,
      Function<Lease, SettleResult> alone)
      throws InterruptedException {
    Lease holder = granted(store.claim(another())).lease();
    assertThat(inOneBatch(leases, inBatch, () -> inBatch.apply(holder)))
        .allMatch(result -> result instanceof Settled);
    assertThat(client.batches()).containsExactly(leases.size());
    settled(alone.apply(lease));
    assertSame(leases.getFirst(), lease);
  }

  /** Sends the claims in one request, then the steps in another. */
  private void assertSameItems(
      ClaimStore single, Function<Lease, SettleResult> inBatch, Function<Lease, SettleResult> alone)
      throws InterruptedException {
    String run = Nonce.random() + "/";
    List<Claim> batched = claimsOf(run + "a");
    List<Lease> leases =
        inOneBatch(batched, this::claim, () -> claim(another())).stream()
            .map(result -> ((Granted) result).lease())
            .toList();
    assertThat(client.batches()).containsExactly(batched.size());
    Claim other = claimsOf(run + "b").getFirst();
    Lease lease = granted(single.claim(other)).lease();
    assertSame(leases.getFirst(), lease);

    assertSameStep(leases, lease, inBatch, alone);
  }

  private void assertSame(Lease one, Lease two) {
    Map<String, AttributeValue> first = item(one);
    Map<String, AttributeValue> second = item(two);
    for (String own : List.of(Items.KEY, Items.RECORD_ID, Items.NONCE)) {
      assertThat(first.remove(own)).isNotNull();
      assertThat(second.remove(own)).isNotNull();
    }
    assertThat(first).isEqualTo(second);
  }

  private Map<String, AttributeValue> item(Lease lease) {
    return new HashMap<>(
        LocalDynamoDb.client()
            .getItem(
                get ->
                    get.tableName(LocalDynamoDb.TABLE)
                        .consistentRead(true)
                        .key(Map.of(Items.KEY, Items.text(lease.id().key(settings.namespace())))))
            .item());
  }

  @Test
  void twentyClaims_andTheirCompletions_areTwoRequests() throws Exception {
    List<Lease> leases = leases();
    assertThat(client.batches()).containsExactly(WRITES);
    assertThat(client.singles()).isEmpty();

    assertThat(completeAll(leases)).allMatch(result -> result instanceof Settled);

    assertThat(client.batches()).containsExactly(WRITES);
    assertThat(client.singles()).isEmpty();
    assertEachCompletedOnce();
  }

  @ParameterizedTest
  @EnumSource(
      value = FaultyClient.Request.class,
      names = {"LOST", "HALF", "NOT_SENT"})
  void claimsWithoutAnAnswer_areUnavailable_andTheirRepetitionsGranted(FaultyClient.Request what)
      throws Exception {
    client.requests(what);
    assertThat(claimAll()).allMatch(result -> result instanceof StoreUnavailableException);

    client.requests(FaultyClient.Request.ANSWERED);
    List<Lease> leases = leases();

    assertThat(leases).allMatch(lease -> lease.token() == 1 && lease.attempt() == 1);
    assertThat(completeAll(leases)).allMatch(result -> result instanceof Settled);
    assertEachCompletedOnce();
  }

  @ParameterizedTest
  @EnumSource(
      value = FaultyClient.Request.class,
      names = {"LOST", "HALF", "NOT_SENT"})
  void completionsWithoutAnAnswer_areUnknown_andTheirRepetitionsSettled(FaultyClient.Request what)
      throws Exception {
    List<Lease> leases = leases();
    client.requests(what);
    assertThat(completeAll(leases)).allMatch(result -> result instanceof SettleResult.Unknown);

    client.requests(FaultyClient.Request.ANSWERED);
    assertThat(completeAll(leases)).allMatch(result -> result instanceof Settled);

    assertEachCompletedOnce();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ThrottlingError",
        "ProvisionedThroughputExceeded",
        "RequestLimitExceeded",
        "InternalServerError",
        "TransactionConflict",
        "SomethingNew"
      })
  void claimsThatAreThrottledInABatch_areSentAlone_andTheOthersNotAgain(String code)
      throws Exception {
    client.statements(i -> i < 3 ? new FaultyClient.Fate.Failed(code) : FaultyClient.SENT);

    assertThat(claimAll()).allMatch(result -> result instanceof Granted);

    assertThat(client.batches()).containsExactly(WRITES);
    assertThat(client.singles()).containsExactly("UpdateItem", "UpdateItem", "UpdateItem");
  }

  @ParameterizedTest
  @ValueSource(strings = {"InternalServerError", "ThrottlingError", "ValidationError"})
  void stepsThatTook_thoughTheirAnswersSayOtherwise_areSettled(String code) throws Exception {
    client.statements(_ -> new FaultyClient.Fate.AppliedBut(code));
    List<Lease> leases = leases();
    assertThat(leases).allMatch(lease -> lease.token() == 1 && lease.attempt() == 1);

    assertThat(completeAll(leases)).allMatch(result -> result instanceof Settled);

    assertEachCompletedOnce();
  }

  @Test
  void completionsThatAreThrottledInABatch_areSentAlone() throws Exception {
    List<Lease> leases = leases();
    client.statements(
        i -> i % 7 == 0 ? new FaultyClient.Fate.Failed("ThrottlingError") : FaultyClient.SENT);

    assertThat(completeAll(leases)).allMatch(result -> result instanceof Settled);

    assertThat(client.singles()).containsExactly("PutItem", "PutItem", "PutItem");
    assertEachCompletedOnce();
  }

  @Test
  void writeThatIsDeniedInABatch_isSentAlone_andTheOthersStayInBatches() throws Exception {
    client.statements(
        i -> i == 5 ? new FaultyClient.Fate.Failed("AccessDenied") : FaultyClient.SENT);

    List<Lease> leases = leases();
    assertThat(client.singles()).containsExactly("UpdateItem");

    client.statements(_ -> FaultyClient.SENT);
    completeAll(leases);
    assertThat(client.batches()).containsExactly(WRITES);
  }

  @Test
  void tableThatTakesNoStatements_isWrittenToByTheSingleRequests() throws Exception {
    client.statements(_ -> new FaultyClient.Fate.Failed("AccessDenied"));

    List<Lease> leases = leases();
    assertThat(client.batches()).containsExactly(WRITES);
    assertThat(client.singles()).hasSize(WRITES);
    assertThat(completeAll(leases)).allMatch(result -> result instanceof Settled);
    assertThat(client.batches()).as("it might have been chance").containsExactly(WRITES);
    assertEachCompletedOnce();
    assertThat(inOneBatch(claimsOf("again-"), this::claim, () -> claim(another())))
        .allMatch(result -> result instanceof Granted);
    assertThat(client.batches()).containsExactly(6);

    client.forget();
    List<Thread> more =
        claimsOf("more-").stream()
            .map(claim -> Thread.ofPlatform().start(() -> claim(claim)))
            .toList();
    for (Thread each : more) {
      each.join();
    }
    assertThat(client.batches()).isEmpty();
    assertThat(client.singles()).hasSize(more.size()).containsOnly("UpdateItem");
  }

  @Test
  void claimsThatComeTooLate_areToldWhoHasTheRecord_byARead() throws Exception {
    for (Claim claim : claims.subList(0, 10)) {
      var _ = other.claim(Claim.of(claim.id(), Fingerprint.none(), time.now()));
    }

    List<Object> results = claimAll();

    assertThat(results.subList(0, 10))
        .allSatisfy(
            result ->
                assertThat(result)
                    .isInstanceOfSatisfying(
                        ClaimResult.Held.class, held -> assertThat(held.by()).isEqualTo("b")));
    assertThat(results.subList(10, WRITES)).allMatch(result -> result instanceof Granted);
    assertThat(client.singles()).hasSize(10).containsOnly("GetItem");
    assertThat(counted).contains("claim " + WRITES, "claim refused 10");
  }
}
