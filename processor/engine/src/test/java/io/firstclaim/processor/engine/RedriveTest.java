package io.firstclaim.processor.engine;

import static io.firstclaim.processor.engine.testing.Eventually.eventually;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimState;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.RedriveId;
import io.firstclaim.lock.RedriveResult;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.processor.engine.TestInstance.Sent;
import io.firstclaim.processor.engine.api.DeadLetter;
import io.firstclaim.processor.engine.api.EngineListener.Delivered;
import io.firstclaim.processor.engine.api.Outcome;
import io.firstclaim.processor.engine.api.WaitsFor;
import io.firstclaim.processor.handler.HandlerResult;
import io.firstclaim.processor.handler.RecordHandler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.record.TimestampType;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Records that were given up, freed by an operator, and are delivered again to both zones. */
class RedriveTest extends FlowFixture {
  private static final RecordId ID = RecordId.of("order-1");
  private static final Fingerprint PAYLOAD = Fingerprint.of("{}".getBytes(UTF_8));
  private static final RedriveId FIRST = new RedriveId("redrive-1");
  private static final RedriveId SECOND = new RedriveId("redrive-2");

  private final AtomicReference<RecordHandler> handler =
      new AtomicReference<>(_ -> new HandlerResult.Failed("poison"));
  private final MemoryClaimStore operator =
      new MemoryClaimStore(
          claims,
          new ClaimSettings(
              "test", "operator", Duration.ofSeconds(30), ClaimSettings.LEAST_SKEW, days(8)),
          time);
  private TestInstance a;
  private TestInstance b;

  private static Duration days(int number) {
    return Duration.ofDays(number);
  }

  @BeforeEach
  void start() throws InterruptedException {
    a = instance("a");
    b = instance("b");
  }

  private TestInstance instance(String zone) throws InterruptedException {
    return start(zone, context -> handler.get().handle(context));
  }

  private static ConsumerRecord<byte[], byte[]> delivered(
      ProducerRecord<byte[], byte[]> published, long offset) {
    return new ConsumerRecord<>(
        published.topic(),
        0,
        offset,
        0,
        TimestampType.CREATE_TIME,
        0,
        0,
        published.key(),
        published.value(),
        published.headers(),
        Optional.empty());
  }

  private DeadLetter lastLetter() {
    return DeadLetter.read(delivered(broker.deadLetters().getLast(), 0)).orElseThrow();
  }

  /** The record dies in one zone, and the other has heard of it. */
  private void diesInBothZonesEyes() {
    process(a, "order-1");
    eventually(() -> b.knows("order-1", "{}"));
    assertThat(broker.deadLetters()).hasSize(1);
  }

  private ConsumerRecord<byte[], byte[]> freedAndPublished(RedriveId by) {
    assertThat(operator.redrive(ID, lastLetter().payload(), by))
        .isInstanceOf(RedriveResult.Freed.class);
    return delivered(lastLetter().again("firstclaim", by), 7);
  }

  @Test
  void redrivenRecord_isCompletedOnceMore_thoughBothZonesKnowItsOldEnd() {
    diesInBothZonesEyes();
    ConsumerRecord<byte[], byte[]> again = freedAndPublished(FIRST);
    handler.set(_ -> HandlerResult.done());

    Sent one = a.deliver(again);
    Sent two = b.deliver(again);
    eventually(() -> one.isOver() && two.isOver());

    assertThat(calls).hasSize(2);
    assertThat(calls.getLast().attempt()).isEqualTo(1);
    assertThat(broker.outcomes(Outcome.Kind.COMPLETED))
        .as("announced, though an end was known")
        .hasSize(1);
    assertThat(operator.find(ID).orElseThrow().state()).isInstanceOf(ClaimState.Done.class);
    assertThat(broker.deadLetters()).hasSize(1);

    Sent repeated = b.deliver(again);
    eventually(repeated::isOver);
    assertThat(calls).hasSize(2);
    assertThat(broker.outcomes(Outcome.Kind.COMPLETED)).hasSize(1);
  }

  @Test
  void redrivenRecord_whoseEndIsTheOldOneByAStaleOutcome_isNotEndedByIt() {
    diesInBothZonesEyes();
    Outcome old = broker.outcomes(Outcome.Kind.DEAD).getFirst();
    ConsumerRecord<byte[], byte[]> again = freedAndPublished(FIRST);
    MemoryClaimStore another = TestInstance.anothers(claims, Duration.ofHours(1), time);
    assertThat(another.claim(TestInstance.claim("order-1", "{}", time))).isNotNull();
    Sent waiting = b.deliver(again);
    eventually(() -> !b.listener.claimed().isEmpty());
    eventually(() -> !b.knows("order-1", "{}")); // its old end is forgotten

    assertThat(b.known.add(ID, PAYLOAD, old.token(), old.at())).as("a late outcome").isFalse();

    assertThat(b.knows("order-1", "{}")).isFalse();
    assertThat(waiting.isSettled()).isFalse();
  }

  @Test
  void deliveryFromTheSource_thatEndsAsADuplicate_doesNotEndTheRedrivenOneThatFollowsIt() {
    diesInBothZonesEyes();
    ConsumerRecord<byte[], byte[]> again = freedAndPublished(FIRST);
    handler.set(_ -> HandlerResult.done());

    List<Sent> all = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      all.add(b.deliver("order-1", "{}"));
      all.add(b.deliver(again));
    }
    eventually(() -> all.stream().allMatch(Sent::isOver));

    assertThat(calls).hasSize(2);
    assertThat(operator.find(ID).orElseThrow().state()).isInstanceOf(ClaimState.Done.class);
  }

  @Test
  void redrivenRecord_thatFollowsOneFromTheSource_isNotSettledWithIt_byAStaleOutcome()
      throws InterruptedException {
    diesInBothZonesEyes();
    Outcome old = broker.outcomes(Outcome.Kind.DEAD).getFirst();
    ConsumerRecord<byte[], byte[]> again = freedAndPublished(FIRST);
    MemoryClaimStore another = TestInstance.anothers(claims, Duration.ofHours(1), time);
    assertThat(another.claim(TestInstance.claim("order-1", "{}", time))).isNotNull();
    TestInstance late = instance("c"); // has not heard of the old end
    Sent fromSource = late.deliver("order-1", "{}");
    eventually(() -> !late.listener.claimed().isEmpty());
    Sent redriven = late.deliver(again);
    eventually(() -> late.waitingFor(WaitsFor.SAME_ID).count() == 1);

    assertThat(late.known.add(ID, PAYLOAD, old.token(), old.at())).isTrue();
    late.hear(Outcome.Kind.DEAD, ID.text(), "{}");

    eventually(fromSource::isOver);
    eventually(() -> late.listener.claimed().size() > 1);
    assertThat(redriven.isSettled()).isFalse();
  }

  @Test
  void redrivenRecord_thatDiesAgain_hasADeadLetterLikeTheFirst_thatNamesTheRedrive() {
    diesInBothZonesEyes();
    ProducerRecord<byte[], byte[]> first = broker.deadLetters().getFirst();

    Sent again = b.deliver(freedAndPublished(FIRST));
    eventually(again::isOver);

    ProducerRecord<byte[], byte[]> second = broker.deadLetters().getLast();
    assertThat(broker.deadLetters()).hasSize(2);
    assertThat(second.key()).isEqualTo(first.key());
    assertThat(second.value()).isEqualTo(first.value());
    assertThat(second.headers().headers("firstclaim-id")).hasSize(1);
    assertThat(second.headers().toArray()).hasSize(first.headers().toArray().length + 1);
    assertThat(lastLetter().redrive()).contains(FIRST);
    assertThat(lastLetter().offset()).isEqualTo(7);
    assertThat(operator.find(ID).orElseThrow().redrive()).isEqualTo(FIRST);

    assertThat(operator.redrive(ID, PAYLOAD, FIRST))
        .as("sent twice, it is one")
        .isInstanceOf(RedriveResult.FreedBefore.class);
    handler.set(_ -> HandlerResult.done());
    Sent third = a.deliver(freedAndPublished(SECOND));
    eventually(third::isOver);
    assertThat(a.listener.delivered()).contains(Delivered.COMPLETED);
    assertThat(broker.outcomes(Outcome.Kind.COMPLETED)).hasSize(1);
  }

  /** As where an instance stood still while another gave the record up and an operator freed it. */
  @Test
  void verdictThatHasNoDeadLetterYet_isNoneOnTheRecordOnceItIsRedriven()
      throws InterruptedException {
    settings.backoff = Duration.ofMinutes(1);
    TestInstance still = instance("c");
    broker.refuse(TestBroker.DEAD_LETTERS);
    Sent sent = still.deliver("order-1", "{}");
    eventually(() -> !broker.outcomes(Outcome.Kind.FAILED).isEmpty());
    handler.set(_ -> HandlerResult.done());
    eventually(() -> still.waitingFor(WaitsFor.RETRY).count() == 1);
    time.advance(Duration.ofMinutes(2)); // by which nobody is woken

    MemoryClaimStore other = TestInstance.anothers(claims, Duration.ofHours(1), time);
    Lease lease = granted(other);
    assertThat(other.bury(lease, "poison")).isInstanceOf(SettleResult.Settled.class);
    assertThat(operator.redrive(ID, PAYLOAD, FIRST)).isInstanceOf(RedriveResult.Freed.class);
    broker.accept(TestBroker.DEAD_LETTERS);

    eventually(
        () -> {
          still.hear(Outcome.Kind.FAILED, ID.text(), "{}");
          return sent.isSettled();
        });
    assertThat(operator.find(ID).orElseThrow().state()).isInstanceOf(ClaimState.Done.class);
    assertThat(calls).hasSize(2);
    assertThat(calls.getLast().attempt()).isEqualTo(1);
    assertThat(broker.deadLetters()).isEmpty();
  }

  /** Claims it as soon as nobody has it. */
  private Lease granted(MemoryClaimStore store) {
    AtomicReference<Lease> lease = new AtomicReference<>();
    eventually(
        () -> {
          if (store.claim(TestInstance.claim("order-1", "{}", time))
              instanceof ClaimResult.Granted granted) {
            lease.set(granted.lease());
          }
          return lease.get() != null;
        });
    return lease.get();
  }

  @Test
  void redrivenRecordOfAnotherApplication_isIdentifiedAsEver() {
    diesInBothZonesEyes();
    ConsumerRecord<byte[], byte[]> others = delivered(lastLetter().again("another", FIRST), 7);

    Sent sent = b.deliver(others);
    eventually(sent::isOver);

    assertThat(calls).hasSize(1);
    assertThat(b.listener.delivered()).containsExactly(Delivered.DUPLICATE);
  }
}
