package io.firstclaim.processor.service;

import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.engine.Engine;
import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.engine.api.EngineState;
import io.firstclaim.processor.handler.RecordHandler;
import io.firstclaim.processor.service.config.ServiceSettings;
import io.firstclaim.processor.service.metrics.EngineMetrics;
import jakarta.inject.Singleton;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One instance from start to stop: an engine, observed. */
@Singleton
public class Service {
  private static final Logger LOG = LoggerFactory.getLogger(Service.class);

  private final ServiceSettings settings;
  private final Engine engine;

  Service(
      ServiceSettings settings,
      StoreOpener opener,
      RecordHandler handler,
      EngineMetrics metrics,
      TimeSource time) {
    this.settings = settings;
    this.engine =
        Engine.builder(settings.engine())
            .store(_ -> opener.open())
            .handler(handler)
            .listener(metrics)
            .time(time)
            .onDefect(Application::fail)
            .build();
    metrics.observe(engine);
  }

  /** Waits for the lock store and for Kafka, then begins to process, and returns. */
  void run() throws InterruptedException {
    engine.start();
    EngineSettings values = settings.engine();
    LOG.info(
        "Zone {} as {} processes {} with handler {}, claims in {}",
        values.zone(),
        values.claim().store().holder(),
        String.join(",", values.input().topics()),
        settings.handler().type(),
        settings.claim().backend());
  }

  /** Stops in good order. */
  void stop() throws InterruptedException {
    engine.stop();
  }

  /** What the engine is doing. */
  public EngineState state() {
    return engine.state();
  }
}
