package io.firstclaim.processor.engine.outcome;

import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.engine.api.Outcome;
import io.firstclaim.processor.engine.api.OutcomeMessage;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.WakeupException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Learns from the outcomes topic what the other instances, of this zone and the others, have done:
 * which records are done, when a failed one is due, and which zones are alive. Reads every
 * partition from shortly before its own start; a thread of its own owns the consumer.
 */
public final class OutcomeFeed implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(OutcomeFeed.class);
  private static final Duration POLL = Duration.ofMillis(500);

  /** How often the broker is asked for the ends of all partitions, which shows that it answers. */
  private static final Duration ASK_EVERY = Duration.ofSeconds(2);

  private static final Duration ANSWER_WITHIN = Duration.ofSeconds(2);

  /** After this long without an answer, what is published may not be heard. */
  private static final Duration SILENT = Duration.ofSeconds(5);

  /**
   * How long the broker lets outcomes gather while there are few: a fetch for each would cost more
   * than all else.
   */
  private static final Duration GATHER = Duration.ofMillis(5);

  private static final int FEW = 100;

  private static final Duration PAUSE_AFTER_FAULT = Duration.ofSeconds(1);

  /** How much of the past to read at start, to learn what was announced while this was down. */
  private static final Duration LOOK_BACK = Duration.ofMinutes(2);

  private static final long LOOK_BACK_RECORDS = 5_000;

  /** How many zones are remembered: their names come from the topic, where anybody may write. */
  private static final int MAX_ZONES = 1_000;

  /** Longer than the name of any zone. */
  private static final int MAX_ZONE_NAME = 64;

  /** Hears outcomes. Must not block. */
  @FunctionalInterface
  public interface OutcomeListener {
    /** A record with this ID and payload had this outcome. */
    void heard(RecordId id, Fingerprint fingerprint, Outcome outcome);
  }

  private final Consumer<byte[], byte[]> consumer;
  private final String topic;
  private final Origin origin;
  private final StoreAgreement agreement;
  private final ReadBack readBack = new ReadBack();
  private final KnownDone known;
  private final OutcomeListener listener;
  private final TimeSource time;
  private final Map<String, Instant> lastSign = new ConcurrentHashMap<>();
  private final CountDownLatch caughtUp = new CountDownLatch(1);
  private final Thread thread;
  private volatile boolean closed;
  private volatile @Nullable Moment lastAnswer;
  private @Nullable Moment lastQuestion;

  /** From where on outcomes are learnt in the partition of the presences, before the start. */
  private long outcomesFrom;

  /** After the last message that was heard in that partition for the first time. */
  private long heardTo;

  /** Before this offset, that partition is read once more after a fault. */
  private long onceMoreTo;

  private boolean isSilent;

  /**
   * A feed that is not running yet.
   *
   * @param consumer without a group; owned and closed by the feed
   * @param origin whose outcomes are passed over, as they are known already; so are those of
   *     another namespace or store
   * @param agreement is told of every presence
   * @param known is told of every record that ended
   * @param listener is told of every outcome
   */
  public OutcomeFeed(
      Consumer<byte[], byte[]> consumer,
      String topic,
      Origin origin,
      StoreAgreement agreement,
      KnownDone known,
      OutcomeListener listener,
      TimeSource time) {
    this.consumer = consumer;
    this.topic = topic;
    this.origin = origin;
    this.agreement = agreement;
    this.known = known;
    this.listener = listener;
    this.time = time;
    this.thread = Thread.ofPlatform().name("firstclaim-outcomes").daemon().unstarted(this::run);
  }

  /** Starts to read; returns once the recent past is known, or after the limit. */
  public void start(Duration limit) throws InterruptedException {
    thread.start();
    if (!caughtUp.await(limit.toMillis(), TimeUnit.MILLISECONDS)) {
      LOG.warn("Topic {} was not read to its end within {}; going on without it", topic, limit);
    }
  }

  /** Whether what is published is heard at once. If not, the lock store must be asked. */
  public boolean isLive() {
    Moment last = lastAnswer;
    return last != null && time.now().since(last).compareTo(SILENT) < 0;
  }

  /** When this zone last published an outcome, as far as known. */
  public @Nullable Instant lastSignOf(String zone) {
    return lastSign.get(zone);
  }

  private void run() {
    while (!closed) {
      try {
        read();
      } catch (WakeupException e) {
        // close() has woken this thread to look at closed
      } catch (RuntimeException | Error e) { // whatever it is, the feed goes on
        restAfter(e);
      }
    }
    consumer.close();
  }

  private void read() {
    List<TopicPartition> partitions = partitions();
    if (partitions.isEmpty()) {
      throw new KafkaException("topic %s is not there".formatted(topic));
    }
    consumer.assign(partitions);
    Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
    answered();
    boolean isMadeAnew = ends.getOrDefault(presences(), 0L) < heardTo;
    onceMoreTo = caughtUp.getCount() > 0 || isMadeAnew ? 0 : heardTo;
    seekToRecentPast(partitions, ends);
    while (!closed) {
      ask();
      // This comes before the poll, which waits if there is nothing to read.
      if (caughtUp.getCount() > 0 && isReadUp(ends) && !readsFurtherBack()) {
        caughtUp.countDown();
      }
      ConsumerRecords<byte[], byte[]> records = consumer.poll(POLL);
      records.forEach(this::hear);
      if (caughtUp.getCount() == 0 && !records.isEmpty() && records.count() < FEW) {
        LockSupport.parkNanos(this, GATHER.toNanos());
      }
    }
  }

  private boolean isReadUp(Map<TopicPartition, Long> ends) {
    return ends.entrySet().stream()
        .allMatch(end -> consumer.position(end.getKey()) >= end.getValue());
  }

  private boolean readsFurtherBack() {
    OptionalLong further = readBack.further();
    further.ifPresent(offset -> consumer.seek(presences(), offset));
    return further.isPresent();
  }

  private TopicPartition presences() {
    return new TopicPartition(topic, PresenceBeat.PARTITION);
  }

  private List<TopicPartition> partitions() {
    return consumer.partitionsFor(topic).stream()
        .map(info -> new TopicPartition(info.topic(), info.partition()))
        .toList();
  }

  /**
   * Now and then makes every partition's broker answer, as a poll returns without records whether
   * or not there is a broker; and takes in partitions that were added, from their beginning.
   */
  private void ask() {
    Moment last = lastQuestion;
    if (last != null && time.now().since(last).compareTo(ASK_EVERY) < 0) {
      return;
    }
    lastQuestion = time.now();
    try {
      Set<TopicPartition> assigned = consumer.assignment();
      List<TopicPartition> partitions = partitions();
      if (partitions.isEmpty()) {
        silent("it is not there");
        return;
      }
      List<TopicPartition> added =
          partitions.stream().filter(each -> !assigned.contains(each)).toList();
      if (!added.isEmpty()) {
        LOG.info("Topic {} has new partitions: {}", topic, added);
        consumer.assign(partitions);
        consumer.seekToBeginning(added);
      }
      Map<TopicPartition, Long> _ = consumer.endOffsets(partitions, ANSWER_WITHIN);
      answered();
    } catch (TimeoutException e) {
      silent(OneLine.of(e));
    }
  }

  private void silent(String why) {
    if (!isSilent) {
      isSilent = true;
      LOG.warn("Topic {} does not answer; the lock store is asked instead: {}", topic, why);
    }
  }

  private void answered() {
    lastAnswer = time.now();
    if (isSilent) {
      isSilent = false;
      LOG.info("Topic {} answers again", topic);
    }
  }

  private void seekToRecentPast(List<TopicPartition> partitions, Map<TopicPartition, Long> ends) {
    Instant lately = time.now().wall().minus(LOOK_BACK);
    known.startAt(lately);
    Map<TopicPartition, Long> times = new HashMap<>();
    partitions.forEach(partition -> times.put(partition, lately.toEpochMilli()));
    Map<TopicPartition, Long> begins = consumer.beginningOffsets(partitions);
    TopicPartition presences = presences();
    long presencesFrom =
        readBack.start(begins.getOrDefault(presences, 0L), ends.getOrDefault(presences, 0L));
    consumer
        .offsetsForTimes(times)
        .forEach(
            (partition, found) -> {
              long end = ends.getOrDefault(partition, 0L);
              long start = found == null ? end : found.offset();
              long least = Math.max(begins.getOrDefault(partition, 0L), end - LOOK_BACK_RECORDS);
              if (start < least) {
                // There is more than is read back; what came before is simply not known.
                known.startAt(time.now().wall());
              }
              long from = Math.max(start, least);
              if (partition.equals(presences)) {
                outcomesFrom = from;
                consumer.seek(partition, Math.min(from, presencesFrom));
              } else {
                consumer.seek(partition, from);
              }
            });
  }

  /** One message that cannot be taken in, by a defect, keeps nobody from hearing the others. */
  private void hear(ConsumerRecord<byte[], byte[]> message) {
    try {
      learn(message);
    } catch (RuntimeException | Error e) {
      LOG.error(
          "What topic {} has in partition {} at offset {} could not be taken in",
          topic,
          message.partition(),
          message.offset(),
          e);
    }
  }

  private void learn(ConsumerRecord<byte[], byte[]> message) {
    boolean once = isHeardForTheFirstTime(message);
    if (Origin.value(message.headers(), Presence.HEADER) != null) {
      if (!Origin.isPlausible(message.headers())) {
        return;
      }
      if (caughtUp.getCount() > 0) {
        readBack.heard(message);
      }
      if (once) { // or it would bring those back that have gone since
        agreement.heard(message);
      }
      return;
    }
    if (caughtUp.getCount() > 0 && message.partition() == PresenceBeat.PARTITION) {
      if (message.offset() < outcomesFrom) {
        return; // this part is read for the presences alone, or once more
      }
      outcomesFrom = message.offset() + 1;
    }
    if (!origin.isSenderOf(message.headers()) && origin.seesClaimsOf(message.headers())) {
      OutcomeMessage.read(message.key(), message.value(), message.headers()).ifPresent(this::learn);
    }
  }

  /** False if it was heard before the fault after which it is read once more. */
  private boolean isHeardForTheFirstTime(ConsumerRecord<byte[], byte[]> message) {
    if (message.partition() != PresenceBeat.PARTITION) {
      return true;
    }
    if (message.offset() < onceMoreTo) {
      return false;
    }
    onceMoreTo = 0;
    heardTo = message.offset() + 1;
    return true;
  }

  private void learn(OutcomeMessage message) {
    Outcome outcome = message.outcome();
    sign(outcome.zone(), outcome.at());
    switch (outcome.kind()) {
      case COMPLETED, DEAD, MISMATCH ->
          known.add(message.id(), message.payload(), outcome.token(), outcome.at());
      case FAILED, TAKEN_OVER, LEASE_LOST, BLOCKED -> {}
    }
    listener.heard(message.id(), message.payload(), outcome);
  }

  /** A sign of life that is dated ahead is from now: else it would keep its zone alive for ever. */
  private void sign(String zone, Instant dated) {
    Instant now = time.now().wall();
    Instant at = dated.isAfter(now) ? now : dated;
    if (zone.length() <= MAX_ZONE_NAME
        && (lastSign.size() < MAX_ZONES || lastSign.containsKey(zone))) {
      lastSign.merge(zone, at, (a, b) -> a.isAfter(b) ? a : b);
    }
  }

  private void restAfter(Throwable fault) {
    try {
      LOG.warn("Topic {} cannot be read; the lock store is asked instead", topic, fault);
      time.sleep(PAUSE_AFTER_FAULT);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      closed = true;
    } catch (RuntimeException | Error e) {
      // Nothing could be logged, or the TimeSource's own sleep has failed.
      LockSupport.parkNanos(this, PAUSE_AFTER_FAULT.toNanos());
    }
  }

  @Override
  public void close() {
    closed = true;
    consumer.wakeup();
    try {
      thread.join(PAUSE_AFTER_FAULT);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
