package io.firstclaim.processor.engine.intake;

import static io.firstclaim.processor.engine.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.processor.engine.api.EngineSettings.Ordering;
import io.firstclaim.processor.engine.testing.TestRecords;
import io.firstclaim.processor.engine.testing.TestTime;
import io.firstclaim.processor.engine.trace.Tracing;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class SequencerTest {
  private final TestTime time = TestTime.standing();
  private final AssignedPartition partition = partition(0);
  private Sequencer sequencer = new Sequencer(Ordering.KEY, Tracing.OFF);
  private long offset;

  private static AssignedPartition partition(int number) {
    return new AssignedPartition(new TopicPartition("in", number), "");
  }

  private Delivery deliver(@Nullable String key) {
    return deliver(key, partition);
  }

  private Delivery deliver(@Nullable String key, AssignedPartition of) {
    return sequencer.deliver(
        TestRecords.record(key, "{}", of.id().partition(), offset++), of, time.now());
  }

  private static boolean mayGo(Delivery delivery) {
    return delivery.before() == null || delivery.before().isDone();
  }

  @Test
  void unordered_waitsForNothing() {
    sequencer = new Sequencer(Ordering.UNORDERED, Tracing.OFF);
    Delivery _ = deliver("k");

    assertThat(mayGo(deliver("k"))).isTrue();
  }

  @Test
  void byKey_eachWaitsForTheOneBeforeItWithItsKey() {
    Delivery first = deliver("k");
    Delivery second = deliver("k");
    Delivery third = deliver("k");
    Delivery other = deliver("other");

    assertThat(mayGo(first)).isTrue();
    assertThat(mayGo(second)).isFalse();
    assertThat(mayGo(other)).isTrue();

    first.end().run();
    assertThat(mayGo(second)).isTrue();
    assertThat(mayGo(third)).isFalse();

    second.end().run();
    assertThat(mayGo(third)).isTrue();
  }

  @Test
  void byKey_recordsWithoutAKey_waitForNothing() {
    Delivery _ = deliver(null);

    assertThat(mayGo(deliver(null))).isTrue();
  }

  @Test
  void byKey_anEmptyKeyIsAKey() {
    Delivery _ = deliver("");

    assertThat(mayGo(deliver(""))).isFalse();
  }

  @Test
  void byPartition_eachWaitsForTheOneBeforeItInItsPartition() {
    sequencer = new Sequencer(Ordering.PARTITION, Tracing.OFF);
    Delivery first = deliver("k");
    Delivery second = deliver("other");
    Delivery elsewhere = deliver("k", partition(1));

    assertThat(mayGo(second)).isFalse();
    assertThat(mayGo(elsewhere)).isTrue();
    first.end().run();
    assertThat(mayGo(second)).isTrue();
  }

  @Test
  void partitionThatIsAssignedAnew_beginsANewLine() {
    sequencer = new Sequencer(Ordering.PARTITION, Tracing.OFF);
    Delivery _ = deliver("k", partition(0));

    assertThat(mayGo(deliver("k", partition(0)))).isTrue();
  }

  @Test
  void linesWithoutRecords_areForgotten() {
    for (Ordering ordering : Ordering.values()) {
      sequencer = new Sequencer(ordering, Tracing.OFF);
      List<Delivery> deliveries = new ArrayList<>();
      for (int i = 0; i < 1000; i++) {
        deliveries.add(deliver("k" + i / 3));
      }
      deliveries.forEach(delivery -> delivery.end().run());

      assertThat(sequencer.lines()).isZero();
    }
  }

  @Test
  void recordsOfAKey_goInOrder_whateverTheThreadsDo() {
    Random random = new Random(3);
    List<List<Long>> seen = new ArrayList<>();
    for (int key = 0; key < 10; key++) {
      seen.add(new CopyOnWriteArrayList<>());
    }
    for (int i = 0; i < 2000; i++) {
      int key = random.nextInt(10);
      Delivery delivery = deliver("k" + key);
      delivery.whenItsTurn(
          () ->
              Thread.startVirtualThread(
                  () -> {
                    Thread.onSpinWait();
                    seen.get(key).add(delivery.record().offset());
                    delivery.passTurnOn();
                  }));
    }

    eventually(() -> seen.stream().mapToInt(List::size).sum() == 2000);
    assertThat(seen).allSatisfy(offsets -> assertThat(offsets).isSorted());
    eventually(() -> sequencer.lines() == 0);
  }
}
