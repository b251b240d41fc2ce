package io.firstclaim.processor.engine.consumer;

import io.firstclaim.lock.Backoff;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.deduplicator.Deduplicator;
import io.firstclaim.lock.deduplicator.RetryPolicy;
import io.firstclaim.processor.engine.claim.Affinity;
import io.firstclaim.processor.engine.claim.HandlerWatch;
import io.firstclaim.processor.engine.claim.Signal;
import io.firstclaim.processor.engine.claim.StoreGate;
import io.firstclaim.processor.engine.claim.Tickets;
import io.firstclaim.processor.engine.config.Settings;
import io.firstclaim.processor.engine.deadletter.DeadLetters;
import io.firstclaim.processor.engine.identity.Identifier;
import io.firstclaim.processor.engine.outcome.KnownDone;
import io.firstclaim.processor.engine.outcome.Outcome;
import io.firstclaim.processor.engine.outcome.OutcomeFeed;
import io.firstclaim.processor.engine.outcome.OutcomePublisher;
import io.firstclaim.processor.handler.RecordHandler;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.kafka.clients.producer.Producer;
import org.jspecify.annotations.Nullable;

/**
 * Processes the records of the input topics: wires the parts of one instance together, starts and
 * stops them.
 */
public final class Engine {
  private static final int KNOWN = 100_000;
  private static final Duration READ_UP = Duration.ofSeconds(10);
  private static final Duration CLOSE_LIMIT = Duration.ofSeconds(5);

  /** Found by nobody; asking for it shows that the store answers. */
  private static final RecordId PROBE = RecordId.of("firstclaim-probe");

  private final Producer<byte[], byte[]> outcomes;
  private final Optional<OutcomeFeed> feed;
  private final StoreGate gate;
  private final Places places;
  private final PollLoop loop;
  private final Thread poller;

  /**
   * An engine that is not running yet.
   *
   * @param clients makes the Kafka clients that the engine owns
   * @param producer of dead letters; shared, and not closed by the engine
   * @param onDefect told if the engine ends by itself
   */
  public Engine(
      Settings settings,
      KafkaClients clients,
      Producer<byte[], byte[]> producer,
      ClaimStore store,
      RecordHandler handler,
      EngineListener listener,
      TimeSource time,
      Consumer<Throwable> onDefect) {
    this.outcomes = clients.outcomesProducer();
    Duration lease = settings.claim().store().lease();
    String namespace = settings.claim().store().namespace();
    // Not the holder's name: a restarted process bears it again, and two may bear it at once.
    String self = Nonce.random().toString();
    Tickets tickets = new Tickets();
    KnownDone known = new KnownDone(KNOWN, time.now().wall());
    this.feed =
        settings
            .outcomesTopic()
            .map(
                topic ->
                    new OutcomeFeed(
                        clients.outcomes(),
                        topic,
                        namespace,
                        self,
                        known,
                        (id, payload, outcome) -> signal(tickets, id, payload, outcome),
                        time));
    this.gate = new StoreGate(() -> store.find(PROBE));
    HandlerWatch handlers = new HandlerWatch(settings.handler().timeout());
    this.places = new Places(settings.input().maxInFlight(), settings.input().maxParked());
    Announcer announcer =
        new Announcer(
            new OutcomePublisher(outcomes, settings.outcomesTopic(), namespace, self), known, time);
    Attempt attempt =
        new Attempt(
            Deduplicator.builder(store, time)
                .retry(
                    new RetryPolicy(
                        settings.retry().maxAttempts(),
                        new Backoff(settings.retry().backoff(), settings.retry().maxBackoff())))
                .renew(settings.claim().renew())
                .passage(gate::settle)
                .build(),
            handlers,
            new DeadLetters(producer, settings.deadLetterTopic(), settings.zone()),
            announcer,
            settings.zone(),
            listener,
            time);
    RecordFlow flow =
        new RecordFlow(
            settings,
            new Identifier(settings.input().recordId()),
            handler,
            store,
            gate,
            tickets,
            new Affinity(
                settings.zone(),
                settings.zones(),
                settings.claim().headStart(),
                lease,
                this::lastSignOf,
                time),
            known,
            this::hearsOutcomes,
            announcer,
            attempt,
            places,
            listener,
            time);
    this.loop =
        new PollLoop(
            clients.input(),
            settings,
            flow,
            places,
            gate,
            tickets,
            handlers,
            outcomes::flush,
            onDefect,
            time);
    this.poller = Thread.ofPlatform().name("firstclaim-poll").unstarted(loop);
  }

  /** Wakes whoever waits for the record that an outcome is of. */
  static void signal(Tickets tickets, RecordId id, Fingerprint payload, Outcome outcome) {
    switch (outcome.kind()) {
      case COMPLETED, DEAD -> tickets.signal(id, new Signal.Ended());
      case MISMATCH -> tickets.signal(Work.mismatchOf(id, payload), new Signal.Ended());
      case FAILED -> {
        Instant retryAt = outcome.retryAt();
        if (retryAt != null) {
          tickets.signal(id, payload, new Signal.DueIn(Duration.between(outcome.at(), retryAt)));
        }
      }
      case TAKEN_OVER, LEASE_LOST -> {}
    }
  }

  private @Nullable Instant lastSignOf(String zone) {
    return feed.isPresent() ? feed.get().lastSignOf(zone) : null;
  }

  private boolean hearsOutcomes() {
    return feed.isPresent() && feed.get().isLive();
  }

  /** Starts to process. Returns when the recent outcomes are known and polling has begun. */
  public void start() throws InterruptedException {
    if (feed.isPresent()) {
      feed.get().start(READ_UP);
    }
    poller.start();
  }

  /**
   * Stops in good order: lets handlers finish within the grace, releases the rest for the other
   * zone, commits and leaves the group.
   */
  public void stop() throws InterruptedException {
    loop.stop();
    poller.join();
    feed.ifPresent(OutcomeFeed::close);
    outcomes.close(CLOSE_LIMIT);
  }

  /** Records that are being claimed or handled. */
  public int inFlight() {
    return places.inFlight();
  }

  /** Records that wait for another holder, a retry, their head start or their turn. */
  public int parked() {
    return places.parked();
  }

  /** Offsets between what is settled without a gap and what was polled, over all partitions. */
  public long watermarkLag() {
    return loop.lag();
  }

  /** When the broker was last polled. */
  public Moment lastPoll() {
    return loop.lastPoll();
  }

  /** Why the lock store does not answer; null if it does. */
  public @Nullable String storeFault() {
    return gate.fault();
  }
}
