package io.firstclaim.processor.engine;

import static io.firstclaim.processor.engine.testing.Eventually.eventually;

import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.ClaimState;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.processor.engine.TestInstance.Sent;
import io.firstclaim.processor.engine.api.EngineListener.Claimed;
import io.firstclaim.processor.engine.testing.TestTime;
import io.firstclaim.processor.handler.HandlerResult;
import io.firstclaim.processor.handler.RecordContext;
import io.firstclaim.processor.handler.RecordHandler;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;

/**
 * Two zones over one lock store in memory. A lease is 30 s unless a test says otherwise: longer
 * than any test may take, so none passes by waiting for it.
 */
abstract class FlowFixture {
  /** For what waits until a lease is over; a busy machine may lose one. */
  static final Duration SHORT_LEASE = Duration.ofMillis(1500);

  /** For what outlives a lease that is kept, which a busy machine can do. */
  static final Duration KEPT_LEASE = Duration.ofSeconds(6);

  /** Of all instances; a test may have another, before it starts them. */
  TestTime time = TestTime.running();

  final TestBroker broker = new TestBroker();
  final MemoryClaimStore.Claims claims = new MemoryClaimStore.Claims();
  final TestSettings settings = new TestSettings();
  final List<TestInstance> instances = new ArrayList<>();
  final List<RecordContext> calls = new CopyOnWriteArrayList<>();
  final CountDownLatch mayEnd = new CountDownLatch(1);

  @AfterEach
  void close() {
    mayEnd.countDown();
    instances.forEach(TestInstance::close);
  }

  TestInstance start(String zone, RecordHandler handler) throws InterruptedException {
    TestInstance instance =
        new TestInstance(
            zone,
            settings,
            context -> {
              calls.add(context);
              return handler.handle(context);
            },
            claims,
            broker,
            time);
    instances.add(instance);
    return instance;
  }

  /** Delivers a record, and waits until it is over. */
  static void process(TestInstance at, String id) {
    Sent sent = at.deliver(id, "{}");
    eventually(sent::isOver);
  }

  /** Delivers a record, and waits until its handler has it. */
  Sent begun(TestInstance at, String id) {
    int before = calls.size();
    Sent sent = at.deliver(id, "{}");
    eventually(() -> calls.size() > before);
    return sent;
  }

  /** A record that zone a has in its handler, which is done when it may, and for which b waits. */
  record Contested(TestInstance a, TestInstance b, Sent atA, Sent atB) {}

  Contested contested() throws InterruptedException {
    TestInstance a = start("a", this::doneWhenItMay);
    TestInstance b = start("b", FlowFixture::done);
    Sent atA = begun(a, "order-1");
    Sent atB = b.deliver("order-1", "{}");
    eventually(() -> b.listener.claimed().contains(Claimed.HELD));
    eventually(() -> b.limit.parked() == 1 && b.limit.inFlight() == 0);
    return new Contested(a, b, atA, atB);
  }

  /** Puts the time forward to where the leases on these are due to be renewed; then they are. */
  void untilRenewed(List<String> ids) {
    time.advance(settings.lease.dividedBy(3));
    Instant due = time.now().wall().truncatedTo(ChronoUnit.MILLIS); // as a store has it
    Instant end = due.plus(settings.lease);
    eventually(() -> ids.stream().allMatch(id -> isHeldUntil(id, end)));
  }

  private boolean isHeldUntil(String id, Instant end) {
    return stateOf(id) instanceof ClaimState.Held held && !held.end().isBefore(end);
  }

  static HandlerResult done(RecordContext context) {
    return HandlerResult.done();
  }

  /** Is done when the test lets it, or interrupted. */
  HandlerResult doneWhenItMay(RecordContext context) throws InterruptedException {
    mayEnd.await();
    return HandlerResult.done();
  }

  /** Waits until the test lets it end, whatever interrupts it. */
  void awaitThatItMayEnd() {
    while (mayEnd.getCount() > 0) {
      try {
        mayEnd.await();
      } catch (InterruptedException e) {
        // that is the point
      }
    }
  }

  static RecordHandler failing(int times) {
    return context ->
        context.attempt() <= times ? HandlerResult.retry("no luck yet") : HandlerResult.done();
  }

  Optional<ClaimRecord> stored(String id) {
    return instances.getFirst().store.find(RecordId.of(id));
  }

  ClaimState stateOf(String id) {
    return stored(id).orElseThrow().state();
  }
}
