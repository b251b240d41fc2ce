package io.firstclaim.processor.engine;

import static io.firstclaim.processor.engine.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimState;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.lock.testkit.fault.FaultyStore.Fault;
import io.firstclaim.lock.testkit.fault.FaultyStore.Op;
import io.firstclaim.processor.engine.TestInstance.Sent;
import io.firstclaim.processor.engine.api.EngineListener.Claimed;
import io.firstclaim.processor.engine.api.EngineListener.Delivered;
import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.engine.api.Outcome;
import io.firstclaim.processor.engine.api.ResourceSource;
import io.firstclaim.processor.engine.testing.TestTime;
import io.firstclaim.processor.handler.HandlerResult;
import io.firstclaim.processor.handler.RecordHandler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * Records that touch the same things, in two zones over one lock store in memory, which has no
 * transactions. A lease is longer than any test may take, unless a test says otherwise.
 */
class ResourceFlowTest extends FlowFixture {
  ResourceFlowTest() {
    settings.resources = ResourceSource.parseList("json:/from,json:/to");
  }

  private static String transfer(String from, String to) {
    return "{\"from\":\"%s\",\"to\":\"%s\"}".formatted(from, to);
  }

  private static String on(String account) {
    return "{\"from\":\"%s\"}".formatted(account);
  }

  private List<String> handled() {
    return calls.stream().map(call -> call.id().text()).toList();
  }

  private List<String> completed() {
    return broker.outcomes(Outcome.Kind.COMPLETED).stream().map(Outcome::id).toList();
  }

  // --- In one instance ---

  @Test
  void recordsOnOneResource_goOneAfterTheOther_withoutARefusedClaim() throws InterruptedException {
    int records = 64;
    AtomicInteger together = new AtomicInteger();
    AtomicInteger mostTogether = new AtomicInteger();
    TestInstance a =
        start(
            "a",
            _ -> {
              mostTogether.accumulateAndGet(together.incrementAndGet(), Math::max);
              Thread.sleep(5); // for another one to come in between
              together.decrementAndGet();
              return HandlerResult.done();
            });

    List<Sent> all =
        IntStream.range(0, records).mapToObj(i -> a.deliver("order-" + i, on("x"))).toList();
    eventually(() -> all.stream().allMatch(Sent::isOver));

    assertThat(mostTogether).hasValue(1);
    assertThat(a.listener.claimed()).hasSize(records).containsOnly(Claimed.GRANTED);
  }

  @Test
  void recordThatWaitsForItsTurn_isParked_andHasNoPlaceInFlight() throws InterruptedException {
    TestInstance a = start("a", this::doneWhenItMay);
    Sent _ = a.deliver("order-1", on("x"));
    eventually(() -> calls.size() == 1);
    Sent second = a.deliver("order-2", on("x"));
    eventually(() -> a.limit.parked() == 1 && a.limit.inFlight() == 1);

    Sent other = a.deliver("order-3", on("y"));
    eventually(() -> calls.size() == 2);
    assertThat(handled()).containsExactly("order-1", "order-3");

    mayEnd.countDown();
    eventually(() -> second.isOver() && other.isOver());
    eventually(a.limit::isEmpty);
  }

  @Test
  void recordThatFails_letsTheNextOneHaveItsResource_untilItIsDue() throws InterruptedException {
    settings.backoff = Duration.ofMinutes(1);
    TestInstance a =
        start(
            "a",
            context ->
                context.id().text().equals("order-1") && context.attempt() == 1
                    ? HandlerResult.retry("no luck yet")
                    : HandlerResult.done());
    Sent first = a.deliver("order-1", on("x"));
    eventually(() -> broker.outcomes(Outcome.Kind.FAILED).size() == 1);

    Sent second = a.deliver("order-2", on("x"));
    eventually(second::isOver);

    assertThat(first.isSettled()).isFalse();
    assertThat(a.listener.claimed()).containsExactly(Claimed.GRANTED, Claimed.GRANTED);
  }

  @Test
  void recordThatIsGivenUp_freesItsResource() throws InterruptedException {
    TestInstance a = start("a", _ -> new HandlerResult.Failed("never"));
    Sent first = a.deliver("order-1", on("x"));
    eventually(first::isOver);
    Sent second = a.deliver("order-2", on("x"));
    eventually(second::isOver);

    assertThat(a.listener.claimed()).containsExactly(Claimed.GRANTED, Claimed.GRANTED);
    assertThat(broker.deadLetters()).hasSize(2);
  }

  @Test
  void recordWhoseClaimCannotBeRead_holdsUpNobodyAtItsResource() throws InterruptedException {
    TestInstance a = start("a", FlowFixture::done);
    a.store.unreadable().add(RecordId.of("order-1"));
    Sent first = a.deliver("order-1", on("x"));
    eventually(() -> a.listener.claimed().contains(Claimed.UNREADABLE));

    Sent second = a.deliver("order-2", on("x"));
    eventually(second::isOver);

    assertThat(first.isSettled()).isFalse();
    a.store.unreadable().clear();
    eventually(first::isOver);
  }

  /** What it was granted is given back, and a late release must not free the record once more. */
  @Test
  void claimThatFailedForGood_isNotSentAgain() throws InterruptedException {
    TestInstance a = start("a", FlowFixture::done);
    RecordId id = RecordId.of("order-1");
    a.store.unreadable().add(id);
    a.store.next(Op.CLAIM, Fault.DENIED, Fault.LOST_REQUEST);

    Sent sent = a.deliver("order-1", on("x"));
    eventually(() -> a.store.calls(Op.CLAIM) > 3);
    a.store.unreadable().clear();
    eventually(sent::isOver);

    List<Nonce> nonces = a.store.claims().stream().map(Claim::nonce).toList();
    assertThat(nonces.get(1)).as("after a refusal").isNotEqualTo(nonces.get(0));
    assertThat(nonces.get(2)).as("without an answer").isEqualTo(nonces.get(1));
    assertThat(nonces.get(3)).as("after what is no claim").isNotEqualTo(nonces.get(2));
  }

  @Test
  void waitingRecord_isDropped_whenItsPartitionIsLost() throws InterruptedException {
    TestInstance a = start("a", this::doneWhenItMay);
    Sent _ = a.deliver("order-1", on("x"));
    eventually(() -> calls.size() == 1);
    Sent second = a.deliver("order-2", on("x"));
    Sent third = a.deliver("order-3", on("x"));
    eventually(() -> a.limit.parked() == 2);

    second.revoke();
    eventually(second::hasEnded);
    assertThat(second.isSettled()).isFalse();

    mayEnd.countDown();
    eventually(third::isOver);
    assertThat(handled()).containsExactly("order-1", "order-3");
  }

  @Test
  void twinOfAWaitingRecord_isSettledWithIt() throws InterruptedException {
    TestInstance a = start("a", this::doneWhenItMay);
    Sent _ = a.deliver("order-1", on("x"));
    eventually(() -> calls.size() == 1);
    Sent second = a.deliver("order-2", on("x"));
    Sent twin = a.deliver("order-2", on("x"));
    eventually(() -> a.limit.parked() == 1);

    mayEnd.countDown();
    eventually(() -> second.isOver() && twin.isOver());

    assertThat(handled()).containsExactly("order-1", "order-2");
  }

  @Test
  void waitingRecord_isSettled_whenItsEndElsewhereIsHeard() throws InterruptedException {
    TestInstance a = start("a", this::doneWhenItMay);
    Sent _ = a.deliver("order-1", on("x"));
    eventually(() -> calls.size() == 1);
    Sent second = a.deliver("order-2", on("x"));
    eventually(() -> a.limit.parked() == 1);

    settings.resources = List.of();
    TestInstance b = start("b", FlowFixture::done);
    Sent _ = b.deliver("order-2", on("x"));

    eventually(second::isOver);
    assertThat(a.listener.claimed()).containsExactly(Claimed.GRANTED);
  }

  @Test
  void downstreamThatIsAway_keepsNobodyInLine_onceItIsBack() throws InterruptedException {
    AtomicInteger tries = new AtomicInteger();
    TestInstance a =
        start(
            "a",
            _ ->
                tries.incrementAndGet() <= 3
                    ? HandlerResult.unavailable("away", Duration.ZERO)
                    : HandlerResult.done());

    List<Sent> all =
        IntStream.range(0, 20)
            .mapToObj(i -> a.deliver("order-" + i, on("account-" + i % 2)))
            .toList();

    eventually(() -> all.stream().allMatch(Sent::isOver));
    assertThat(completed()).hasSize(20);
    assertThat(broker.deadLetters()).isEmpty();
  }

  @Test
  void recordsOrderedByKey_waitForTheirTurnsAndTheirResources() throws InterruptedException {
    settings.ordering = EngineSettings.Ordering.KEY;
    TestInstance a = start("a", FlowFixture::done);
    List<Sent> all =
        IntStream.range(0, 50)
            .mapToObj(i -> a.deliver("order-" + i, transfer("x", "account-" + i % 3)))
            .toList();

    eventually(() -> all.stream().allMatch(Sent::isOver));
    assertThat(a.listener.claimed()).containsOnly(Claimed.GRANTED);
  }

  @Test
  void suspectsOnOneResource_andWhatNobodySuspects_allGetTheirTurns() throws InterruptedException {
    settings.lease = KEPT_LEASE;
    settings.maxAttempts = 3;
    MemoryClaimStore dying = TestInstance.anothers(claims, SHORT_LEASE, time);
    List<String> suspects = List.of("suspect-1", "suspect-2");
    for (String id : suspects) {
      assertThat(dying.claim(TestInstance.claim(id, on("x"), time)))
          .isInstanceOf(ClaimResult.Granted.class);
    }
    time.advance(Duration.ofSeconds(4));
    TestInstance a = start("a", FlowFixture::done);

    List<Sent> all = new ArrayList<>();
    suspects.forEach(id -> all.add(a.deliver(id, on("x"))));
    all.add(a.deliver("fresh", on("x")));

    eventually(() -> all.stream().allMatch(Sent::isOver));
    assertThat(handled()).hasSize(3);
    assertThat(broker.deadLetters()).isEmpty();
  }

  @Test
  void recordWhoseHandlerIsAbandoned_holdsItsResourceForNoLongerThanItsLease()
      throws InterruptedException {
    settings.lease = SHORT_LEASE;
    settings.handlerTimeout = Duration.ofSeconds(3); // enough for the other, on a busy machine
    settings.maxAttempts = 2;
    TestInstance a =
        start(
            "a",
            context -> {
              if (context.id().text().equals("hangs")) {
                awaitThatItMayEnd();
              }
              return HandlerResult.done();
            });
    Sent hangs = a.deliver("hangs", on("x"));
    eventually(() -> calls.size() == 1);
    Sent next = a.deliver("next", on("x"));

    eventually(() -> next.isOver() && hangs.isOver());
    assertThat(handled()).containsExactlyInAnyOrder("hangs", "hangs", "next");
    mayEnd.countDown();
    eventually(a.limit::isEmpty);
  }

  // --- What the handler and others are told ---

  @Test
  void handler_getsAToken_forEachResource_thatRisesWithEachRecord() throws InterruptedException {
    TestInstance a = start("a", FlowFixture::done);
    Sent first = a.deliver("order-1", transfer("y", "x"));
    eventually(first::isOver);
    Sent second = a.deliver("order-2", transfer("x", "x"));
    eventually(second::isOver);

    RecordId x = RecordId.of("x").asResource();
    RecordId y = RecordId.of("y").asResource();
    Map<RecordId, Long> before = calls.getFirst().resourceTokens();
    Map<RecordId, Long> after = calls.getLast().resourceTokens();
    assertThat(before).containsOnlyKeys(x, y);
    assertThat(before.keySet()).containsExactly(x, y);
    assertThat(after).containsOnlyKeys(x);
    assertThat(after.get(x)).isGreaterThan(Objects.requireNonNull(before.get(x)));
  }

  @Test
  void outcome_namesTheResources() throws InterruptedException {
    TestInstance a = start("a", FlowFixture::done);
    Sent first = a.deliver("order-1", transfer("y", "x"));
    Sent second = a.deliver("order-2", "{}");
    eventually(() -> first.isOver() && second.isOver());

    assertThat(broker.published())
        .extracting(Outcome::resources)
        .containsExactlyInAnyOrder(List.of("x", "y"), List.of());
  }

  @Test
  void recordThatTouchesNothing_isClaimedAlone() throws InterruptedException {
    TestInstance a = start("a", FlowFixture::done);
    Sent sent = a.deliver("order-1", "{\"other\":1}");
    eventually(sent::isOver);

    assertThat(a.store.claims()).extracting(Claim::resources).containsExactly(List.of());
    assertThat(calls.getFirst().resourceTokens()).isEmpty();
  }

  @Test
  void recordWhoseResourceCannotBeOne_isADeadLetter_onceForItsId() throws InterruptedException {
    TestInstance a = start("a", FlowFixture::done);
    Sent first = a.deliver("order-1", "{\"from\":true}");
    eventually(first::isOver);
    Sent again = a.deliver("order-1", "{\"from\":true}");
    eventually(again::isOver);

    assertThat(calls).isEmpty();
    assertThat(broker.deadLetters())
        .singleElement()
        .satisfies(
            letter -> {
              assertThat(TestBroker.header(letter, "firstclaim-id")).isEqualTo("order-1");
              assertThat(TestBroker.header(letter, "firstclaim-cause"))
                  .contains("neither a string nor an integer");
            });
    assertThat(a.listener.delivered()).containsExactly(Delivered.DEAD, Delivered.DUPLICATE);
  }

  // --- Between two zones ---

  @Test
  void recordWhoseResourceAnotherZoneHolds_isParked_andWokenByTheOutcome()
      throws InterruptedException {
    TestInstance a = start("a", this::doneWhenItMay);
    TestInstance b = start("b", FlowFixture::done);
    Sent first = a.deliver("order-1", on("x"));
    eventually(() -> calls.size() == 1);
    Sent second = b.deliver("order-2", transfer("x", "y"));
    eventually(() -> b.listener.claimed().contains(Claimed.BLOCKED));
    eventually(() -> b.limit.inFlight() == 0 && b.limit.parked() == 1);
    assertThat(calls).hasSize(1);

    mayEnd.countDown();
    eventually(() -> first.isOver() && second.isOver());

    assertThat(handled()).containsExactly("order-1", "order-2");
    assertThat(completed()).containsExactlyInAnyOrder("order-1", "order-2");
  }

  @Test
  void recordsBehindABlockedOne_askTheStoreNothing() throws InterruptedException {
    TestInstance a = start("a", this::doneWhenItMay);
    TestInstance b = start("b", FlowFixture::done);
    Sent _ = a.deliver("order-1", on("x"));
    eventually(() -> calls.size() == 1);
    List<Sent> all = IntStream.range(0, 20).mapToObj(i -> b.deliver("next-" + i, on("x"))).toList();
    eventually(() -> b.listener.claimed().contains(Claimed.BLOCKED) && b.limit.parked() == 20);

    assertThat(b.store.claims().stream().map(Claim::id).distinct()).hasSize(1);
    Sent apart = b.deliver("apart", on("z"));
    eventually(apart::isOver);

    mayEnd.countDown();
    eventually(() -> all.stream().allMatch(Sent::isOver));
  }

  @Test
  void blockedRecord_isDropped_whenItsPartitionIsLost() throws InterruptedException {
    TestInstance a = start("a", this::doneWhenItMay);
    TestInstance b = start("b", FlowFixture::done);
    Sent _ = a.deliver("order-1", on("x"));
    eventually(() -> calls.size() == 1);
    Sent second = b.deliver("order-2", on("x"));
    Sent third = b.deliver("order-3", on("x"));
    eventually(() -> b.listener.claimed().contains(Claimed.BLOCKED));

    second.revoke();
    third.revoke();
    eventually(() -> second.hasEnded() && third.hasEnded());
    assertThat(second.isSettled() || third.isSettled()).isFalse();
    eventually(b.limit::isEmpty);
  }

  @Test
  void resourceOfAZoneThatIsGone_isFree_whenItsLeaseIsOver() throws InterruptedException {
    settings.lease = SHORT_LEASE;
    settings.renew = false;
    TestInstance a =
        start(
            "a",
            context -> {
              instances.getFirst().store.setDown(true); // its own: it is gone from now on
              return doneWhenItMay(context);
            });
    TestInstance b = start("b", FlowFixture::done);
    Sent _ = a.deliver("order-1", on("x"));
    eventually(() -> calls.size() == 1);

    Sent second = b.deliver("order-2", on("x"));
    eventually(second::isOver);

    assertThat(handled()).containsExactly("order-1", "order-2");
  }

  @Test
  void outcomesThatAreNotHeard_keepNobodyWaitingLong() throws InterruptedException {
    settings.outcomes = false;
    TestInstance a = start("a", this::doneWhenItMay);
    TestInstance b = start("b", FlowFixture::done);
    Sent _ = a.deliver("order-1", on("x"));
    eventually(() -> calls.size() == 1);
    Sent second = b.deliver("order-2", on("x"));
    eventually(() -> b.listener.claimed().contains(Claimed.BLOCKED));

    mayEnd.countDown();
    eventually(second::isOver);
  }

  /**
   * One zone always comes too late: whenever it asks, the other one has what it wants. Who passes
   * is counted, so nobody is to go by how long a thread takes: time stands, and the other zone goes
   * on only once all is heard.
   */
  @Test
  void recordThatWaits_isPassedByAHundredAtMost_ofItsOwnZoneAndTheOther()
      throws InterruptedException {
    time = TestTime.standing();
    AtomicBoolean busy = new AtomicBoolean();
    TestInstance a =
        start(
            "a",
            _ -> {
              busy.set(true);
              Thread.sleep(10);
              eventually(
                  () -> !broker.outcomes(Outcome.Kind.BLOCKED).isEmpty() && broker.allHeard());
              busy.set(false);
              return HandlerResult.done();
            });
    TestInstance b = start("b", FlowFixture::done);
    List<Sent> all = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      all.add(a.deliver("x-" + i, on("x")));
    }
    b.store.downWhile(
        Op.CLAIM,
        () -> {
          long end = System.nanoTime() + 200_000_000;
          while (!busy.get() && System.nanoTime() < end) {
            LockSupport.parkNanos(100_000);
          }
          return false;
        });
    eventually(busy::get);
    all.add(b.deliver("waits", transfer("x", "y")));
    eventually(() -> b.listener.claimed().contains(Claimed.BLOCKED));
    int before = completed().size();
    for (int i = 0; i < 50; i++) {
      all.add(b.deliver("y-" + i, on("y")));
    }

    eventually(() -> completed().contains("waits"));
    assertThat(completed().indexOf("waits") - before).isLessThanOrEqualTo(100);
    eventually(() -> all.stream().allMatch(Sent::isOver));
  }

  @Test
  void randomTransfers_inTwoZones_areDoneOnceEach_andNoAccountIsInTwoHands()
      throws InterruptedException {
    Set<String> busy = ConcurrentHashMap.newKeySet();
    List<String> collisions = Collections.synchronizedList(new ArrayList<>());
    RecordHandler handler =
        context -> {
          for (RecordId account : context.resourceTokens().keySet()) {
            if (!busy.add(account.text())) {
              collisions.add(account.text());
            }
          }
          Thread.sleep(1);
          context.resourceTokens().keySet().forEach(account -> busy.remove(account.text()));
          return HandlerResult.done();
        };
    TestInstance a = start("a", handler);
    TestInstance b = start("b", handler);
    Random random = new Random(42);
    List<Sent> all = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      String transfer = transfer("account-" + random.nextInt(20), "account-" + random.nextInt(20));
      all.add(a.deliver("transfer-" + i, transfer));
      all.add(b.deliver("transfer-" + i, transfer));
    }

    eventually(() -> all.stream().allMatch(Sent::isOver));

    assertThat(collisions).isEmpty();
    assertThat(handled()).hasSize(500).doesNotHaveDuplicates();
    assertThat(completed()).hasSize(500).doesNotHaveDuplicates();
    eventually(() -> a.limit.isEmpty() && b.limit.isEmpty());
  }

  @Test
  void recordOfAnotherPayload_touchesNothing() throws InterruptedException {
    TestInstance a = start("a", FlowFixture::done);
    Sent first = a.deliver("order-1", on("x"));
    eventually(first::isOver);
    Sent other = a.deliver("order-1", on("y"));
    eventually(other::isOver);

    assertThat(a.listener.delivered()).containsExactly(Delivered.COMPLETED, Delivered.MISMATCH);
    assertThat(a.store.find(RecordId.of("order-1")).orElseThrow().state())
        .isInstanceOf(ClaimState.Done.class);
  }
}
