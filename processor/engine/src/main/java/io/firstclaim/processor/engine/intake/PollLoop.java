package io.firstclaim.processor.engine.intake;

import io.firstclaim.lock.Moment;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.engine.admission.Admission;
import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.engine.api.LetterHeaders;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.StaleMemberEpochException;
import org.apache.kafka.common.errors.UnknownMemberIdException;
import org.apache.kafka.common.errors.UnreleasedInstanceIdException;
import org.apache.kafka.common.errors.WakeupException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one thread that owns the input consumer. It polls while there is room and the lock store
 * answers, starts a virtual thread for each record, and commits each partition up to its watermark.
 */
public final class PollLoop implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(PollLoop.class);
  private static final Duration POLL = Duration.ofMillis(100);
  private static final Duration WAIT_FOR_ROOM = Duration.ofMillis(50);

  /**
   * How long a poll waits while partitions are paused for lack of room, as they may have some soon.
   */
  private static final Duration SHORT_POLL = Duration.ofMillis(5);

  /** How soon another consumer joins where Kafka's has given itself up. */
  private static final Duration JOIN_AGAIN = Duration.ofSeconds(1);

  private static final Duration COMMIT_EVERY = Duration.ofSeconds(1);

  /** How soon a topic that was deleted and made anew is seen. */
  private static final Duration WATCH_EVERY = Duration.ofSeconds(5);

  private static final Duration LAST_POLL = Duration.ofMillis(20);

  /*
   * What follows the grace period, if Kafka or the store do not answer. With Instance.CLOSE_LIMIT
   * for each client and the default grace, all is over within the 30 s that Kubernetes allows.
   */
  private static final Duration LAST_RELEASES = Duration.ofSeconds(3);
  private static final Duration LAST_OUTCOMES = Duration.ofSeconds(2);
  private static final Duration LAST_COMMIT = Duration.ofSeconds(1);
  private static final Duration LEAVE_GROUP = Duration.ofSeconds(1);

  private final InputConsumer input;
  private final EngineSettings settings;
  private final Partitions partitions;
  private final Processing processing;
  private final Admission admission;
  private final Membership membership;
  private final TimeSource time;

  private Moment lastCommit;
  private Moment lastWatch;
  private volatile Moment lastPoll;
  private volatile long lag;
  private volatile boolean stopping;
  private volatile @Nullable String paused;
  private boolean isMember;

  /** When the loop is in its group. */
  public interface Membership {
    /** Whether records may be taken. */
    boolean mayJoin();

    /** Sends what is left to be said: what nobody acknowledges within this is not committed. */
    void finish(Duration limit);
  }

  /**
   * A loop that is not running yet.
   *
   * @param input owned and closed by the loop
   */
  public PollLoop(
      InputConsumer input,
      EngineSettings settings,
      Partitions partitions,
      Processing processing,
      Admission admission,
      Membership membership,
      TimeSource time) {
    this.input = input;
    this.settings = settings;
    this.partitions = partitions;
    this.processing = processing;
    this.admission = admission;
    this.membership = membership;
    this.time = time;
    this.lastCommit = time.now();
    this.lastWatch = lastCommit;
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
    input.wakeup();
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
      throw e;
    } finally {
      partitions.close();
      input.close(CloseOptions.timeout(LEAVE_GROUP));
    }
  }

  /**
   * Is in the group only while records may be taken: a member that takes none would keep its
   * partitions from the others.
   */
  private void joinOrLeave() {
    boolean may = membership.mayJoin();
    try {
      if (may && !isMember) {
        input.it().subscribe(settings.input().topics(), partitions);
      } else if (!may && isMember) {
        input.it().unsubscribe();
      }
      isMember = may;
    } catch (WakeupException e) {
      LOG.debug("Woken to stop");
    }
  }

  private void pollOnce() {
    try {
      partitions.followTopics();
      boolean open = admission.gate().isOpen() && paused == null;
      Set<TopicPartition> room = open ? partitions.room(WAIT_FOR_ROOM) : Set.of();
      partitions.pauseAllBut(room);
      ConsumerRecords<byte[], byte[]> records =
          input.it().poll(open && room.size() < partitions.ids().size() ? SHORT_POLL : POLL);
      lastPoll = time.now();
      start(
          partitions.take(
              records,
              lastPoll,
              record -> LetterHeaders.withOwnTime(record, settings.application())));
    } catch (WakeupException e) {
      LOG.debug("Woken to stop");
    } catch (RetriableException | UnknownMemberIdException | StaleMemberEpochException e) {
      // The latter two: its session ended while it asked for its offsets. It joins anew by itself.
      LOG.warn("Polling failed, trying again", e);
    } catch (GroupIdNotFoundException | UnreleasedInstanceIdException e) {
      joinAnew(e);
    }
    lag = partitions.lag();
    if (time.now().since(lastCommit).compareTo(COMMIT_EVERY) >= 0) {
      lastCommit = time.now();
      partitions.commit();
    }
    if (time.now().since(lastWatch).compareTo(WATCH_EVERY) >= 0) {
      lastWatch = time.now();
      partitions.watchTopics();
    }
  }

  /**
   * Kafka's consumer has given itself up, and for no reason that stays: a broker that has just
   * begun does not know the group yet (seen with Kafka 4.3.1, {@code group.protocol=consumer}), or
   * it still has the session of this static member from before. Another consumer joins.
   */
  private void joinAnew(ApiException given) {
    LOG.warn("Kafka's consumer has given itself up: another joins in its place", given);
    if (!partitions.ids().isEmpty()) {
      partitions.onPartitionsLost(Set.copyOf(partitions.ids()));
    }
    isMember = false;
    LockSupport.parkNanos(this, JOIN_AGAIN.toNanos());
    try {
      input.replace();
    } catch (KafkaException e) { // for example if the broker's name has no address now
      LOG.warn("Another consumer cannot be made, trying again", e);
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

  private void startNothingMore() {
    partitions.unassignAll();
    processing.leaveAll();
  }

  /** Starts nothing more, lets handlers finish, releases the rest, commits. */
  private void finish() {
    startNothingMore();
    if (!drained(settings.shutdownGrace())) {
      LOG.warn(
          "{} records are still in their handlers after {}: they are interrupted and released",
          admission.limit().inFlight(),
          settings.shutdownGrace());
      processing.interruptAll();
      if (!drained(LAST_RELEASES)) {
        LOG.warn(
            "{} records are not known to be released: others have them once their leases are over",
            admission.limit().inFlight());
      }
    }
    membership.finish(LAST_OUTCOMES); // what nobody acknowledges by then is not committed
    partitions.finish(LAST_COMMIT);
    LOG.info(
        "Stopped at {}",
        partitions.ids().stream().map(Object::toString).collect(Collectors.joining(", ")));
  }

  /** Waits until no record is left; goes on polling, paused, so as to stay in the group. */
  private boolean drained(Duration atMost) {
    Moment start = time.now();
    while (!admission.limit().isEmpty() && time.now().since(start).compareTo(atMost) < 0) {
      try {
        if (isMember) {
          input.it().pause(input.it().assignment());
          input.it().poll(LAST_POLL).forEach(record -> {});
        } else {
          LockSupport.parkNanos(this, LAST_POLL.toNanos());
        }
      } catch (KafkaException e) { // a consumer that has given itself up says so at once
        LOG.debug("Polling failed while stopping", e);
        LockSupport.parkNanos(this, LAST_POLL.toNanos());
      }
    }
    return admission.limit().isEmpty();
  }
}
