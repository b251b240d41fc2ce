package io.firstclaim.processor.engine;

import io.firstclaim.lock.Backoff;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.deduplicator.Deduplicator;
import io.firstclaim.lock.deduplicator.RetryPolicy;
import io.firstclaim.processor.engine.admission.Affinity;
import io.firstclaim.processor.engine.admission.Breaker;
import io.firstclaim.processor.engine.admission.InFlightLimit;
import io.firstclaim.processor.engine.admission.ResourceTurns;
import io.firstclaim.processor.engine.admission.StoreGate;
import io.firstclaim.processor.engine.api.EngineListener;
import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.engine.api.EngineState;
import io.firstclaim.processor.engine.api.HeldRecord;
import io.firstclaim.processor.engine.api.OtherInstance;
import io.firstclaim.processor.engine.api.Page;
import io.firstclaim.processor.engine.api.ParkedRecord;
import io.firstclaim.processor.engine.deadletter.DeadLetters;
import io.firstclaim.processor.engine.flow.Attempt;
import io.firstclaim.processor.engine.flow.Errand;
import io.firstclaim.processor.engine.flow.Leader;
import io.firstclaim.processor.engine.flow.OutcomePublisher;
import io.firstclaim.processor.engine.flow.RecordFlow;
import io.firstclaim.processor.engine.flow.Roster;
import io.firstclaim.processor.engine.flow.Tickets;
import io.firstclaim.processor.engine.flow.WaitingRoom;
import io.firstclaim.processor.engine.handler.HandlerWatch;
import io.firstclaim.processor.engine.handler.Watchdog;
import io.firstclaim.processor.engine.identity.Identifier;
import io.firstclaim.processor.engine.intake.PollLoop;
import io.firstclaim.processor.engine.kafka.Clients;
import io.firstclaim.processor.engine.outcome.KnownDone;
import io.firstclaim.processor.engine.outcome.Origin;
import io.firstclaim.processor.engine.outcome.OutcomeFeed;
import io.firstclaim.processor.engine.outcome.OutcomeWriter;
import io.firstclaim.processor.engine.outcome.PresenceBeat;
import io.firstclaim.processor.engine.outcome.StoreAgreement;
import io.firstclaim.processor.engine.trace.Tracing;
import io.firstclaim.processor.handler.RecordHandler;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.producer.Producer;
import org.jspecify.annotations.Nullable;

/**
 * The parts of one instance, wired together. Started once and stopped once; safe to read from any
 * thread.
 */
final class Instance {
  private static final int KNOWN = 100_000;
  private static final Duration READ_UP = Duration.ofSeconds(10);
  private static final Duration CLOSE_LIMIT = Duration.ofMillis(500);

  /** Nobody has it; asking for it shows that the store answers. */
  private static final RecordId PROBE = RecordId.of("firstclaim-probe");

  final Producer<byte[], byte[]> outcomes;
  final Tickets<Errand> tickets = new Tickets<>();
  final KnownDone known;
  final StoreGate gate;
  final Breaker breaker;
  final HandlerWatch handlers;
  final InFlightLimit limit;
  final RecordFlow flow;
  final PollLoop loop;

  private final Consumer<byte[], byte[]> input;
  private final Producer<byte[], byte[]> deadLetters;
  private final Roster roster = new Roster(tickets);
  private final Optional<OutcomeFeed> feed;
  private final Optional<PresenceBeat> presence;
  private final StoreAgreement agreement;
  private final Thread poller;
  private final Watchdog watchdog;

  /**
   * An instance that is not running yet.
   *
   * @param clients makes the Kafka clients, which the instance owns
   * @param tracing of its deliveries
   * @param onDefect called if it ends by itself
   */
  public Instance(
      EngineSettings settings,
      Clients clients,
      ClaimStore store,
      RecordHandler handler,
      EngineListener listener,
      Tracing tracing,
      TimeSource time,
      java.util.function.Consumer<? super Throwable> onDefect) {
    String self = Nonce.random().toString();
    Origin origin =
        new Origin(
            settings.application(), settings.claim().store().namespace(), store.identity(), self);
    this.outcomes = clients.outcomesProducer();
    this.deadLetters = clients.producer();
    listener.opened(outcomes);
    listener.opened(deadLetters);
    this.known = new KnownDone(KNOWN, settings.claim().store().retention(), time);
    ResourceTurns turns = new ResourceTurns(time);
    WaitingRoom room =
        new WaitingRoom(tickets, turns, known, this::hearsOutcomes, settings.outcomesTrust());
    this.agreement = new StoreAgreement(settings, origin, store.identity());
    this.presence =
        settings
            .outcomesTopic()
            .map(topic -> new PresenceBeat(outcomes, topic, origin, self, agreement, time));
    this.feed =
        settings
            .outcomesTopic()
            .map(
                topic -> {
                  Consumer<byte[], byte[]> consumer = clients.outcomes();
                  listener.opened(consumer);
                  return new OutcomeFeed(consumer, topic, origin, agreement, known, room, time);
                });
    this.gate = new StoreGate(() -> store.find(PROBE), settings.claim().store().lease(), time);
    this.breaker = new Breaker(time);
    this.handlers = new HandlerWatch(settings.handlerTimeout());
    this.limit =
        new InFlightLimit(
            settings.input().maxInFlight(),
            settings.input().maxParked(),
            settings.input().maxBuffered());
    this.watchdog = new Watchdog(settings.input().maxInFlight(), handlers::abandoned);
    OutcomePublisher publisher =
        new OutcomePublisher(
            new OutcomeWriter(outcomes, settings.outcomesTopic(), origin), known, listener, time);
    Deduplicator deduplicator =
        Deduplicator.builder(store, time)
            .retry(
                new RetryPolicy(
                    settings.retry().maxAttempts(),
                    new Backoff(settings.retry().backoff(), settings.retry().maxBackoff())))
            .renew(settings.claim().renew())
            .passage(gate::step)
            .build();
    Attempt attempt =
        new Attempt(
            deduplicator,
            handlers,
            new DeadLetters(
                deadLetters, settings::deadLetterTopicOf, settings.application(), settings.zone()),
            publisher,
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
            breaker,
            turns,
            attempt,
            publisher,
            limit,
            listener,
            time);
    this.flow =
        new RecordFlow(
            new Identifier(
                settings.input().recordId(),
                settings.claim().resources(),
                clients.topicIds()::of,
                settings.application()),
            handler,
            room,
            leader,
            limit,
            handlers);
    this.input = clients.input();
    listener.opened(input);
    this.loop =
        new PollLoop(
            input,
            settings,
            flow,
            limit,
            gate,
            () -> presence.isEmpty() || agreement.isReached(),
            clients.topicIds(),
            listener,
            tracing,
            this::closeOutcomes,
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
    watchdog.start();
    Thread _ = poll();
  }

  /** Starts to hear outcomes. */
  void listen() throws InterruptedException {
    if (feed.isPresent()) {
      feed.get().start(READ_UP);
    }
  }

  /** Starts to take records in, once this instance's store is announced, on the thread returned. */
  Thread poll() {
    presence.ifPresent(PresenceBeat::start);
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
    watchdog.stop();
    close();
  }

  /** Closes everything that the poll loop does not. */
  void close() {
    if (poller.getState() == Thread.State.NEW) {
      input.close(CloseOptions.timeout(CLOSE_LIMIT)); // otherwise the loop closes it
    }
    closeOutcomes(CLOSE_LIMIT);
    feed.ifPresent(OutcomeFeed::close);
    deadLetters.close(CLOSE_LIMIT);
  }

  /** Says that it is gone, and sends what is left to be said. */
  private void closeOutcomes(Duration limit) {
    presence.ifPresent(PresenceBeat::close);
    outcomes.close(limit);
  }

  /** Takes no more records, for this reason. */
  public void pause(String reason) {
    loop.pause(reason);
  }

  /** Takes records again. */
  public void resume() {
    loop.resume();
  }

  /** A page of the records under a lease. */
  public Page<HeldRecord> held(int limit, @Nullable String after) {
    return roster.held(limit, after);
  }

  /** A page of the records that wait. */
  public Page<ParkedRecord> parked(int limit, @Nullable String after) {
    return roster.parked(limit, after);
  }

  /** The other instances of the application; empty if that is not known. */
  public Optional<List<OtherInstance>> others() {
    return presence.flatMap(_ -> agreement.others());
  }

  /** What it is doing now. */
  public EngineState.Running state() {
    return new EngineState.Running(
        limit.inFlight(),
        limit.parked(),
        handlers.abandoned(),
        limit.buffered(),
        loop.lag(),
        loop.lastPoll(),
        presence.flatMap(_ -> agreement.obstacle()).or(() -> Optional.ofNullable(gate.fault())),
        agreement.otherStores(),
        Optional.ofNullable(breaker.fault()),
        Optional.ofNullable(loop.paused()),
        Optional.ofNullable(watchdog.fault()));
  }
}
