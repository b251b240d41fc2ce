package io.firstclaim.processor.engine.outcome;

import static io.firstclaim.processor.engine.testing.Eventually.eventually;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.engine.Engine;
import io.firstclaim.processor.engine.api.Outcome;
import io.firstclaim.processor.engine.testing.TestTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class OutcomeFeedTest {
  private static final String TOPIC = "outcomes";
  private static final Origin ORIGIN = new Origin("firstclaim", "shop", "store-1", "me");
  private static final Fingerprint PAYLOAD = Fingerprint.of(new byte[] {1});

  private final TestTime time = TestTime.standing();
  private final Log log = new Log(2);
  private final KnownDone known = new KnownDone(100, 1 << 20, Duration.ofDays(8), time);
  private final List<Outcome> heard = new CopyOnWriteArrayList<>();
  private final StoreAgreement agreement =
      new StoreAgreement(
          Engine.builder()
              .zone("a")
              .topics("in")
              .recordId("key")
              .namespace("shop")
              .bootstrapServers("unused:9092")
              .settings(),
          ORIGIN,
          "store-1");
  private OutcomeFeed feed = feed(time);

  private OutcomeFeed feed(TimeSource time) {
    return new OutcomeFeed(
        log,
        TOPIC,
        ORIGIN,
        agreement,
        known,
        (id, payload, outcome) -> {
          switch (outcome.id()) {
            case "defective" -> throw new IllegalStateException("a defect");
            case "of no class" -> throw new NoClassDefFoundError("a defect");
            default -> {}
          }
          assertThat(payload).isEqualTo(PAYLOAD);
          assertThat(id.text()).isEqualTo(outcome.id());
          heard.add(outcome);
        },
        time);
  }

  /** What another says of itself, in partition 0. */
  private void announce(String sender, String store, long beat, Instant at) {
    Presence presence =
        new Presence(
            Presence.Kind.PRESENT, "b", sender, "shop-b", List.of("in"), beat, 0, Map.of());
    log.append(
        0,
        at,
        sender.getBytes(UTF_8),
        presence.json(at),
        headers("shop", store, sender)
            .add("firstclaim-application", "firstclaim".getBytes(UTF_8))
            .add("firstclaim-presence", new byte[] {1}));
  }

  /** Whatever the clocks: here all others' are an hour behind. */
  @Test
  void everyLivingInstance_isHeardBeforeTheStart_whateverTheClocks() throws Exception {
    Instant their = ago(Duration.ofHours(1));
    announce("other", "store-2", 1, their);
    append(0, "order-1", Outcome.Kind.COMPLETED, their);

    feed.start(Duration.ofMinutes(5));

    assertThat(agreement.otherStores()).isEqualTo(1);
  }

  @Test
  void announcements_areReadBack_untilOneSendersAreEnoughToHearOfEverybody() throws Exception {
    Instant now = time.now().wall();
    announce("old", "store-3", 1, now);
    for (int i = 0; i < 3 * ReadBack.FIRST; i++) {
      append(0, "order-" + i, Outcome.Kind.FAILED, now);
    }
    announce("other", "store-2", 1, now);
    for (int beat = 1; beat <= StoreAgreement.SILENT + 1; beat++) {
      announce("lively", "store-1", beat, now);
      for (int i = 0; i < ReadBack.FIRST / 4; i++) {
        append(0, "order-" + i, Outcome.Kind.FAILED, now);
      }
    }

    feed.start(Duration.ofMinutes(5));

    assertThat(agreement.otherStores()).as("not the old one's").isEqualTo(1);
    assertThat(log.soughtFrom.get(new TopicPartition(TOPIC, 0))).isPositive();
  }

  @AfterEach
  void close() {
    feed.close();
  }

  /** A topic of some messages, and its reader. */
  private static final class Log extends MockConsumer<byte[], byte[]> {
    private final List<List<ConsumerRecord<byte[], byte[]>>> partitions = new ArrayList<>();
    final AtomicInteger polls = new AtomicInteger();
    final Map<TopicPartition, Long> soughtFrom = new HashMap<>();
    volatile boolean there = true;
    volatile boolean waits;
    volatile boolean answers = true;
    final AtomicReference<@Nullable Error> nextPoll = new AtomicReference<>();
    private int delivered;

    Log(int count) {
      super("latest");
      List<PartitionInfo> infos = new ArrayList<>();
      for (int p = 0; p < count; p++) {
        partitions.add(new ArrayList<>());
        infos.add(new PartitionInfo(TOPIC, p, Node.noNode(), new Node[0], new Node[0]));
        updateBeginningOffsets(Map.of(new TopicPartition(TOPIC, p), 0L));
      }
      updatePartitions(TOPIC, infos);
    }

    synchronized void addPartition() {
      int p = partitions.size();
      partitions.add(new ArrayList<>());
      List<PartitionInfo> infos = new ArrayList<>(super.partitionsFor(TOPIC));
      infos.add(new PartitionInfo(TOPIC, p, Node.noNode(), new Node[0], new Node[0]));
      updateBeginningOffsets(Map.of(new TopicPartition(TOPIC, p), 0L));
      updatePartitions(TOPIC, infos);
    }

    synchronized void makeAnew() {
      partitions.forEach(List::clear);
    }

    /** Adds a message, before the reader comes or after. */
    synchronized void append(
        int partition, Instant at, byte[] key, byte @Nullable [] value, Headers headers) {
      List<ConsumerRecord<byte[], byte[]>> of = partitions.get(partition);
      @SuppressWarnings("NullAway") // the value of a Kafka record may be null
      ConsumerRecord<byte[], byte[]> message =
          new ConsumerRecord<>(
              TOPIC,
              partition,
              of.size(),
              at.toEpochMilli(),
              TimestampType.CREATE_TIME,
              0,
              0,
              key,
              value,
              headers,
              Optional.empty());
      of.add(message);
    }

    @Override
    public synchronized List<PartitionInfo> partitionsFor(String topic) {
      return there ? super.partitionsFor(topic) : List.of();
    }

    @Override
    public synchronized Map<TopicPartition, Long> endOffsets(Collection<TopicPartition> of) {
      if (!answers) {
        throw new TimeoutException("no broker");
      }
      Map<TopicPartition, Long> ends = new HashMap<>();
      of.forEach(id -> ends.put(id, (long) partitions.get(id.partition()).size()));
      return ends;
    }

    @Override
    public synchronized Map<TopicPartition, OffsetAndTimestamp> offsetsForTimes(
        Map<TopicPartition, Long> times) {
      Map<TopicPartition, OffsetAndTimestamp> found = new HashMap<>();
      times.forEach(
          (id, from) ->
              found.put(
                  id,
                  partitions.get(id.partition()).stream()
                      .filter(message -> message.timestamp() >= from)
                      .findFirst()
                      .map(message -> new OffsetAndTimestamp(message.offset(), from))
                      .orElse(null)));
      return found;
    }

    @Override
    public synchronized void seek(TopicPartition id, long offset) {
      super.seek(id, offset);
      soughtFrom.put(id, offset);
    }

    @Override
    @SuppressWarnings("UnsynchronizedOverridesSynchronized") // it waits without the lock
    public ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
      polls.incrementAndGet();
      while (waits) {
        LockSupport.parkNanos(1_000_000);
      }
      Error error = nextPoll.getAndSet(null);
      if (error != null) {
        throw error;
      }
      feedMore();
      ConsumerRecords<byte[], byte[]> records = super.poll(timeout);
      if (records.isEmpty()) {
        LockSupport.parkNanos(1_000_000);
      }
      return records;
    }

    private synchronized void feedMore() {
      for (TopicPartition id : assignment()) {
        List<ConsumerRecord<byte[], byte[]>> of = partitions.get(id.partition());
        long position = position(id);
        if (position < of.size()) {
          addRecord(of.get((int) position));
          delivered++;
        }
      }
    }

    synchronized int delivered() {
      return delivered;
    }
  }

  private static Headers headers(String namespace, String sender) {
    return headers(namespace, "store-1", sender);
  }

  private static Headers headers(String namespace, String store, String sender) {
    return new RecordHeaders()
        .add("firstclaim-namespace", namespace.getBytes(UTF_8))
        .add("firstclaim-store", store.getBytes(UTF_8))
        .add("firstclaim-sender", sender.getBytes(UTF_8))
        .add("firstclaim-fingerprint", PAYLOAD.hash());
  }

  private Outcome outcome(String id, Outcome.Kind kind, String zone, Instant at) {
    return new Outcome(
        id, kind, zone, "1", 1, 1, "in", 0, 0, at, Duration.ZERO, null, at, List.of());
  }

  private void append(int partition, String id, Outcome.Kind kind, Instant at) {
    append(partition, id, kind, "b", at, headers("shop", "other"));
  }

  private void append(
      int partition, String id, Outcome.Kind kind, String zone, Instant at, Headers headers) {
    log.append(partition, at, id.getBytes(UTF_8), outcome(id, kind, zone, at).json(), headers);
  }

  private Instant ago(Duration duration) {
    return time.now().wall().minus(duration);
  }

  private boolean knows(String id) {
    return known.contains(RecordId.of(id), PAYLOAD);
  }

  private List<String> heardIds() {
    return heard.stream().map(Outcome::id).toList();
  }

  private void start() throws InterruptedException {
    feed.start(Duration.ofMinutes(5));
  }

  @Test
  void start_returnsWhenTheRecentPastIsKnown_andWhatIsOlderIsNotRead() throws InterruptedException {
    append(0, "old", Outcome.Kind.COMPLETED, ago(Duration.ofMinutes(3)));
    append(0, "recent", Outcome.Kind.COMPLETED, ago(Duration.ofMinutes(1)));
    append(1, "just now", Outcome.Kind.DEAD, ago(Duration.ZERO));

    start();

    assertThat(knows("recent")).isTrue();
    assertThat(knows("just now")).isTrue();
    assertThat(knows("old")).isFalse();
    assertThat(known.horizon()).isEqualTo(ago(Duration.ofMinutes(2)));
    assertThat(feed.isLive()).isTrue();
  }

  @Test
  void nothingToRead_isKnownBeforeTheFirstPoll_whichWouldWait() {
    log.waits = true;
    FutureTask<Boolean> live =
        new FutureTask<>(
            () -> {
              feed.start(Duration.ofHours(1)); // longer than it is awaited
              return feed.isLive();
            });
    Thread _ = Thread.ofVirtual().start(live);
    try {
      assertThat(live).succeedsWithin(Duration.ofMinutes(5)).isEqualTo(true);
    } finally {
      log.waits = false;
    }
  }

  @Test
  void whatIsPublishedLater_isHeard() throws InterruptedException {
    start();

    append(1, "order-1", Outcome.Kind.COMPLETED, ago(Duration.ZERO));

    eventually(() -> heardIds().equals(List.of("order-1")));
    assertThat(knows("order-1")).isTrue();
  }

  @Test
  void onlyEnds_makeARecordKnown_butAllOutcomesAreHeard() throws InterruptedException {
    for (Outcome.Kind kind : Outcome.Kind.values()) {
      append(0, kind.name(), kind, ago(Duration.ZERO));
    }

    start();

    eventually(() -> heard.size() == Outcome.Kind.values().length);
    assertThat(heard.stream().filter(outcome -> knows(outcome.id())).map(Outcome::kind))
        .containsExactlyInAnyOrder(
            Outcome.Kind.COMPLETED, Outcome.Kind.DEAD, Outcome.Kind.MISMATCH);
  }

  @Test
  void moreThanIsReadBack_isSkipped_andTheHorizonSaysSo() throws InterruptedException {
    for (int i = 0; i < 5_100; i++) {
      append(1, "order-" + i, Outcome.Kind.FAILED, ago(Duration.ofSeconds(60)));
    }

    start();

    assertThat(log.delivered()).isEqualTo(5_000);
    assertThat(heardIds()).startsWith("order-100").endsWith("order-5099");
    assertThat(known.horizon()).isEqualTo(time.now().wall());
  }

  @Test
  void ownOutcomes_andThoseOfOtherApplications_arePassedOver() throws InterruptedException {
    append(0, "mine", Outcome.Kind.COMPLETED, "a", ago(Duration.ZERO), headers("shop", "me"));
    append(0, "foreign", Outcome.Kind.COMPLETED, "b", ago(Duration.ZERO), headers("bank", "x"));
    append(0, "bare", Outcome.Kind.COMPLETED, "b", ago(Duration.ZERO), new RecordHeaders());
    append(0, "order-1", Outcome.Kind.COMPLETED, ago(Duration.ZERO));

    start();

    assertThat(heardIds()).containsExactly("order-1");
    assertThat(knows("mine") || knows("foreign") || knows("bare")).isFalse();
  }

  @Test
  void outcomesOfAnotherStore_andThoseWithoutOne_sayNothing() throws InterruptedException {
    Headers none = headers("shop", "other").remove("firstclaim-store");
    Headers another = headers("shop", "store-2", "other");
    append(0, "another", Outcome.Kind.COMPLETED, "b", ago(Duration.ZERO), another);
    append(0, "none", Outcome.Kind.COMPLETED, "b", ago(Duration.ZERO), none);
    append(0, "order-1", Outcome.Kind.COMPLETED, ago(Duration.ZERO));

    start();

    assertThat(heardIds()).containsExactly("order-1");
    assertThat(knows("another") || knows("none")).isFalse();
  }

  @Test
  void deadBroker_isNotLive_thoughPollingGoesOn() throws InterruptedException {
    start();
    eventually(feed::isLive);
    log.answers = false;
    pass(Duration.ofSeconds(10));
    assertThat(feed.isLive()).isFalse();

    log.answers = true;
    pass(Duration.ofSeconds(3));
    assertThat(feed.isLive()).isTrue();
  }

  @Test
  void partitionAddedLater_isReadFromItsBeginning() throws InterruptedException {
    start();
    log.addPartition();
    append(2, "order-1", Outcome.Kind.COMPLETED, ago(Duration.ZERO));

    eventually(
        () -> {
          time.advance(Duration.ofMillis(100));
          return knows("order-1");
        });

    append(1, "order-2", Outcome.Kind.COMPLETED, ago(Duration.ZERO));
    eventually(() -> knows("order-2"));
  }

  @Test
  void presenceOfTheOthers_isReadHoweverManyRecordsCameSince() throws InterruptedException {
    announce("other", "store-2", 1, ago(Duration.ofSeconds(19)));
    for (int i = 0; i < 5_100; i++) {
      append(0, "order-" + i, Outcome.Kind.FAILED, ago(Duration.ofSeconds(10)));
    }

    start();

    assertThat(agreement.otherStores()).isEqualTo(1);
    assertThat(heardIds()).as("once each").startsWith("order-100").endsWith("order-5099");
    assertThat(heard).hasSize(5_000);
  }

  @Test
  @SuppressWarnings("NullAway") // a message's key may be null
  void garbage_isPassedOver() throws InterruptedException {
    byte[] good = outcome("x", Outcome.Kind.COMPLETED, "b", ago(Duration.ZERO)).json();
    Instant now = time.now().wall();
    log.append(0, now, null, good, headers("shop", "other"));
    log.append(0, now, new byte[0], good, headers("shop", "other"));
    log.append(0, now, new byte[1025], good, headers("shop", "other"));
    log.append(0, now, new byte[] {'x'}, null, headers("shop", "other"));
    log.append(0, now, new byte[] {'x'}, new byte[] {1, 2, 3}, headers("shop", "other"));
    Headers odd = headers("shop", "other");
    odd.add("firstclaim-fingerprint", new byte[] {1});
    log.append(0, now, new byte[] {'x'}, good, odd);
    append(0, "order-1", Outcome.Kind.COMPLETED, now);

    start();

    assertThat(heardIds()).containsExactly("order-1");
  }

  @Test
  void zones_giveSignsOfLife_theLatestCounts() throws InterruptedException {
    Instant now = time.now().wall();
    append(0, "order-1", Outcome.Kind.FAILED, "b", now, headers("shop", "other"));
    append(0, "order-2", Outcome.Kind.FAILED, "b", now.minusSeconds(9), headers("shop", "other"));

    start();

    assertThat(feed.lastSignOf("b")).isEqualTo(now);
    assertThat(feed.lastSignOf("c")).isNull();
  }

  @Test
  void outcomeThatIsDatedAhead_isASignOfLifeFromNow_andNotFromThen() throws InterruptedException {
    Instant ahead = time.now().wall().plus(Duration.ofHours(1));
    append(0, "order-1", Outcome.Kind.FAILED, "b", ahead, headers("shop", "other"));

    start();

    assertThat(feed.lastSignOf("b")).isBeforeOrEqualTo(time.now().wall());
  }

  @Test
  void zonesThatSomebodyMakesUp_takeBoundedMemory() throws InterruptedException {
    Instant now = time.now().wall();
    append(0, "order-1", Outcome.Kind.FAILED, "b", now.minusSeconds(1), headers("shop", "other"));
    for (int i = 0; i < 2_000; i++) {
      append(0, "order-1", Outcome.Kind.FAILED, "made-up-" + i, now, headers("shop", "other"));
    }
    append(0, "last", Outcome.Kind.FAILED, "b", now, headers("shop", "other"));

    start();

    assertThat(feed.lastSignOf("made-up-1999")).isNull();
    assertThat(feed.lastSignOf("b")).isEqualTo(now);
  }

  @Test
  void namesThatNoInstanceHas_areNotRemembered() throws InterruptedException {
    Instant now = time.now().wall();
    String long65 = "z".repeat(65);
    append(0, "order-1", Outcome.Kind.FAILED, long65, now, headers("shop", "other"));
    announce("s".repeat(5_000), "store-2", 1, now);
    append(0, "order-2", Outcome.Kind.FAILED, "b", now, headers("shop", "other"));

    start();

    assertThat(feed.lastSignOf(long65)).isNull();
    assertThat(agreement.otherStores()).isZero();
    assertThat(heardIds()).containsExactly("order-1", "order-2");
  }

  @Test
  void feedThatHangs_isNotLive_byTheMonotonicClock() throws InterruptedException {
    start();
    eventually(feed::isLive);
    log.there = false;
    log.setPollException(new TimeoutException("no broker"));
    int polls = log.polls.get();
    time.setWall(Duration.ofHours(-1));

    eventually(
        () -> {
          time.advance(Duration.ofSeconds(1));
          return !feed.isLive();
        });

    assertThat(log.polls.get() - polls).isLessThanOrEqualTo(2);
  }

  @Test
  void faultOfTheBroker_endsNothing() throws InterruptedException {
    start();
    log.setPollException(new KafkaException("for a moment"));
    append(0, "order-1", Outcome.Kind.COMPLETED, ago(Duration.ZERO));

    eventually(() -> knows("order-1"));
  }

  @Test
  void whatIsReadOnceMore_afterAFault_bringsNobodyBackWhoIsGone() throws InterruptedException {
    Instant now = time.now().wall();
    announce("gone", "store-2", 1, now);
    for (int beat = 1; beat <= StoreAgreement.SILENT + 2; beat++) {
      announce("me", "store-1", beat, now);
    }
    start();
    assertThat(agreement.isReached()).isTrue();

    for (int fault = 1; fault <= 2; fault++) {
      int before = log.delivered();
      log.setPollException(new KafkaException("for a moment"));
      eventually(() -> log.delivered() == before + 1 + StoreAgreement.SILENT + 2);
      int polls = log.polls.get();
      eventually(() -> log.polls.get() > polls); // or the next fault may meet this one's poll
    }
    append(0, "order-1", Outcome.Kind.COMPLETED, now);
    eventually(() -> knows("order-1"));

    assertThat(agreement.isReached()).isTrue();
    assertThat(agreement.otherStores()).isZero();
    announce("new", "store-2", 1, now);
    eventually(() -> agreement.otherStores() == 1);
  }

  @Test
  void presencesOfATopicMadeAnew_areHeard_thoughTheirOffsetsAreThoseOfTheOldOne()
      throws InterruptedException {
    Instant now = time.now().wall();
    for (int beat = 1; beat <= 20; beat++) {
      announce("me", "store-1", beat, now);
    }
    start();

    log.makeAnew();
    log.setPollException(new KafkaException("for a moment"));
    announce("other", "store-2", 1, now);

    eventually(() -> agreement.otherStores() == 1);
  }

  /** Kafka's consumer has no exception of its own for that. */
  @Test
  void errorOfTheMachine_endsNothing() throws InterruptedException {
    start();
    log.nextPoll.set(new LinkageError("for a moment"));
    append(0, "order-1", Outcome.Kind.COMPLETED, ago(Duration.ZERO));

    eventually(() -> knows("order-1"));
  }

  @Test
  void feedThatCannotEvenPause_goesOn() throws InterruptedException {
    AtomicInteger sleeps = new AtomicInteger();
    TimeSource odd =
        time.sleepingBy(
            _ -> {
              sleeps.incrementAndGet();
              throw new IllegalStateException("a defect");
            });
    feed = feed(odd);
    start();
    log.setPollException(new KafkaException("for a moment"));
    eventually(() -> sleeps.get() > 0);
    append(0, "order-1", Outcome.Kind.COMPLETED, ago(Duration.ZERO));

    eventually(() -> knows("order-1"));
  }

  @Test
  void topicThatIsNotThereYet_isReadOnceItIs() throws InterruptedException {
    log.there = false;
    append(0, "order-1", Outcome.Kind.COMPLETED, ago(Duration.ZERO));
    feed.start(Duration.ofMillis(1));
    assertThat(feed.isLive()).isFalse();

    log.there = true;

    eventually(() -> knows("order-1"));
  }

  @Test
  void messageWhoseListenerFails_isPassedOver_andTheRestIsHeard() throws InterruptedException {
    append(0, "defective", Outcome.Kind.COMPLETED, ago(Duration.ZERO));
    append(0, "of no class", Outcome.Kind.COMPLETED, ago(Duration.ZERO));
    append(0, "order-1", Outcome.Kind.COMPLETED, ago(Duration.ZERO));

    start();

    assertThat(heardIds()).containsExactly("order-1");
    assertThat(feed.isLive()).isTrue();
  }

  @Test
  void topicThatIsGone_isNotLive_untilItIsThereAgain() throws InterruptedException {
    start();
    log.there = false;
    pass(Duration.ofSeconds(10));
    assertThat(feed.isLive()).isFalse();

    log.there = true;
    pass(Duration.ofSeconds(3));

    assertThat(feed.isLive()).isTrue();
  }

  /** Time passes, and the feed goes by it. */
  private void pass(Duration time) {
    for (int second = 0; second < time.toSeconds(); second++) {
      this.time.advance(Duration.ofSeconds(1));
      int polls = log.polls.get();
      eventually(() -> log.polls.get() > polls + 1);
    }
  }

  @Test
  void close_closesTheConsumer() throws InterruptedException {
    start();

    feed.close();

    eventually(log::closed); // it is waited for for a second
  }
}
