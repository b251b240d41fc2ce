package io.firstclaim.processor.service;

import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.engine.Engine;
import io.firstclaim.processor.engine.EngineBuilder;
import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.engine.api.EngineState;
import io.firstclaim.processor.handler.RecordHandler;
import io.firstclaim.processor.service.config.Handling;
import io.firstclaim.processor.service.config.ServiceSettings;
import io.firstclaim.processor.service.log.KafkaClientLog;
import io.firstclaim.processor.service.metrics.EngineMetrics;
import io.firstclaim.processor.service.store.LockStore;
import io.firstclaim.processor.service.store.Upkeep;
import jakarta.inject.Singleton;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One instance from start to stop: an engine, observed. */
@Singleton
public class Service {
  private static final Logger LOG = LoggerFactory.getLogger(Service.class);

  private final ServiceSettings settings;
  private final LockStore store;
  private final Engine engine;
  private final AtomicReference<@Nullable ClaimStore> claims = new AtomicReference<>();

  Service(
      ServiceSettings settings,
      LockStore store,
      Upkeep upkeep,
      RecordHandler handler,
      EngineMetrics metrics,
      TimeSource time) {
    this.settings = settings;
    this.store = store;
    EngineBuilder builder = Engine.builder(settings.engine());
    EngineBuilder handling =
        switch (settings.handler()) {
          case Handling.Bean _ -> builder.handler(handler);
          case Handling.Log _, Handling.Http _, Handling.Topic _, Handling.Dataset _ ->
              builder.waitingHandler(handler);
        };
    this.engine =
        handling
            .store(
                _ -> {
                  ClaimStore opened = store.open(time, metrics, upkeep);
                  claims.set(opened);
                  return opened;
                })
            .listener(metrics)
            .time(time)
            .onDefect(Application::fail)
            .build();
    metrics.observe(engine);
  }

  /** Waits for the lock store and for Kafka, then begins to process, and returns. */
  void run() throws InterruptedException {
    // The engine says what it waits for; Kafka's clients need not repeat it several times a second.
    KafkaClientLog.quiet();
    try {
      engine.start();
    } finally {
      KafkaClientLog.asConfigured();
    }
    EngineSettings values = settings.engine();
    LOG.info(
        "Zone {} as {} processes {} with handler {}, claims in {}",
        values.zone(),
        values.claim().store().holder(),
        String.join(",", values.input().topics()),
        settings.inForce().get("firstclaim.handler.type"),
        store.name());
  }

  /** Stops in good order. */
  void stop() throws InterruptedException {
    engine.stop();
  }

  /** The claims; empty until the store has answered for the first time. */
  public Optional<ClaimStore> claims() {
    return Optional.ofNullable(claims.get());
  }

  /** What the engine is doing. */
  public EngineState state() {
    return engine.state();
  }
}
