package io.firstclaim.processor.engine;

import io.firstclaim.lock.Backoff;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.deduplicator.Deduplicator;
import io.firstclaim.lock.deduplicator.RetryPolicy;
import io.firstclaim.processor.engine.admission.Admission;
import io.firstclaim.processor.engine.admission.StoreGate;
import io.firstclaim.processor.engine.api.EngineListener;
import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.engine.api.EngineSettings.Mode;
import io.firstclaim.processor.engine.deadletter.DeadLetters;
import io.firstclaim.processor.engine.flow.Attempts;
import io.firstclaim.processor.engine.flow.Claimer;
import io.firstclaim.processor.engine.flow.Findings;
import io.firstclaim.processor.engine.flow.OutcomePublisher;
import io.firstclaim.processor.engine.flow.RecordFlow;
import io.firstclaim.processor.engine.flow.RecordsInFlight;
import io.firstclaim.processor.engine.handler.HandlerCalls;
import io.firstclaim.processor.engine.handler.Watchdog;
import io.firstclaim.processor.engine.identity.ClaimHorizon;
import io.firstclaim.processor.engine.identity.Identifier;
import io.firstclaim.processor.engine.intake.InputConsumer;
import io.firstclaim.processor.engine.intake.Partitions;
import io.firstclaim.processor.engine.intake.PollLoop;
import io.firstclaim.processor.engine.intake.Sequencer;
import io.firstclaim.processor.engine.kafka.Clients;
import io.firstclaim.processor.engine.outcome.Outcomes;
import io.firstclaim.processor.engine.trace.Tracing;
import io.firstclaim.processor.handler.RecordHandler;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Function;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.Producer;
import org.jspecify.annotations.Nullable;

/**
 * The parts of an instance, in the order in which a record passes them; here they are wired.
 *
 * @param outcomes what instances tell each other
 * @param admission what a record has to pass before it is claimed
 * @param records those that are worked on
 * @param handlers calls handlers, and watches over them
 * @param watchdog says whether only a restart helps
 * @param flow takes each record to its end
 * @param input the consumer, owned by the loop once that runs
 * @param partitions those that are assigned
 * @param loop takes records in
 * @param deadLetters the producer of dead letters
 * @param findings of shadow mode; null in any other
 */
record Parts(
    Outcomes outcomes,
    Admission admission,
    RecordsInFlight records,
    HandlerCalls handlers,
    Watchdog watchdog,
    RecordFlow flow,
    InputConsumer input,
    Partitions partitions,
    PollLoop loop,
    Producer<byte[], byte[]> deadLetters,
    @Nullable Findings findings) {
  /**
   * What an instance uses, beside its settings.
   *
   * @param clients makes the Kafka clients, which the instance owns
   */
  record Surroundings(
      Clients clients,
      ClaimStore store,
      RecordHandler handler,
      EngineListener listener,
      Tracing tracing,
      TimeSource time) {}

  /** Wires the parts; nothing runs yet. */
  static Parts of(EngineSettings settings, Surroundings given) {
    TimeSource time = given.time;
    EngineListener listener = given.listener;
    Opened opened = open(settings, given);
    Outcomes outcomes = opened.outcomes;
    InputConsumer input = opened.input;
    Producer<byte[], byte[]> deadLetters = opened.deadLetters;
    Admission admission = new Admission(settings, given.store, outcomes::lastSignOf, time);
    RecordsInFlight records =
        new RecordsInFlight(settings, admission.turns(), outcomes.known(), outcomes::areHeard);
    HandlerCalls handlers =
        new HandlerCalls(settings.handlerTimeout(), settings.zone(), listener, time);
    Watchdog watchdog = new Watchdog(settings.input().maxInFlight(), handlers::abandoned);
    OutcomePublisher publisher =
        new OutcomePublisher(
            outcomes.writer(), outcomes.known(), listener, settings.claim().store().holder(), time);
    Findings findings =
        settings.mode() == Mode.SHADOW
            ? new Findings(given.store, settings.zone(), listener)
            : null;
    RecordFlow flow =
        new RecordFlow(
            new Identifier(
                settings.input().recordId(),
                settings.claim().resources(),
                settings.application(),
                refusal(settings, time)),
            given.handler,
            records,
            admission,
            new Claimer(given.store, settings, publisher, listener, findings, time),
            new Attempts(
                deduplicator(settings, given, admission.gate()),
                handlers,
                new DeadLetters(
                    deadLetters,
                    settings::deadLetterTopicOf,
                    settings.application(),
                    settings.zone()),
                publisher,
                listener,
                findings,
                time),
            publisher);
    Sequencer sequencer = new Sequencer(settings.input().ordering(), given.tracing);
    Partitions partitions =
        new Partitions(
            input, sequencer, flow, admission.limit(), given.clients.topicIds(), listener);
    PollLoop loop =
        new PollLoop(input, settings, partitions, flow, admission, membership(outcomes), time);
    return new Parts(
        outcomes,
        admission,
        records,
        handlers,
        watchdog,
        flow,
        input,
        partitions,
        loop,
        deadLetters,
        findings);
  }

  /** The clients, which have to be closed if they are not used. */
  private record Opened(
      Outcomes outcomes, Producer<byte[], byte[]> deadLetters, InputConsumer input) {}

  /** Opens the clients; if one cannot be opened, those before it are closed. */
  private static Opened open(EngineSettings settings, Surroundings given) {
    Outcomes outcomes =
        new Outcomes(settings, given.clients, given.store.identity(), given.listener, given.time);
    Producer<byte[], byte[]> deadLetters = null;
    try {
      deadLetters = given.clients.producer();
      given.listener.opened(deadLetters);
      return new Opened(
          outcomes, deadLetters, new InputConsumer(given.clients::input, given.listener));
    } catch (RuntimeException e) {
      if (deadLetters != null) {
        deadLetters.close(Duration.ZERO);
      }
      outcomes.finish(Duration.ZERO);
      throw e;
    }
  }

  /** Says why a record is given up whatever its ID, if it is. */
  private static Function<ConsumerRecord<?, ?>, Optional<String>> refusal(
      EngineSettings settings, TimeSource time) {
    return switch (settings.tooOld()) {
      case PROCESS -> _ -> Optional.empty();
      case DEAD_LETTER -> {
        var horizon = new ClaimHorizon(settings.claim().store().retention());
        yield record -> horizon.faultOf(record, time.now().wall());
      }
    };
  }

  private static PollLoop.Membership membership(Outcomes outcomes) {
    return new PollLoop.Membership() {
      @Override
      public boolean mayJoin() {
        return outcomes.isStoreAgreed();
      }

      @Override
      public void finish(Duration limit) {
        outcomes.finish(limit);
      }
    };
  }

  private static Deduplicator deduplicator(
      EngineSettings settings, Surroundings given, StoreGate gate) {
    EngineSettings.Retrying retry = settings.retry();
    return Deduplicator.builder(given.store, given.time)
        .retry(
            new RetryPolicy(retry.maxAttempts(), new Backoff(retry.backoff(), retry.maxBackoff())))
        .renew(settings.claim().renew())
        .passage(gate::step)
        .build();
  }
}
