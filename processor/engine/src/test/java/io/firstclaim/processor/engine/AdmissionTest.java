package io.firstclaim.processor.engine;

import static io.firstclaim.processor.engine.testing.Eventually.eventually;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.lock.testkit.fault.FaultyStore.Op;
import io.firstclaim.processor.engine.api.EngineSettings.Ordering;
import io.firstclaim.processor.engine.api.Outcome;
import io.firstclaim.processor.engine.testing.TestRecords;
import io.firstclaim.processor.engine.testing.TestTime;
import io.firstclaim.processor.handler.HandlerResult;
import io.firstclaim.processor.handler.RecordContext;
import io.firstclaim.processor.handler.RecordHandler;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What is blocked, and what goes on beside it: partitions of one topic, polled a few at a time. */
class AdmissionTest {
  private static final int A_POLL = 10;
  private static final List<TopicPartition> PARTITIONS =
      IntStream.range(0, 4).mapToObj(i -> new TopicPartition("in", i)).toList();

  /** Kafka's own mock, which does not wait for records as a real one does. */
  private static final class Input extends MockConsumer<byte[], byte[]> {
    Input() {
      super("earliest");
      setMaxPollRecords(A_POLL);
      updateBeginningOffsets(PARTITIONS.stream().collect(Collectors.toMap(id -> id, _ -> 0L)));
    }

    @Override
    @SuppressWarnings("UnsynchronizedOverridesSynchronized") // it waits without the lock
    public ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
      ConsumerRecords<byte[], byte[]> records = super.poll(timeout);
      if (records.isEmpty()) {
        LockSupport.parkNanos(1_000_000);
      }
      return records;
    }

    void assign(List<TopicPartition> partitions) {
      schedulePollTask(() -> rebalance(partitions));
    }

    /** Adds so many records to a partition, with these IDs. */
    void add(int partition, int count, IntFunction<String> id, String value) {
      schedulePollTask(
          () -> {
            for (int i = 0; i < count; i++) {
              addRecord(TestRecords.record(id.apply(i), value, partition, i));
            }
          });
    }
  }

  private final TestTime time = TestTime.running();
  private final TestSettings settings = new TestSettings();
  private final ConcurrentLinkedQueue<String> handled = new ConcurrentLinkedQueue<>();
  private final CountDownLatch mayEnd = new CountDownLatch(1);
  private final Input input = new Input();
  private final TestBroker broker = new TestBroker(input);
  private final MemoryClaimStore.Claims claims = new MemoryClaimStore.Claims();

  private @Nullable TestInstance instance;
  private @Nullable Thread thread;

  private TestInstance start(int partitions, RecordHandler handler) throws InterruptedException {
    TestInstance started =
        new TestInstance(
            "a",
            settings,
            context -> {
              HandlerResult result = handler.handle(context);
              handled.add(context.id().text());
              return result;
            },
            claims,
            broker,
            time);
    instance = started;
    thread = started.poll();
    input.assign(PARTITIONS.subList(0, partitions));
    return started;
  }

  @AfterEach
  void stop() {
    mayEnd.countDown();
    TestInstance started = Objects.requireNonNull(instance);
    started.loop.stop();
    eventually(() -> !Objects.requireNonNull(thread).isAlive());
    started.close();
    assertThat(started.defect.get()).isNull();
  }

  private long handledOf(String prefix) {
    return handled.stream().filter(id -> id.startsWith(prefix)).distinct().count();
  }

  private HandlerResult holdThose(RecordContext context, String prefix)
      throws InterruptedException {
    if (context.id().text().startsWith(prefix)) {
      mayEnd.await();
    }
    return HandlerResult.done();
  }

  private static HandlerResult retryLater(RecordContext context, String prefix) {
    return context.id().text().startsWith(prefix)
        ? new HandlerResult.Retry("not now", Optional.of(Duration.ofHours(1)))
        : HandlerResult.done();
  }

  @Test
  void partitionWhoseFirstRecordWaits_holdsUpNoOther() throws InterruptedException {
    settings.ordering = Ordering.PARTITION;
    settings.maxParked = 50;
    TestInstance a = start(2, context -> retryLater(context, "p0-0"));
    input.add(0, 200, i -> "p0-" + i, "{}");
    input.add(1, 200, i -> "p1-" + i, "{}");

    eventually(() -> handledOf("p1-") == 200 && handledOf("p0-") == 1);

    assertThat(handledOf("p0-")).isOne();
    assertThat(a.limit.parked()).isLessThanOrEqualTo(50 + A_POLL);
    eventually(() -> input.paused().equals(Set.of(PARTITIONS.getFirst())));
  }

  @Test
  void partitionWhoseRecordsAllWait_holdsUpNoOther() throws InterruptedException {
    settings.maxParked = 60;
    MemoryClaimStore another = TestInstance.anothers(claims, settings.lease, time);
    for (int i = 0; i < 200; i++) {
      assertThat(another.claim(TestInstance.claim("p0-" + i, "{}", time)))
          .isInstanceOf(ClaimResult.Granted.class);
    }
    TestInstance _ = start(3, _ -> HandlerResult.done());
    input.add(0, 200, i -> "p0-" + i, "{}");
    eventually(() -> input.paused().contains(PARTITIONS.getFirst()));

    input.add(1, 200, i -> "p1-" + i, "{}");
    input.add(2, 200, i -> "p2-" + i, "{}");

    eventually(() -> handledOf("p1-") == 200 && handledOf("p2-") == 200);
  }

  @Test
  void partitionWhoseHandlersHang_leavesPlacesToTheOthers() throws InterruptedException {
    settings.maxInFlight = 8;
    TestInstance a = start(2, context -> holdThose(context, "p0-"));
    input.add(0, 200, i -> "p0-" + i, "{}");
    eventually(() -> a.limit.inFlight() == 6);
    input.add(1, 200, i -> "p1-" + i, "{}");

    eventually(() -> handledOf("p1-") == 200);

    mayEnd.countDown();
    eventually(() -> handledOf("p0-") == 200);
  }

  @Test
  void oneRecordDeliveredManyTimesWhileItIsHandled_holdsUpNoOther() throws InterruptedException {
    settings.maxParked = 50;
    settings.maxInFlight = 10;
    TestInstance a = start(1, context -> holdThose(context, "hot"));
    input.add(0, 200, i -> i < 60 ? "hot" : "p0-" + i, "{}");

    eventually(() -> handledOf("p0-") == 140);
    eventually(() -> a.limit.inFlight() == 1 && a.limit.parked() == 0);

    mayEnd.countDown();
    eventually(() -> a.loop.lag() == 0);
    assertThat(handled).hasSize(141);
  }

  @Test
  void twinsOfALeaderThatIsLost_goOnWithItsRecord() throws InterruptedException {
    TestInstance a =
        start(
            2,
            context ->
                context.attempt() == 1
                    ? new HandlerResult.Retry("not now", Optional.of(Duration.ofMinutes(1)))
                    : HandlerResult.done());
    input.add(0, 1, _ -> "hot", "{}");
    eventually(() -> handled.size() == 1);
    input.add(1, 30, _ -> "hot", "{}");
    eventually(() -> a.loop.lag() == 31 && a.limit.parked() == 1);

    input.assign(PARTITIONS.subList(1, 2));
    // The first twin asks, and waits as well.
    eventually(() -> a.store.calls(Op.CLAIM) == 2 && a.limit.parked() == 1);
    time.advance(Duration.ofMinutes(2));
    a.hear(Outcome.Kind.FAILED, "hot", "{}");

    eventually(() -> a.loop.lag() == 0 && a.limit.isEmpty());
    assertThat(handled).containsExactly("hot", "hot");
  }

  @Test
  void twinsOfALostPartition_areForgotten_andSettledWhenTheyComeAgain()
      throws InterruptedException {
    TestInstance a = start(2, context -> holdThose(context, "hot"));
    input.add(0, 1, _ -> "hot", "{}");
    eventually(() -> a.limit.inFlight() == 1);
    input.add(1, 30, _ -> "hot", "{}");
    eventually(() -> a.loop.lag() == 31 && a.limit.parked() == 0);

    input.assign(PARTITIONS.subList(0, 1));
    eventually(() -> a.loop.lag() == 1);
    input.assign(PARTITIONS.subList(0, 2));
    input.add(1, 30, _ -> "hot", "{}");
    eventually(() -> a.loop.lag() == 31);
    mayEnd.countDown();

    eventually(() -> a.loop.lag() == 0);
    assertThat(handled).containsExactly("hot");
  }

  @Test
  void otherPayloadsOfAHotId_keepTheirValues_andAreDeadLettersInTheEnd()
      throws InterruptedException {
    TestInstance a = start(1, context -> holdThose(context, "hot"));
    input.add(0, 1, _ -> "hot", "1");
    eventually(() -> a.limit.inFlight() == 1);
    input.schedulePollTask(
        () -> {
          for (int i = 1; i <= 20; i++) {
            input.addRecord(TestRecords.record("hot", i % 2 == 0 ? "22" : "333", 0, i));
          }
        });
    eventually(() -> a.loop.lag() == 21);
    mayEnd.countDown();

    eventually(() -> a.loop.lag() == 0 && a.limit.isEmpty());
    assertThat(handled).containsExactly("hot");
    assertThat(broker.deadLetters()).hasSize(2);
    assertThat(a.limit.buffered()).isZero();
  }

  @Test
  void recordsWhoseClaimsCannotBeRead_holdUpNoOtherPartition() throws InterruptedException {
    settings.maxParked = 40;
    TestInstance a = start(2, _ -> HandlerResult.done());
    for (int i = 0; i < 200; i++) {
      a.store.unreadable().add(RecordId.of("p0-" + i));
    }
    input.add(0, 200, i -> "p0-" + i, "{}");
    eventually(() -> input.paused().contains(PARTITIONS.getFirst()));

    input.add(1, 200, i -> "p1-" + i, "{}");

    eventually(() -> handledOf("p1-") == 200);
  }

  @Test
  void keyWhoseFirstRecordWaits_holdsUpNoOtherPartition() throws InterruptedException {
    settings.ordering = Ordering.KEY;
    settings.recordId = "sha256:value";
    settings.maxParked = 40;
    String first = "sha256:" + Fingerprint.of("0".getBytes(UTF_8));
    TestInstance _ = start(2, context -> retryLater(context, first));
    input.schedulePollTask(
        () -> {
          for (int i = 0; i < 200; i++) {
            input.addRecord(TestRecords.record("blocked", "" + i, 0, i));
          }
        });
    eventually(() -> input.paused().contains(PARTITIONS.getFirst()));

    input.add(1, 200, i -> "key-" + i, "other");

    eventually(() -> handled.size() == 2); // all of one ID
  }

  @Test
  void bytesInMemory_areBounded_andOnePartitionDoesNotHaveThemAll() throws InterruptedException {
    settings.maxBuffered = 46_000; // of which 40,250 are for records
    String large = "x".repeat(1000);
    TestInstance a = start(2, context -> holdThose(context, "p0-"));
    input.add(0, 200, i -> "p0-" + i, large);
    eventually(
        () -> input.paused().equals(Set.of(PARTITIONS.getFirst())) && a.limit.buffered() > 30_000);

    input.add(1, 200, i -> "p1-" + i, large);

    eventually(() -> handledOf("p1-") == 200);
    eventually(() -> a.limit.buffered() <= 42_000); // once the last of p1 have departed
    assertThat(a.limit.buffered()).isGreaterThan(30_000);
    mayEnd.countDown();
    eventually(() -> a.loop.lag() == 0 && a.limit.isEmpty());
    assertThat(a.limit.buffered()).isZero();
    assertThat(handledOf("p0-")).isEqualTo(200);
  }

  @Test
  void recordsThatWaitForTheirTurn_areHandledInOrder_withoutThreadsUntilThen()
      throws InterruptedException {
    settings.ordering = Ordering.PARTITION;
    TestInstance a = start(1, context -> holdThose(context, "p0-0"));
    input.add(0, 200, i -> "p0-" + i, "{}");
    eventually(() -> a.limit.parked() == 199);

    mayEnd.countDown();

    eventually(() -> handled.size() == 200);
    assertThat(List.copyOf(handled))
        .isEqualTo(IntStream.range(0, 200).mapToObj(i -> "p0-" + i).toList());
  }
}
