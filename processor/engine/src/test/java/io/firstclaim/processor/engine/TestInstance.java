package io.firstclaim.processor.engine;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.lock.testkit.fault.FaultyStore;
import io.firstclaim.processor.engine.admission.InFlightLimit;
import io.firstclaim.processor.engine.admission.StoreGate;
import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.engine.api.EngineState;
import io.firstclaim.processor.engine.api.HeldRecord;
import io.firstclaim.processor.engine.api.Outcome;
import io.firstclaim.processor.engine.api.Page;
import io.firstclaim.processor.engine.api.ParkedRecord;
import io.firstclaim.processor.engine.api.WaitsFor;
import io.firstclaim.processor.engine.handler.HandlerThreads;
import io.firstclaim.processor.engine.intake.AssignedPartition;
import io.firstclaim.processor.engine.intake.Delivery;
import io.firstclaim.processor.engine.intake.Partitions;
import io.firstclaim.processor.engine.intake.PollLoop;
import io.firstclaim.processor.engine.kafka.Clients;
import io.firstclaim.processor.engine.outcome.KnownDone;
import io.firstclaim.processor.engine.testing.TestRecords;
import io.firstclaim.processor.engine.trace.Trace;
import io.firstclaim.processor.engine.trace.Tracing;
import io.firstclaim.processor.handler.RecordHandler;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * One instance of a zone, as {@link Parts} wires it. Its Kafka clients are the {@link
 * TestBroker}'s; the test delivers the records, or has the poll loop take them in.
 */
final class TestInstance implements AutoCloseable {
  final FaultyStore store;
  final TestListener listener = new TestListener();
  final AtomicReference<@Nullable Throwable> defect = new AtomicReference<>();

  final InFlightLimit limit;
  final StoreGate gate;
  final PollLoop loop;
  final KnownDone known;

  /** Of the deliveries to come. */
  Trace trace = Trace.NONE;

  private final Parts parts;
  private final TimeSource time;
  private final Instance instance;
  private final List<AssignedPartition> partitions = new ArrayList<>();

  TestInstance(
      String zone,
      TestSettings test,
      RecordHandler handler,
      MemoryClaimStore.Claims claims,
      Clients clients,
      TimeSource time)
      throws InterruptedException {
    EngineSettings settings = test.of(zone);
    this.time = time;
    store = new FaultyStore(new MemoryClaimStore(claims, settings.claim().store(), time));
    parts =
        Parts.of(
            settings,
            new Parts.Surroundings(
                clients, store, new HandlerThreads(handler), listener, Tracing.OFF, time));
    limit = parts.admission().limit();
    gate = parts.admission().gate();
    loop = parts.loop();
    known = parts.outcomes().known();
    instance = new Instance(parts, defect::set);
    instance.listen();
  }

  EngineState.Running state() {
    return instance.state();
  }

  void pause(String reason) {
    instance.pause(reason);
  }

  void resume() {
    instance.resume();
  }

  Page<HeldRecord> held(int limit, @Nullable String after) {
    return instance.held(limit, after);
  }

  Page<ParkedRecord> parked(int limit, @Nullable String after) {
    return instance.parked(limit, after);
  }

  /** The records that are parked here for this. */
  Stream<ParkedRecord> waitingFor(WaitsFor what) {
    return parked(1000, null).items().stream().filter(each -> each.waitsFor() == what);
  }

  /** Has the poll loop take records in, on the thread returned. */
  Thread poll() {
    return instance.poll();
  }

  /** A delivery, on a partition of its own. */
  final class Sent {
    final AssignedPartition partition;
    private final String id;
    private final CountDownLatch ended = new CountDownLatch(1);
    private final Thread thread;

    private Sent(ConsumerRecord<byte[], byte[]> record, Moment arrival) {
      id = new String(record.key() == null ? new byte[0] : record.key(), UTF_8);
      partition = new AssignedPartition(new TopicPartition(record.topic(), record.partition()), "");
      partitions.add(partition);
      Delivery delivery =
          new Delivery(
              record,
              partition,
              partition.delivered(record),
              arrival,
              null,
              ended::countDown,
              trace);
      limit.arrive(partition.usage(), delivery.bytes());
      thread = Thread.ofVirtual().start(() -> parts.flow().run(delivery));
    }

    /** Interrupts its thread, as a late timer of some library may. */
    void interrupt() {
      thread.interrupt();
    }

    /** Whether it waits for a permit to be in flight. */
    boolean waitsForAPermit() {
      return waitingFor(WaitsFor.PLACE).anyMatch(each -> each.id().equals(id));
    }

    /** Whether its offset may be committed. */
    boolean isSettled() {
      return partition.lag() == 0;
    }

    /** Whether it is settled, and that was told to the listener. */
    boolean isOver() {
      return isSettled() && hasEnded();
    }

    boolean hasEnded() {
      return ended.getCount() == 0;
    }

    void revoke() {
      partition.unassign();
      parts.flow().leave(partition);
    }
  }

  Sent deliver(String id, String value) {
    return deliver(TestRecords.record(id, value));
  }

  Sent deliver(ConsumerRecord<byte[], byte[]> record) {
    return deliver(record, time.now());
  }

  Sent deliver(ConsumerRecord<byte[], byte[]> record, Moment arrival) {
    return new Sent(record, arrival);
  }

  boolean knows(String id, String value) {
    return known.contains(RecordId.of(id), Fingerprint.of(value.getBytes(UTF_8)));
  }

  /** The store of another process, which renews nothing. */
  static MemoryClaimStore anothers(
      MemoryClaimStore.Claims claims, Duration lease, TimeSource time) {
    return new MemoryClaimStore(
        claims,
        new ClaimSettings("test", "a/9", lease, ClaimSettings.LEAST_SKEW, Duration.ofDays(15)),
        time);
  }

  static Claim claim(String id, String value, TimeSource time) {
    return Claim.of(RecordId.of(id), Fingerprint.of(value.getBytes(UTF_8)), time.now());
  }

  /** Another instance announces this of a record. */
  void hear(Outcome.Kind kind, String id, String value) {
    Instant now = time.now().wall();
    Fingerprint payload = Fingerprint.of(value.getBytes(UTF_8));
    Outcome outcome =
        new Outcome(id, kind, "b", "1", 1, 1, "in", 0, 0, now, Duration.ZERO, null, now, List.of());
    parts.records().heard(RecordId.of(id), payload, outcome);
  }

  /** The partitions that its poll loop has. */
  Partitions partitions() {
    return parts.partitions();
  }

  /** Its producer of outcomes is closed. */
  void closeOutcomes() {
    parts.outcomes().finish(Duration.ZERO);
  }

  /** What the poll loop does when the service stops. */
  void stop() {
    partitions.forEach(AssignedPartition::unassign);
    parts.flow().leaveAll();
    parts.flow().interruptAll();
  }

  @Override
  public void close() {
    stop();
    instance.close();
  }
}
