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
import io.firstclaim.processor.engine.admission.Breaker;
import io.firstclaim.processor.engine.admission.InFlightLimit;
import io.firstclaim.processor.engine.admission.StoreGate;
import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.engine.api.EngineState;
import io.firstclaim.processor.engine.api.HeldRecord;
import io.firstclaim.processor.engine.api.Page;
import io.firstclaim.processor.engine.api.ParkedRecord;
import io.firstclaim.processor.engine.flow.Errand;
import io.firstclaim.processor.engine.flow.Tickets;
import io.firstclaim.processor.engine.handler.HandlerThreads;
import io.firstclaim.processor.engine.handler.HandlerWatch;
import io.firstclaim.processor.engine.intake.AssignedPartition;
import io.firstclaim.processor.engine.intake.Delivery;
import io.firstclaim.processor.engine.intake.PollLoop;
import io.firstclaim.processor.engine.kafka.Clients;
import io.firstclaim.processor.engine.outcome.KnownDone;
import io.firstclaim.processor.engine.testing.TestRecords;
import io.firstclaim.processor.engine.trace.Trace;
import io.firstclaim.processor.engine.trace.Tracing;
import io.firstclaim.processor.handler.RecordHandler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * One instance of a zone, as {@link Instance} wires it. Its Kafka clients are the {@link
 * TestBroker}'s; the test delivers the records, or has the poll loop take them in.
 */
final class TestInstance implements AutoCloseable {
  final FaultyStore store;
  final TestListener listener = new TestListener();
  final AtomicReference<@Nullable Throwable> defect = new AtomicReference<>();
  final Tickets<Errand> tickets;
  final StoreGate gate;
  final Breaker breaker;
  final HandlerWatch handlers;
  final InFlightLimit limit;
  final KnownDone known;
  final PollLoop loop;
  final Producer<byte[], byte[]> outcomes;

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
    instance =
        new Instance(
            settings,
            clients,
            store,
            new HandlerThreads(handler),
            listener,
            Tracing.OFF,
            time,
            defect::set);
    tickets = instance.tickets;
    gate = instance.gate;
    breaker = instance.breaker;
    handlers = instance.handlers;
    limit = instance.limit;
    known = instance.known;
    loop = instance.loop;
    outcomes = instance.outcomes;
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

  /** Has the poll loop take records in, on the thread returned. */
  Thread poll() {
    return instance.poll();
  }

  /** A delivery, on a partition of its own. */
  final class Sent {
    final AssignedPartition partition;
    private final CountDownLatch ended = new CountDownLatch(1);
    private final Thread thread;

    private Sent(ConsumerRecord<byte[], byte[]> record, Moment arrival) {
      partition = new AssignedPartition(new TopicPartition(record.topic(), record.partition()));
      partitions.add(partition);
      Delivery delivery =
          new Delivery(
              record,
              partition,
              partition.delivered(record),
              arrival,
              null,
              ended::countDown,
              Trace.NONE);
      limit.arrive(partition.usage(), delivery.bytes());
      thread = Thread.ofVirtual().start(() -> instance.flow.run(delivery));
    }

    /** As a late timer of some library may. */
    void interrupt() {
      thread.interrupt();
    }

    /** Whether it waits for no time and no signal, but for a place in flight. */
    boolean waitsForAPlace() {
      return thread.getState() == Thread.State.WAITING;
    }

    /** Whether its offset may be committed. */
    boolean isSettled() {
      return partition.lag() == 0;
    }

    boolean hasEnded() {
      return ended.getCount() == 0;
    }

    void revoke() {
      partition.unassign();
      instance.flow.leave(partition);
      gate.lookAgain();
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
        new ClaimSettings("test", "a/9", lease, ClaimSettings.LEAST_SKEW, Duration.ofDays(8)),
        time);
  }

  static Claim claim(String id, String value, TimeSource time) {
    return Claim.of(RecordId.of(id), Fingerprint.of(value.getBytes(UTF_8)), time.now());
  }

  /** What the poll loop does when the service stops. */
  void stop() {
    partitions.forEach(AssignedPartition::unassign);
    tickets.stopAll();
    handlers.interruptAll();
  }

  @Override
  public void close() {
    stop();
    instance.close();
  }
}
