package io.firstclaim.processor.engine;

import static io.firstclaim.processor.engine.testing.Eventually.eventually;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.testkit.fault.FaultyStore.Op;
import io.firstclaim.processor.engine.TestInstance.Sent;
import io.firstclaim.processor.engine.admission.Affinity;
import io.firstclaim.processor.engine.api.WaitsFor;
import io.firstclaim.processor.engine.testing.TestRecords;
import io.firstclaim.processor.handler.HandlerResult;
import io.firstclaim.processor.handler.RecordContext;
import io.firstclaim.processor.handler.RecordHandler;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Records that are left to the zone that prefers them, for a while. */
class HeadStartFlowTest extends FlowFixture {
  @Test
  void recordPreferredByALivingZone_isLeftToIt_fromItsArrivalOn() throws InterruptedException {
    settings.zones = List.of("a", "b");
    settings.headStart = Duration.ofHours(1);
    settings.lease = Duration.ofDays(1);
    TestInstance a = start("a", FlowFixture::done);
    TestInstance b = start("b", FlowFixture::done);
    List<Sent> atB = IntStream.range(0, 20).mapToObj(i -> b.deliver("order-" + i, "{}")).toList();
    long own = IntStream.range(0, 20).filter(i -> isPreferredBy("b", "order-" + i)).count();
    assertThat(own).isBetween(1L, 19L);
    eventually(() -> atB.stream().filter(Sent::isOver).count() == own);

    List<Sent> atA = IntStream.range(0, 20).mapToObj(i -> a.deliver("order-" + i, "{}")).toList();

    eventually(() -> Stream.concat(atA.stream(), atB.stream()).allMatch(Sent::isOver));
    assertThat(calls).hasSize(20);
    assertThat(calls.stream().map(RecordContext::zone)).contains("a", "b");
    assertThat(a.store.calls(Op.CLAIM) + b.store.calls(Op.CLAIM)).isEqualTo(20);
  }

  /** One after the other: while the gate to the store is full, it is left alone for longer. */
  @Test
  void recordThatWaitedForItsTurn_hasGivenItsHeadStartAlready() throws InterruptedException {
    settings.zones = List.of("a", "b");
    settings.headStart = Duration.ofHours(1);
    settings.lease = Duration.ofDays(1);
    TestInstance b = start("b", FlowFixture::done);
    var arrival = time.now();
    time.advance(Duration.ofHours(1));

    for (int i = 0; i < 20; i++) {
      Sent sent = b.deliver(TestRecords.record("order-" + i, "{}"), arrival);
      eventually(sent::isOver);
    }
  }

  @Test
  void recordPreferredByALivingZone_isLeftToItForLonger_whileAllHandsAreFull()
      throws InterruptedException {
    settings.zones = List.of("a", "b");
    settings.headStart = Duration.ofMillis(1);
    settings.maxInFlight = 1;
    CountDownLatch busy = new CountDownLatch(1);
    TestInstance a = start("a", FlowFixture::done);
    TestInstance b = start("b", doneAfter(busy));
    Sent own = b.deliver(preferredBy("b"), "{}");
    eventually(() -> b.store.calls(Op.CLAIM) == 1); // by then, it has the only permit
    Sent foreign = b.deliver(preferredBy("a"), "{}");

    Sent atA = a.deliver(preferredBy("a"), "{}");

    eventually(() -> atA.isOver() && foreign.isOver());
    assertThat(own.isSettled()).isFalse();
    assertThat(b.store.calls(Op.CLAIM)).isEqualTo(1);
    busy.countDown();
    eventually(own::isOver);
  }

  @Test
  void recordThatItsZoneHasReleased_isTakenAtOnce_evenIfAllHandsAreFull()
      throws InterruptedException {
    settings.zones = List.of("a", "b");
    settings.headStart = Duration.ofHours(1);
    settings.lease = Duration.ofDays(1);
    settings.maxInFlight = 1;
    CountDownLatch busy = new CountDownLatch(1);
    TestInstance a =
        start(
            "a",
            _ -> {
              new CountDownLatch(1).await();
              return HandlerResult.done();
            });
    TestInstance b = start("b", doneAfter(busy));
    Sent own = b.deliver(preferredBy("b"), "{}");
    eventually(() -> b.limit.isFull(own.partition.usage()));
    Sent foreign = b.deliver(preferredBy("a"), "{}");
    Sent atA = a.deliver(preferredBy("a"), "{}");
    eventually(
        () -> a.store.calls(Op.CLAIM) == 1 && b.waitingFor(WaitsFor.HEAD_START).count() == 1);

    a.stop();
    eventually(atA::hasEnded);
    eventually(foreign::waitsForAPermit);
    busy.countDown();

    eventually(() -> own.isOver() && foreign.isOver());
  }

  private static RecordHandler doneAfter(CountDownLatch latch) {
    return context -> {
      latch.await();
      return done(context);
    };
  }

  private String preferredBy(String zone) {
    return IntStream.range(0, 1000)
        .mapToObj(i -> "order-" + i)
        .filter(id -> isPreferredBy(zone, id))
        .findFirst()
        .orElseThrow();
  }

  private boolean isPreferredBy(String zone, String id) {
    Affinity affinity =
        new Affinity(
            zone,
            List.of("a", "b"),
            Optional.of(Duration.ofHours(1)),
            Duration.ofDays(1),
            _ -> null,
            time);
    return affinity.headStartOfOthers(id.getBytes(UTF_8)).isZero();
  }
}
