package io.firstclaim.processor.engine.intake;

import io.firstclaim.lock.Moment;
import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.engine.admission.InFlightLimit;
import io.firstclaim.processor.engine.admission.Shares;
import io.firstclaim.processor.engine.admission.StoreGate;
import io.firstclaim.processor.engine.api.EngineListener;
import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.engine.kafka.TopicIds;
import io.firstclaim.processor.engine.trace.Tracing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.WakeupException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one thread that owns the input consumer. It polls while there is room and the lock store
 * answers, starts a virtual thread for each record, and commits each partition up to its watermark.
 */
public final class PollLoop implements ConsumerRebalanceListener, Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(PollLoop.class);
  private static final Duration POLL = Duration.ofMillis(100);
  private static final Duration WAIT_FOR_ROOM = Duration.ofMillis(50);

  /** While partitions are paused for lack of room: soon it is looked whether they have some. */
  private static final Duration SHORT_POLL = Duration.ofMillis(5);

  private static final Duration COMMIT_EVERY = Duration.ofSeconds(1);
  private static final Duration COMMIT_LIMIT = Duration.ofSeconds(5);
  private static final Duration LAST_POLL = Duration.ofMillis(20);

  /*
   * What follows the grace period, if Kafka or the store do not answer. With Instance.CLOSE_LIMIT
   * for each client and the default grace, all is over within the 30 s that Kubernetes allows.
   */
  private static final Duration LAST_RELEASES = Duration.ofSeconds(3);
  private static final Duration LAST_OUTCOMES = Duration.ofSeconds(2);
  private static final Duration LAST_COMMIT = Duration.ofSeconds(1);
  private static final Duration LEAVE_GROUP = Duration.ofSeconds(1);

  /**
   * How many records may be settled ahead of an open one, over all partitions; bounds the
   * bookkeeping.
   */
  private static final int MAX_AHEAD = 200_000;

  private final Consumer<byte[], byte[]> consumer;
  private final EngineSettings settings;
  private final Processing processing;
  private final InFlightLimit limit;
  private final StoreGate gate;
  private final BooleanSupplier mayTake;
  private final TopicIds topicIds;
  private final EngineListener listener;
  private final Tracing tracing;
  private final java.util.function.Consumer<Duration> closeOutcomes;
  private final java.util.function.Consumer<? super Throwable> onDefect;
  private final TimeSource time;

  private final Map<TopicPartition, AssignedPartition> partitions = new HashMap<>();
  private final Sequencer sequencer;
  private Moment lastCommit;
  private volatile Moment lastPoll;
  private volatile long lag;
  private volatile boolean stopping;
  private volatile @Nullable String paused;
  private boolean isMember;
  private boolean commitsFail;

  /** A loop that is not running yet. */
  public PollLoop(
      Consumer<byte[], byte[]> consumer,
      EngineSettings settings,
      Processing processing,
      InFlightLimit limit,
      StoreGate gate,
      BooleanSupplier mayTake,
      TopicIds topicIds,
      EngineListener listener,
      Tracing tracing,
      java.util.function.Consumer<Duration> closeOutcomes,
      java.util.function.Consumer<? super Throwable> onDefect,
      TimeSource time) {
    this.consumer = consumer;
    this.settings = settings;
    this.processing = processing;
    this.limit = limit;
    this.gate = gate;
    this.mayTake = mayTake;
    this.topicIds = topicIds;
    this.listener = listener;
    this.tracing = tracing;
    this.closeOutcomes = closeOutcomes;
    this.onDefect = onDefect;
    this.time = time;
    this.sequencer = new Sequencer(settings.input().ordering());
    this.lastCommit = time.now();
    this.lastPoll = lastCommit;
  }

  /** When the broker was last polled. */
  public Moment lastPoll() {
    return lastPoll;
  }

  /** Offsets between the watermarks and what has been polled, over all partitions. */
  public long lag() {
    return lag;
  }

  /** Takes no more records from now on, for this reason; those that were taken go on. */
  public void pause(String reason) {
    paused = reason;
  }

  /** Takes records again. */
  public void resume() {
    paused = null;
  }

  /** Why no records are taken; null if they are. */
  public @Nullable String paused() {
    return paused;
  }

  /** Makes the loop end in good order. */
  public void stop() {
    stopping = true;
    consumer.wakeup();
  }

  @Override
  public void run() {
    try {
      while (!stopping) {
        joinOrLeave();
        if (isMember) {
          pollOnce();
        } else {
          lastPoll = time.now();
          LockSupport.parkNanos(this, WAIT_FOR_ROOM.toNanos());
        }
      }
      finish();
    } catch (RuntimeException | Error e) {
      LOG.error("Polling ended by a defect", e);
      startNothingMore();
      onDefect.accept(e);
    } finally {
      consumer.close(CloseOptions.timeout(LEAVE_GROUP));
    }
  }

  /**
   * Is in the group only while records may be taken: a member that takes none would keep its
   * partitions from the others.
   */
  private void joinOrLeave() {
    boolean may = mayTake.getAsBoolean();
    try {
      if (may && !isMember) {
        consumer.subscribe(settings.input().topics(), this);
      } else if (!may && isMember) {
        consumer.unsubscribe();
      }
      isMember = may;
    } catch (WakeupException e) {
      LOG.debug("Woken to stop");
    }
  }

  private void pollOnce() {
    boolean open = gate.isOpen() && paused == null;
    Set<TopicPartition> room = open ? room() : Set.of();
    pauseAllBut(room);
    try {
      ConsumerRecords<byte[], byte[]> records =
          consumer.poll(open && room.size() < partitions.size() ? SHORT_POLL : POLL);
      lastPoll = time.now();
      List<Delivery> deliveries = new ArrayList<>(records.count());
      for (ConsumerRecord<byte[], byte[]> record : records) {
        deliveries.add(deliver(record, lastPoll));
      }
      start(deliveries);
      records
          .nextOffsets()
          .forEach(
              (id, next) -> {
                AssignedPartition partition = partitions.get(id);
                if (partition != null) {
                  partition.reached(next.offset());
                }
              });
    } catch (WakeupException e) {
      LOG.debug("Woken to stop");
    } catch (RetriableException e) {
      LOG.warn("Polling failed, trying again", e);
    }
    lag = partitions.values().stream().mapToLong(AssignedPartition::lag).sum();
    if (time.now().since(lastCommit).compareTo(COMMIT_EVERY) >= 0) {
      commit();
    }
  }

  /** The partitions of which more records may come; waits a moment for one. */
  private Set<TopicPartition> room() {
    Shares ahead = new Shares(MAX_AHEAD, partitions.size());
    long common =
        partitions.values().stream()
            .mapToLong(partition -> Math.max(0, partition.tracked() - ahead.setAside()))
            .sum();
    Set<InFlightLimit.Usage> room = new HashSet<>(limit.awaitRoom(WAIT_FOR_ROOM));
    return partitions.values().stream()
        .filter(partition -> room.contains(partition.usage()))
        .filter(partition -> ahead.allow(partition.tracked(), common))
        .map(AssignedPartition::id)
        .collect(Collectors.toSet());
  }

  private void share() {
    limit.share(partitions.values().stream().map(AssignedPartition::usage).toList());
  }

  private void pauseAllBut(Set<TopicPartition> room) {
    Set<TopicPartition> resume = new HashSet<>(consumer.paused());
    Set<TopicPartition> pause = new HashSet<>(partitions.keySet());
    pause.removeAll(room);
    pause.removeAll(resume);
    resume.retainAll(room);
    if (!pause.isEmpty()) {
      consumer.pause(pause);
    }
    if (!resume.isEmpty()) {
      consumer.resume(resume);
    }
  }

  /**
   * Starts a thread for each whose turn it is, and for the others when it comes. If no order is
   * asked for, they start in a random one: zones that work through a backlog in the same order meet
   * at every record, and each time one asks in vain.
   */
  private void start(List<Delivery> deliveries) {
    if (settings.input().ordering() == EngineSettings.Ordering.UNORDERED) {
      Collections.shuffle(deliveries);
    }
    for (Delivery delivery : deliveries) {
      delivery.whenItsTurn(() -> processing.begin(delivery));
    }
  }

  private Delivery deliver(ConsumerRecord<byte[], byte[]> record, Moment arrival) {
    TopicPartition id = new TopicPartition(record.topic(), record.partition());
    AssignedPartition partition = partitions.get(id);
    if (partition == null || !partition.isNext(record.offset())) {
      if (partition != null) {
        LOG.warn("{} was rewound to offset {}", id, record.offset());
        askTopicIds(); // it may be a topic made anew
        leave(partition);
      }
      partition = new AssignedPartition(id);
      partitions.put(id, partition);
      share();
    }
    Delivery delivery = sequencer.deliver(record, partition, arrival, tracing.begin(record));
    limit.arrive(partition.usage(), delivery.bytes());
    return delivery;
  }

  private Map<TopicPartition, OffsetAndMetadata> toCommit(Collection<TopicPartition> of) {
    Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
    for (TopicPartition id : of) {
      AssignedPartition partition = partitions.get(id);
      if (partition != null) {
        partition.toCommit().ifPresent(offset -> offsets.put(id, offset));
      }
    }
    return offsets;
  }

  private void commit() {
    lastCommit = time.now();
    Map<TopicPartition, OffsetAndMetadata> offsets = toCommit(partitions.keySet());
    if (offsets.isEmpty()) {
      return;
    }
    consumer.commitAsync(
        offsets,
        (_, fault) -> { // under the new group protocol, a failure comes without its offsets
          if (fault == null) {
            committed(offsets);
          } else {
            commitFailed(offsets, fault);
          }
        });
  }

  private void commitNow(Collection<TopicPartition> of, Duration atMost) {
    Map<TopicPartition, OffsetAndMetadata> offsets = toCommit(of);
    if (offsets.isEmpty()) {
      return;
    }
    try {
      consumer.commitSync(offsets, atMost);
      committed(offsets);
    } catch (WakeupException e) {
      stopping = true;
      commitNow(of, atMost);
    } catch (KafkaException e) {
      commitFailed(offsets, e);
    }
  }

  /** Is said once, until a commit succeeds. */
  private void commitFailed(Map<TopicPartition, OffsetAndMetadata> offsets, Exception fault) {
    listener.commitFailed();
    if (!commitsFail) {
      LOG.warn(
          "Could not commit {}: {}; tried again, and what is delivered again is skipped",
          offsets.keySet(),
          OneLine.of(fault));
    }
    commitsFail = true;
  }

  private void committed(Map<TopicPartition, OffsetAndMetadata> offsets) {
    commitsFail = false;
    offsets.forEach(
        (id, offset) -> {
          AssignedPartition partition = partitions.get(id);
          if (partition != null) {
            partition.committed(offset.offset());
          }
        });
  }

  @Override
  public void onPartitionsAssigned(Collection<TopicPartition> assigned) {
    askTopicIds();
    for (TopicPartition id : assigned) {
      partitions.put(id, new AssignedPartition(id));
    }
    if (paused != null) {
      consumer.pause(assigned); // this very poll might bring records of theirs
    }
    share();
    LOG.info("Assigned {}", assigned);
  }

  private void askTopicIds() {
    try {
      boolean _ = topicIds.ask();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void onPartitionsRevoked(Collection<TopicPartition> revoked) {
    commitNow(revoked, COMMIT_LIMIT);
    revoked.forEach(this::leave);
    LOG.info("Revoked {}", revoked);
  }

  @Override
  public void onPartitionsLost(Collection<TopicPartition> lost) {
    lost.forEach(this::leave);
    LOG.warn("Lost {}; nothing is committed for it", lost);
  }

  private void leave(TopicPartition id) {
    AssignedPartition partition = partitions.remove(id);
    if (partition != null) {
      leave(partition);
      share();
    }
  }

  /** What is in flight goes on under its lease; what waits ends. */
  private void leave(AssignedPartition partition) {
    partition.unassign();
    processing.leave(partition);
    gate.lookAgain();
  }

  private void startNothingMore() {
    partitions.values().forEach(AssignedPartition::unassign);
    processing.leaveAll();
    gate.lookAgain();
  }

  /** Starts nothing more, lets handlers finish, releases the rest, commits. */
  private void finish() {
    startNothingMore();
    if (!drained(settings.shutdownGrace())) {
      LOG.warn(
          "{} records are still in their handlers after {}: they are interrupted and released",
          limit.inFlight(),
          settings.shutdownGrace());
      processing.interruptAll();
      boolean _ = drained(LAST_RELEASES);
    }
    closeOutcomes.accept(LAST_OUTCOMES); // what nobody acknowledges by then is not committed
    commitNow(partitions.keySet(), LAST_COMMIT);
    LOG.info(
        "Stopped at {}",
        partitions.keySet().stream().map(Object::toString).collect(Collectors.joining(", ")));
  }

  /** Waits until no record is left; goes on polling, paused, so as to stay in the group. */
  private boolean drained(Duration atMost) {
    Moment start = time.now();
    while (!limit.isEmpty() && time.now().since(start).compareTo(atMost) < 0) {
      try {
        if (isMember) {
          consumer.pause(consumer.assignment());
          consumer.poll(LAST_POLL).forEach(record -> {});
        } else {
          LockSupport.parkNanos(this, LAST_POLL.toNanos());
        }
      } catch (KafkaException e) {
        LOG.debug("Polling failed while stopping", e);
      }
    }
    return limit.isEmpty();
  }
}
