package io.firstclaim.processor.engine.consumer;

import io.firstclaim.lock.Backoff;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.deduplicator.Deduplicator;
import io.firstclaim.lock.deduplicator.RetryPolicy;
import io.firstclaim.processor.engine.api.EngineListener;
import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.engine.api.EngineState;
import io.firstclaim.processor.engine.claim.Affinity;
import io.firstclaim.processor.engine.claim.HandlerWatch;
import io.firstclaim.processor.engine.claim.StoreGate;
import io.firstclaim.processor.engine.claim.Tickets;
import io.firstclaim.processor.engine.deadletter.DeadLetters;
import io.firstclaim.processor.engine.identity.Identifier;
import io.firstclaim.processor.engine.outcome.KnownDone;
import io.firstclaim.processor.engine.outcome.OutcomeFeed;
import io.firstclaim.processor.engine.outcome.OutcomePublisher;
import io.firstclaim.processor.handler.RecordHandler;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.producer.Producer;
import org.jspecify.annotations.Nullable;

/**
 * The parts of one instance, wired together. Started once and stopped once; safe to read from any
 * thread.
 */
public final class Instance {
  private static final int KNOWN = 100_000;
  private static final Duration READ_UP = Duration.ofSeconds(10);
  private static final Duration CLOSE_LIMIT = Duration.ofSeconds(5);

  /** Nobody has it; asking for it shows that the store answers. */
  private static final RecordId PROBE = RecordId.of("firstclaim-probe");

  final Producer<byte[], byte[]> outcomes;
  final Tickets<Errand> tickets = new Tickets<>();
  final KnownDone known;
  final StoreGate gate;
  final HandlerWatch handlers;
  final Places places;
  final RecordFlow flow;
  final PollLoop loop;

  private final Consumer<byte[], byte[]> input;
  private final Producer<byte[], byte[]> deadLetters;
  private final Optional<OutcomeFeed> feed;
  private final Thread poller;

  /**
   * An instance that is not running yet.
   *
   * @param clients makes the Kafka clients, which the instance owns
   * @param onDefect called if it ends by itself
   */
  public Instance(
      EngineSettings settings,
      Clients clients,
      ClaimStore store,
      RecordHandler handler,
      EngineListener listener,
      TimeSource time,
      java.util.function.Consumer<? super Throwable> onDefect) {
    String namespace = settings.claim().store().namespace();
    // Not the holder's name: a restarted process has it again, and two may have it at once.
    String self = Nonce.random().toString();
    this.outcomes = clients.outcomesProducer();
    this.deadLetters = clients.producer();
    this.known = new KnownDone(KNOWN, time.now().wall());
    WaitingRoom room = new WaitingRoom(tickets, known, this::hearsOutcomes);
    this.feed =
        settings
            .outcomesTopic()
            .map(
                topic ->
                    new OutcomeFeed(clients.outcomes(), topic, namespace, self, known, room, time));
    this.gate = new StoreGate(() -> store.find(PROBE));
    this.handlers = new HandlerWatch(settings.handlerTimeout());
    this.places =
        new Places(
            settings.input().maxInFlight(),
            settings.input().maxParked(),
            settings.input().maxBuffered());
    Announcer announcer =
        new Announcer(
            new OutcomePublisher(outcomes, settings.outcomesTopic(), namespace, self), known, time);
    Deduplicator deduplicator =
        Deduplicator.builder(store, time)
            .retry(
                new RetryPolicy(
                    settings.retry().maxAttempts(),
                    new Backoff(settings.retry().backoff(), settings.retry().maxBackoff())))
            .renew(settings.claim().renew())
            .passage(gate::settle)
            .build();
    Attempt attempt =
        new Attempt(
            deduplicator,
            handlers,
            new DeadLetters(deadLetters, settings::deadLetterTopicOf, settings.zone()),
            announcer,
            settings.zone(),
            listener,
            time);
    Leader leader =
        new Leader(
            settings,
            new Affinity(
                settings.zone(),
                settings.zones(),
                settings.claim().headStart(),
                settings.claim().store().lease(),
                this::lastSignOf,
                time),
            store,
            gate,
            attempt,
            announcer,
            places,
            listener,
            time);
    this.flow =
        new RecordFlow(new Identifier(settings.input().recordId()), handler, room, leader, places);
    this.input = clients.input();
    this.loop =
        new PollLoop(
            input,
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

  private @Nullable Instant lastSignOf(String zone) {
    return feed.isPresent() ? feed.get().lastSignOf(zone) : null;
  }

  private boolean hearsOutcomes() {
    return feed.isPresent() && feed.get().isLive();
  }

  /** Starts to process. Returns once the recent outcomes are known and polling has begun. */
  public void start() throws InterruptedException {
    listen();
    Thread _ = poll();
  }

  /** Starts to hear outcomes. */
  void listen() throws InterruptedException {
    if (feed.isPresent()) {
      feed.get().start(READ_UP);
    }
  }

  /** Starts to take records in, on the thread returned. */
  Thread poll() {
    poller.start();
    return poller;
  }

  /**
   * Stops in good order: lets handlers finish within the grace period, releases the rest for the
   * other zones, commits and leaves the group.
   */
  public void stop() throws InterruptedException {
    loop.stop();
    poller.join();
    close();
  }

  /** Closes everything that the poll loop does not. */
  void close() {
    if (poller.getState() == Thread.State.NEW) {
      input.close(CloseOptions.timeout(CLOSE_LIMIT)); // otherwise the loop closes it
    }
    feed.ifPresent(OutcomeFeed::close);
    outcomes.close(CLOSE_LIMIT);
    deadLetters.close(CLOSE_LIMIT);
  }

  /** What it is doing now. */
  public EngineState.Running state() {
    return new EngineState.Running(
        places.inFlight(),
        places.parked(),
        places.buffered(),
        loop.lag(),
        loop.lastPoll(),
        Optional.ofNullable(gate.fault()));
  }
}
