package io.firstclaim.processor.engine;

import static io.firstclaim.processor.engine.testing.Eventually.eventually;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.ClaimState;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.processor.engine.intake.PollLoop;
import io.firstclaim.processor.engine.testing.TestRecords;
import io.firstclaim.processor.engine.testing.TestTime;
import io.firstclaim.processor.handler.HandlerResult;
import io.firstclaim.processor.handler.RecordContext;
import io.firstclaim.processor.handler.RecordHandler;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetCommitCallback;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.apache.kafka.common.errors.StaleMemberEpochException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.UnknownMemberIdException;
import org.apache.kafka.common.errors.UnreleasedInstanceIdException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class PollLoopTest {
  private static final TopicPartition IN = new TopicPartition("in", 0);
  private static final TopicPartition OTHER = new TopicPartition("other", 0);

  /** Kafka's own mock, which does not wait for records as a real one does. */
  private static final class Input extends MockConsumer<byte[], byte[]> {
    final AtomicInteger polls = new AtomicInteger();
    private volatile long committedAtClose;
    volatile @Nullable RuntimeException commitFault;
    final AtomicInteger commitsInVain = new AtomicInteger();
    private final AtomicInteger seeksToFail = new AtomicInteger();

    Input() {
      super("earliest");
      updateBeginningOffsets(Map.of(IN, 0L, OTHER, 0L));
      updateEndOffsets(Map.of(IN, 1_000_000L, OTHER, 1_000_000L));
    }

    @Override
    public synchronized void seekToBeginning(Collection<TopicPartition> partitions) {
      if (seeksToFail.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
        throw new TimeoutException("the consumer's own thread is late");
      }
      super.seekToBeginning(partitions);
    }

    @Override
    @SuppressWarnings("UnsynchronizedOverridesSynchronized") // it waits without the lock
    public ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
      polls.incrementAndGet();
      ConsumerRecords<byte[], byte[]> records = super.poll(timeout);
      if (records.isEmpty()) {
        LockSupport.parkNanos(1_000_000);
      }
      return records;
    }

    /** Runs this within the next poll, as rebalances do. */
    void whilePolling(Runnable task) {
      CountDownLatch done = new CountDownLatch(1);
      schedulePollTask(
          () -> {
            task.run();
            done.countDown();
          });
      eventually(() -> done.getCount() == 0);
    }

    void add(int from, int count) {
      schedulePollTask(
          () -> {
            for (int i = from; i < from + count; i++) {
              addRecord(TestRecords.record("order-" + i, "{}", 0, i));
            }
          });
    }

    @Override
    public synchronized void commitAsync(
        Map<TopicPartition, OffsetAndMetadata> offsets, OffsetCommitCallback callback) {
      RuntimeException fault = commitFault;
      if (fault == null) {
        super.commitAsync(offsets, callback);
      } else {
        callback.onComplete(null, fault); // which is what the new group protocol does
      }
    }

    @Override
    public synchronized void commitSync(
        Map<TopicPartition, OffsetAndMetadata> offsets, Duration timeout) {
      RuntimeException fault = commitFault;
      if (fault != null) {
        commitsInVain.incrementAndGet();
        throw fault;
      }
      super.commitSync(offsets, timeout);
    }

    @Override
    public void close(CloseOptions options) {
      committedAtClose = committedOffset();
      rebalance(List.of()); // a real one leaves its group
      super.close(options);
    }

    long committedAtClose() {
      return committedAtClose;
    }

    long committedOffset() {
      return committedOffset(IN);
    }

    long committedOffset(TopicPartition of) {
      OffsetAndMetadata offset = committed(Set.of(of)).get(of);
      return offset == null ? -1 : offset.offset();
    }
  }

  private TestTime time = TestTime.running();
  private final TestSettings settings = new TestSettings();
  private final List<String> handled = new CopyOnWriteArrayList<>();
  private final CountDownLatch mayEnd = new CountDownLatch(1);
  private final Input input = new Input();
  private final TestBroker broker = new TestBroker(input);

  private @Nullable TestInstance instance;
  private @Nullable PollLoop loop;
  private @Nullable Thread thread;

  private TestInstance start(RecordHandler handler) throws InterruptedException {
    TestInstance started =
        new TestInstance(
            "a",
            settings,
            context -> {
              handled.add(context.id().text());
              return handler.handle(context);
            },
            new MemoryClaimStore.Claims(),
            broker,
            time);
    instance = started;
    loop = started.loop;
    thread = started.poll();
    input.whilePolling(() -> input.rebalance(List.of(IN)));
    return started;
  }

  private PollLoop loop() {
    return Objects.requireNonNull(loop);
  }

  private @Nullable Throwable defect() {
    return Objects.requireNonNull(instance).defect.get();
  }

  private boolean hasEnded() {
    return thread == null || !thread.isAlive();
  }

  @AfterEach
  void stop() {
    mayEnd.countDown();
    if (!hasEnded()) {
      loop().stop();
      eventually(this::hasEnded);
    }
    if (instance != null) {
      instance.close();
    }
  }

  private static HandlerResult done(RecordContext context) {
    return HandlerResult.done();
  }

  /** Keeps the first record until it may end. */
  private HandlerResult holdFirst(RecordContext context) throws InterruptedException {
    if (context.record().offset() == 0) {
      mayEnd.await();
    }
    return HandlerResult.done();
  }

  /** Whether all is settled; what the poll loop says of it may be from before the last poll. */
  private boolean isAllSettled() {
    return Objects.requireNonNull(instance).limit.isEmpty() && loop().lag() == 0;
  }

  /** Commits are due again. */
  private void afterAWhile() {
    time.advance(Duration.ofSeconds(2));
    int polls = input.polls.get();
    eventually(() -> input.polls.get() > polls + 1);
  }

  @Test
  void records_areProcessed_andTheirOffsetsCommitted() throws InterruptedException {
    TestInstance _ = start(PollLoopTest::done);
    input.add(0, 100);

    eventually(() -> handled.size() == 100 && isAllSettled());
    afterAWhile();

    assertThat(input.committedOffset()).isEqualTo(100);
  }

  @Test
  void openRecord_holdsTheCommit_thoughAllAfterItAreDone() throws InterruptedException {
    TestInstance a = start(this::holdFirst);
    input.add(0, 50);
    eventually(() -> handled.size() == 50 && a.limit.inFlight() == 1);
    afterAWhile();
    assertThat(input.committedOffset()).isEqualTo(-1);
    assertThat(loop().lag()).isEqualTo(50);

    mayEnd.countDown();
    eventually(a.limit::isEmpty);
    afterAWhile();

    assertThat(input.committedOffset()).isEqualTo(50);
    assertThat(loop().lag()).isZero();
  }

  @Test
  void revokedPartition_isCommittedOnceMore_andThenLeftAlone() throws InterruptedException {
    TestInstance a = start(context -> context.record().offset() == 2 ? hold() : done(context));
    input.add(0, 5);
    eventually(() -> handled.size() == 5 && a.limit.inFlight() == 1);

    AtomicReference<Long> atRevocation = new AtomicReference<>();
    input.whilePolling(
        () -> {
          Objects.requireNonNull(instance).partitions().onPartitionsRevoked(List.of(IN));
          atRevocation.set(input.committedOffset());
        });
    assertThat(atRevocation.get()).isEqualTo(2);
    mayEnd.countDown();
    eventually(a.limit::isEmpty);
    afterAWhile();

    assertThat(input.committedOffset()).isEqualTo(2);
    assertThat(a.store.find(RecordId.of("order-2")).orElseThrow().state())
        .isInstanceOf(ClaimState.Done.class);
  }

  private HandlerResult hold() throws InterruptedException {
    mayEnd.await();
    return HandlerResult.done();
  }

  @Test
  void lostPartition_isNotCommitted() throws InterruptedException {
    TestInstance a = start(context -> context.record().offset() == 2 ? hold() : done(context));
    input.add(0, 5);
    eventually(() -> handled.size() == 5 && a.limit.inFlight() == 1);

    AtomicReference<Long> atLoss = new AtomicReference<>();
    input.whilePolling(
        () -> {
          atLoss.set(input.committedOffset()); // where the machine stood still, a commit was due
          Objects.requireNonNull(instance).partitions().onPartitionsLost(List.of(IN));
        });
    mayEnd.countDown();
    eventually(a.limit::isEmpty);
    afterAWhile();

    assertThat(input.committedOffset()).isEqualTo(atLoss.get()).isLessThan(5);
  }

  @Test
  void partitionThatComesBack_startsAfresh_andItsRecordsAreDuplicates()
      throws InterruptedException {
    TestInstance a = start(this::holdFirst);
    input.add(0, 3);
    eventually(() -> handled.size() == 3 && a.limit.inFlight() == 1);

    input.whilePolling(() -> input.rebalance(List.of()));
    input.whilePolling(
        () -> {
          input.rebalance(List.of(IN));
          input.seek(IN, 0);
        });
    input.add(0, 3);
    eventually(() -> loop().lag() == 3);
    mayEnd.countDown();
    eventually(() -> loop().lag() == 0);
    afterAWhile();

    assertThat(input.committedOffset()).isEqualTo(3);
    assertThat(handled).hasSize(3);
  }

  @Test
  void commitThatFails_isCounted_andRepeated() throws InterruptedException {
    TestInstance started = start(_ -> HandlerResult.done());
    input.commitFault = new TimeoutException("no coordinator");
    input.add(0, 3);
    eventually(() -> handled.size() == 3);
    eventually(
        () -> {
          time.advance(Duration.ofSeconds(1));
          return started.listener.commitFailures.get() >= 2;
        });

    input.commitFault = null;

    eventually(
        () -> {
          time.advance(Duration.ofSeconds(1));
          return input.committedOffset() == 3;
        });
  }

  @Test
  void listenerThatThrows_endsNothing() throws InterruptedException {
    TestInstance started = start(_ -> HandlerResult.done());
    started.listener.fails = true;
    input.commitFault = new TimeoutException("no coordinator");
    input.add(0, 3);
    eventually(() -> handled.size() == 3);
    eventually(
        () -> {
          time.advance(Duration.ofSeconds(1));
          return started.listener.commitFailures.get() >= 2 || defect() != null;
        });

    assertThat(defect()).isNull();
  }

  @Test
  void instanceThatHearsLateOfAStoreThatWasThereFirst_leavesTheGroup_untilThatOneIsGone()
      throws InterruptedException {
    TestInstance started =
        new TestInstance(
            "a", settings, _ -> HandlerResult.done(), new MemoryClaimStore.Claims(), broker, time);
    instance = started;
    loop = started.loop;
    broker.presence("something that stands before", 0, "PRESENT");
    thread = started.poll();
    eventually(() -> !input.subscription().isEmpty());

    broker.presence("late", 1, "PRESENT");
    eventually(() -> input.subscription().isEmpty());
    assertThat(defect()).isNull();

    broker.presence("late", 2, "GONE");
    eventually(() -> !input.subscription().isEmpty());
  }

  @Test
  void rewind_deliversAgain_andPassesNothingUnsettled() throws InterruptedException {
    TestInstance a = start(this::holdFirst);
    input.add(0, 3);
    eventually(() -> handled.size() == 3 && a.limit.inFlight() == 1);

    input.whilePolling(() -> input.seek(IN, 0));
    input.add(0, 4);
    eventually(() -> handled.size() == 4);
    afterAWhile();
    assertThat(input.committedOffset()).isEqualTo(-1);

    mayEnd.countDown();
    eventually(a.limit::isEmpty);
    afterAWhile();
    assertThat(input.committedOffset()).isEqualTo(4);
    assertThat(handled).hasSize(4);
    assertThat(defect()).isNull();
  }

  @Test
  void stopWithoutABroker_triesToCommitOnce() throws InterruptedException {
    TestInstance a = start(PollLoopTest::done);
    input.commitFault = new TimeoutException("no broker");
    input.add(0, 3);
    eventually(() -> handled.size() == 3 && a.limit.isEmpty());

    loop().stop();

    eventually(this::hasEnded);
    assertThat(input.commitsInVain).hasValue(1);
  }

  /** As it does where leaders have epochs: {@code OffsetsForLeaderEpoch} (KIP-320). */
  @Test
  void topicMadeAnew_isReadFromItsBeginning_thoughKafkaGoesOnFromItsEnd()
      throws InterruptedException {
    TestTopicIds ids = new TestTopicIds("in");
    broker.tells(ids);
    TestInstance _ = start(PollLoopTest::done);
    input.add(0, 100);
    eventually(() -> handled.size() == 100 && isAllSettled());
    afterAWhile();
    assertThat(input.committedOffset()).isEqualTo(100);

    input.whilePolling(
        () -> {
          ids.change();
          input.seek(IN, 3);
          input.addRecord(TestRecords.record("new-3", "{}", 0, 3));
        });
    eventually(() -> input.position(IN) == 0);
    input.whilePolling(
        () -> {
          for (int i = 0; i < 5; i++) {
            input.addRecord(TestRecords.record("new-" + i, "{}", 0, i));
          }
        });

    eventually(() -> handled.size() >= 105 && isAllSettled());
    afterAWhile();
    assertThat(handled).hasSize(105).doesNotHaveDuplicates();
    assertThat(input.committedOffset()).isEqualTo(5);
  }

  @Test
  void seekToTheBeginningThatFails_losesNoRecordOfThatPoll_andIsTriedAgain()
      throws InterruptedException {
    TestTopicIds ids = new TestTopicIds("in");
    broker.tells(ids);
    TestInstance _ = start(PollLoopTest::done);
    input.whilePolling(() -> input.rebalance(List.of(IN, OTHER)));
    input.add(0, 100);
    eventually(() -> handled.size() == 100 && isAllSettled());
    afterAWhile();

    input.seeksToFail.set(3);
    input.whilePolling(
        () -> {
          ids.change();
          input.seek(IN, 3);
          input.addRecord(TestRecords.record("new-3", "{}", 0, 3));
          input.addRecord(ofOther(0));
        });
    eventually(() -> input.seeksToFail.get() == 0 && input.position(IN) == 0);
    input.whilePolling(
        () -> {
          for (int i = 0; i < 5; i++) {
            input.addRecord(TestRecords.record("new-" + i, "{}", 0, i));
          }
          input.addRecord(ofOther(1));
        });

    eventually(() -> handled.size() >= 107 && isAllSettled());
    afterAWhile();
    assertThat(handled).hasSize(107).doesNotHaveDuplicates();
    assertThat(input.committedOffset(IN)).isEqualTo(5);
    assertThat(input.committedOffset(OTHER)).isEqualTo(2);
  }

  private static ConsumerRecord<byte[], byte[]> ofOther(long offset) {
    return new ConsumerRecord<>(
        OTHER.topic(),
        OTHER.partition(),
        offset,
        ("other-" + offset).getBytes(UTF_8),
        "{}".getBytes(UTF_8));
  }

  @Test
  void whileTheStoreIsUnreachable_partitionsPause_andPollingGoesOn() throws InterruptedException {
    TestInstance a = start(PollLoopTest::done);
    a.store.setDown(true);
    input.add(0, 3);
    eventually(() -> !a.gate.isOpen());
    eventually(() -> input.paused().contains(IN));
    input.add(3, 3);
    int polls = input.polls.get();
    eventually(() -> input.polls.get() > polls + 5);
    assertThat(handled).isEmpty();
    assertThat(a.limit.parked() + a.limit.inFlight()).isEqualTo(3);
    afterAWhile();
    assertThat(input.committedOffset()).isEqualTo(-1);

    a.store.setDown(false);

    eventually(() -> handled.size() == 6);
    eventually(() -> input.paused().isEmpty());
  }

  @Test
  void pausedByAnOperator_takesNothing_letsGoOnWhatItHas_andCommits() throws InterruptedException {
    TestInstance running = start(this::holdFirst);
    input.add(0, 1);
    eventually(() -> running.held(10, null).items().size() == 1);

    running.pause("maintenance");
    eventually(() -> input.paused().contains(IN));
    input.add(1, 5);
    mayEnd.countDown();
    eventually(() -> input.committed(Set.of(IN)).get(IN) != null);
    int polls = input.polls.get();
    eventually(() -> input.polls.get() > polls + 5);

    assertThat(handled).hasSize(1);
    assertThat(running.state().paused()).contains("maintenance");

    running.resume();
    eventually(() -> handled.size() == 6);
    assertThat(running.state().paused()).isEmpty();
  }

  @Test
  void partitionAssignedWhilePaused_isPausedToo() throws InterruptedException {
    TestInstance running = start(PollLoopTest::done);
    running.pause("maintenance");
    eventually(() -> input.paused().contains(IN));

    input.whilePolling(
        () -> {
          Objects.requireNonNull(instance).partitions().onPartitionsRevoked(Set.of(IN));
          input.resume(Set.of(IN));
          Objects.requireNonNull(instance).partitions().onPartitionsAssigned(Set.of(IN));
          assertThat(input.paused()).contains(IN);
        });
  }

  @Test
  void fullFlight_pausesThePartitions_untilThereIsRoom() throws InterruptedException {
    settings.maxInFlight = 2;
    TestInstance a = start(_ -> hold());
    input.add(0, 2);
    eventually(() -> a.limit.inFlight() == 2);
    eventually(() -> input.paused().contains(IN));
    input.add(2, 100);
    int polls = input.polls.get();
    eventually(() -> input.polls.get() > polls + 2);
    assertThat(loop().lag()).isEqualTo(2);

    mayEnd.countDown();

    eventually(() -> handled.size() == 102);
  }

  /** Those of a member whose session ended are what group.protocol=consumer throws. */
  static Stream<KafkaException> faultThatPasses_endsNothing() {
    return Stream.of(
        new TimeoutException("no broker"),
        new UnknownMemberIdException("its session ended while it asked for its offsets"),
        new StaleMemberEpochException("its session ended while it asked for its offsets"));
  }

  @ParameterizedTest
  @MethodSource
  void faultThatPasses_endsNothing(KafkaException fault) throws InterruptedException {
    TestInstance _ = start(PollLoopTest::done);
    input.setPollException(fault);
    input.add(0, 3);

    eventually(() -> handled.size() == 3);
    assertThat(defect()).isNull();
  }

  /** After them Kafka's consumer is of no use any more, though its group is. */
  static Stream<KafkaException> consumerThatGivesItselfUp_isFollowedByAnother() {
    return Stream.of(
        new GroupIdNotFoundException("the broker has just begun"),
        new UnreleasedInstanceIdException("the static member's old session"));
  }

  @ParameterizedTest
  @MethodSource
  void consumerThatGivesItselfUp_isFollowedByAnother(KafkaException fault)
      throws InterruptedException {
    TestInstance a = start(this::holdFirst);
    input.add(0, 3);
    eventually(() -> handled.size() == 3);
    Input next = new Input();
    broker.inputIsNow(next);

    input.setPollException(fault);
    eventually(() -> next.subscription().contains("in"));
    next.whilePolling(() -> next.rebalance(List.of(IN)));
    next.add(0, 5); // nothing was committed, as the first was still in its handler
    eventually(() -> handled.size() == 5);
    mayEnd.countDown();
    eventually(() -> loop().lag() == 0 && a.limit.isEmpty());
    time.advance(Duration.ofSeconds(2));
    eventually(() -> next.committedOffset() == 5);

    assertThat(handled).doesNotHaveDuplicates();
    assertThat(input.closed()).isTrue();
    assertThat(input.committedAtClose()).isEqualTo(-1);
    assertThat(a.listener.opened).contains(input, next);
    assertThat(a.listener.replaced).containsExactly(input);
    assertThat(defect()).isNull();
  }

  @Test
  void faultThatStays_endsTheLoop_inGoodOrder_andIsTold() throws InterruptedException {
    settings.maxInFlight = 1;
    TestInstance a = start(_ -> hold());
    input.add(0, 3);
    eventually(() -> handled.size() == 1 && a.limit.parked() == 2);

    input.setPollException(new KafkaException("for good"));

    eventually(this::hasEnded);
    assertThat(defect()).hasMessage("for good");
    assertThat(input.closed()).isTrue();
    mayEnd.countDown();
    eventually(a.limit::isEmpty);
    assertThat(handled).hasSize(1); // what waited was not begun any more
  }

  @Test
  void stop_letsHandlersFinish_commits_andLeaves() throws InterruptedException {
    settings.grace = Duration.ofMinutes(5);
    TestInstance a = start(this::holdFirst);
    input.add(0, 3);
    eventually(() -> handled.size() == 3 && a.limit.inFlight() == 1);

    loop().stop();
    int polls = input.polls.get();
    eventually(() -> input.polls.get() > polls + 3); // stays in the group
    assertThat(hasEnded()).isFalse();
    mayEnd.countDown();

    eventually(this::hasEnded);
    assertThat(((MockProducer<byte[], byte[]>) broker.outcomesProducers().getFirst()).closed())
        .isTrue(); // as all permits are out
    assertThat(input.closed()).isTrue();
    assertThat(input.committedAtClose()).isEqualTo(3);
    assertThat(defect()).isNull();
  }

  @Test
  void stop_beginsNothingMore() throws InterruptedException {
    settings.maxInFlight = 1;
    settings.grace = Duration.ofMinutes(5);
    TestInstance a = start(_ -> hold());
    input.add(0, 3);
    eventually(() -> handled.size() == 1 && a.limit.parked() == 2);

    loop().stop();
    input.add(3, 3);
    int polls = input.polls.get();
    eventually(() -> input.polls.get() > polls + 3);
    mayEnd.countDown();

    eventually(this::hasEnded);
    assertThat(handled).hasSize(1);
    assertThat(input.committedAtClose()).isLessThanOrEqualTo(1);
  }

  @Test
  void handlerThatOutlastsTheGrace_isInterrupted_andItsRecordReleased()
      throws InterruptedException {
    time = TestTime.standing(); // so what follows the grace takes as long as it needs
    TestInstance a = start(this::holdFirst);
    input.add(0, 2);
    eventually(() -> handled.size() == 2 && a.limit.inFlight() == 1);

    loop().stop();
    int polls = input.polls.get();
    eventually(() -> input.polls.get() > polls + 3); // the grace has begun
    time.advance(settings.grace);

    eventually(this::hasEnded);
    assertThat(a.limit.isEmpty()).isTrue();
    assertThat(a.store.find(RecordId.of("order-0")).orElseThrow().state())
        .isInstanceOfSatisfying(
            ClaimState.Free.class,
            free -> assertThat(free.retryAt()).isEqualTo(ClaimStore.AT_ONCE));
    assertThat(input.committedAtClose()).isEqualTo(-1); // as nothing was settled
  }
}
