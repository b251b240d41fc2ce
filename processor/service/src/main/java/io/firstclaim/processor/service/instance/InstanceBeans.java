package io.firstclaim.processor.service.instance;

import io.firstclaim.lock.ClaimOperations;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.dataset.Dataset;
import io.firstclaim.processor.dataset.DatasetHandler;
import io.firstclaim.processor.dataset.DatasetSettings;
import io.firstclaim.processor.engine.SideClients;
import io.firstclaim.processor.handler.RecordHandler;
import io.firstclaim.processor.service.acts.Acknowledgements;
import io.firstclaim.processor.service.acts.Dismissals;
import io.firstclaim.processor.service.acts.Pauses;
import io.firstclaim.processor.service.config.Handling;
import io.firstclaim.processor.service.config.InstanceSettings;
import io.firstclaim.processor.service.config.ServiceSettings;
import io.firstclaim.processor.service.handler.HttpHandler;
import io.firstclaim.processor.service.handler.LogHandler;
import io.firstclaim.processor.service.handler.OwnHandlers;
import io.firstclaim.processor.service.handler.TopicHandler;
import io.firstclaim.processor.service.handler.TopicProducer;
import io.firstclaim.processor.service.log.JdkLog;
import io.firstclaim.processor.service.metrics.EngineMetrics;
import io.firstclaim.processor.service.redrive.Redrives;
import io.firstclaim.processor.service.security.AccessPolicy;
import io.firstclaim.processor.service.security.TokenFile;
import io.firstclaim.processor.service.store.AwsClients;
import io.firstclaim.processor.service.store.LockStore;
import io.firstclaim.processor.service.store.Upkeep;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micronaut.context.BeanProvider;
import io.micronaut.context.annotation.Bean;
import io.micronaut.context.annotation.Factory;
import io.micronaut.tracing.opentelemetry.OpenTelemetryBuilderCustomizer;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdkBuilder;
import jakarta.inject.Singleton;
import java.time.Duration;
import software.amazon.awssdk.services.s3.S3Client;

/** How the parts of an instance are made. */
@Factory
final class InstanceBeans {
  private static final Duration TOPIC_ACK = TopicProducer.ACKNOWLEDGED_WITHIN.plusSeconds(5);

  /** A repair lists the whole dataset, with a request for each thousand files. */
  private static final Duration REPAIRED_EVERY = Duration.ofHours(1);

  @Singleton
  TimeSource time() {
    return TimeSource.system();
  }

  @Singleton
  AccessPolicy accessPolicy(InstanceSettings settings, TimeSource time) {
    return new AccessPolicy(settings.tokenFile().map(file -> new TokenFile(file, time)));
  }

  @Singleton
  EngineMetrics metrics(MeterRegistry registry) {
    return new EngineMetrics(registry);
  }

  @Singleton
  MeterFilter boundedMeters() {
    return EngineMetrics.bounded();
  }

  /** While nothing is traced, OpenTelemetry's SDK is not even made. */
  @Singleton
  @Bean(preDestroy = "close")
  Telemetry telemetry(ServiceSettings settings, BeanProvider<OpenTelemetry> made) {
    if (!settings.traced()) {
      return new Telemetry(OpenTelemetry.noop());
    }
    JdkLog.join();
    return new Telemetry(made.get());
  }

  /** A shutdown hook would close it while the last records are being processed. */
  @Singleton
  OpenTelemetryBuilderCustomizer closedByTheService() {
    return AutoConfiguredOpenTelemetrySdkBuilder::disableShutdownHook;
  }

  @Singleton
  @Bean(preDestroy = "close")
  TopicProducer topicProducer(ServiceSettings settings, EngineMetrics metrics) {
    return new TopicProducer(settings.engine().kafka(), metrics::opened);
  }

  /** Needs the store, so that it is closed before the store's client is: its chores use that. */
  @Singleton
  @Bean(preDestroy = "close")
  Upkeep upkeep(LockStore store) {
    return new Upkeep();
  }

  @Singleton
  @Bean(preDestroy = "close")
  LockStore store(InstanceSettings settings) {
    return LockStore.of(settings.store());
  }

  @Singleton
  ClaimOperations operations(LockStore store, TimeSource time, EngineMetrics metrics) {
    return store.operations(time, metrics);
  }

  @Singleton
  Dismissals dismissals(ServiceSettings settings, Service service, TimeSource time) {
    return new Dismissals(
        () -> service.claims().map(ClaimStore::identity),
        settings.engine().claim().store().retention(),
        time);
  }

  @Singleton
  Pauses pauses() {
    return new Pauses();
  }

  @Singleton
  Acknowledgements acknowledgements(ServiceSettings settings) {
    return new Acknowledgements(settings.engine().claim().store().maxSkew());
  }

  @Singleton
  @Bean(preDestroy = "close")
  Redrives redrives(
      ServiceSettings settings,
      Service service,
      ClaimOperations operations,
      Dismissals dismissals,
      Acknowledgements acknowledgements,
      Pausing pausing,
      TimeSource time) {
    return new Redrives(
        settings.engine(),
        new SideClients(settings.engine()),
        service::claims,
        operations,
        dismissals,
        said -> {
          acknowledgements.hear(said);
          pausing.hear(said);
        },
        time);
  }

  private static RecordHandler datasetHandler(
      DatasetSettings place, ServiceSettings settings, TimeSource time, Upkeep upkeep) {
    S3Client client = AwsClients.S3.client(Dataset.configure(S3Client.builder()));
    String holder = settings.engine().claim().store().holder();
    Dataset dataset = new Dataset(client, place, holder, time);
    return new DatasetHandler(
        dataset,
        () -> {
          // If the bucket is made for the claims too, it was given a policy then, or the log says
          // why
          // it was not.
          if (!settings.backend().isMadeFor(settings.handler())) {
            dataset.warnIfUnprotected();
          }
          upkeep.start(
              "repair of the dataset",
              () -> {
                dataset.repair();
                return REPAIRED_EVERY;
              });
        });
  }

  @Singleton
  ChosenHandler handler(
      ServiceSettings settings,
      BeanProvider<TopicProducer> producer,
      TimeSource time,
      Upkeep upkeep,
      Telemetry telemetry,
      OwnHandlers own) {
    return switch (settings.handler()) {
      case Handling.Log _ -> ChosenHandler.ours(new LogHandler());
      case Handling.Http http ->
          ChosenHandler.ours(
              new HttpHandler(
                  http.url(), http.timeout(), http.meanings(), telemetry.propagator(), time));
      // The producer is made when there is a record, not before Kafka has an address.
      case Handling.Topic topic ->
          ChosenHandler.ours(
              given ->
                  new TopicHandler(producer.get(), topic.name(), TOPIC_ACK, telemetry.propagator())
                      .handle(given));
      case Handling.Dataset dataset ->
          ChosenHandler.ours(datasetHandler(dataset.settings(), settings, time, upkeep));
      case Handling.None _ ->
          ChosenHandler.ours(
              _ -> {
                throw new IllegalStateException("shadow mode calls no handler");
              });
      case Handling.Bean bean -> ChosenHandler.users(own.get(bean.name()));
    };
  }
}
