package io.firstclaim.processor.service;

import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.dynamodb.DynamoDbClaimStore;
import io.firstclaim.lock.dynamodb.DynamoDbTable;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.lock.s3.S3Bucket;
import io.firstclaim.lock.s3.S3ClaimStore;
import io.firstclaim.lock.s3.Sweeper;
import io.firstclaim.processor.dataset.Dataset;
import io.firstclaim.processor.dataset.DatasetHandler;
import io.firstclaim.processor.handler.RecordHandler;
import io.firstclaim.processor.service.config.ServiceSettings;
import io.firstclaim.processor.service.config.SettingsReader;
import io.firstclaim.processor.service.config.WrongSettingException;
import io.firstclaim.processor.service.handler.HttpHandler;
import io.firstclaim.processor.service.handler.LogHandler;
import io.firstclaim.processor.service.handler.TopicHandler;
import io.firstclaim.processor.service.handler.TopicProducer;
import io.firstclaim.processor.service.metrics.EngineMetrics;
import io.micrometer.core.instrument.MeterRegistry;
import io.micronaut.context.ApplicationContext;
import io.micronaut.context.BeanProvider;
import io.micronaut.context.annotation.Bean;
import io.micronaut.context.annotation.Factory;
import io.micronaut.context.annotation.Primary;
import io.micronaut.context.env.Environment;
import io.micronaut.inject.qualifiers.Qualifiers;
import jakarta.inject.Singleton;
import java.net.URI;
import java.time.Duration;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.s3.S3Client;

/** How the parts of an instance are made. */
@Factory
final class Beans {
  private static final Duration TOPIC_ACK = TopicProducer.ACKNOWLEDGED_WITHIN.plusSeconds(5);

  /** Far below what S3 does for a prefix that it has not split yet: 3,500 writes a second. */
  private static final int SWEPT_PER_SECOND = 100;

  /** Lists the whole dataset: a request for a thousand files. */
  private static final Duration REPAIRED_EVERY = Duration.ofHours(1);

  @Singleton
  ServiceSettings settings(Environment environment) {
    return SettingsReader.read(environment);
  }

  @Singleton
  TimeSource time() {
    return TimeSource.system();
  }

  @Singleton
  EngineMetrics metrics(MeterRegistry registry) {
    return new EngineMetrics(registry);
  }

  @Singleton
  @Bean(preDestroy = "close")
  TopicProducer topicProducer(ServiceSettings settings) {
    return new TopicProducer(settings.engine().kafka());
  }

  @Singleton
  @Bean(preDestroy = "close")
  Upkeep upkeep() {
    return new Upkeep();
  }

  @Singleton
  StoreOpener store(
      ServiceSettings settings, TimeSource time, EngineMetrics metrics, Upkeep upkeep) {
    return switch (settings.claim().backend()) {
      case MEMORY -> () -> new MemoryClaimStore(settings.claim().store(), time);
      case DYNAMODB -> {
        DynamoDbClient client = StoreClients.dynamoDb(settings.claim());
        yield () -> {
          DynamoDbTable table = new DynamoDbTable(client, settings.claim().table());
          if (settings.claim().create()) {
            table.create();
          }
          return DynamoDbClaimStore.open(
              client, settings.claim().table(), settings.claim().store(), time, metrics);
        };
      }
      case S3 -> {
        ServiceSettings.S3 place = settings.claim().s3().orElseThrow();
        S3Bucket bucket =
            new S3Bucket(StoreClients.s3(settings.claim()), place.bucket(), place.prefix());
        yield () -> {
          if (settings.claim().create()) {
            bucket.create(settings.claim().store());
          }
          bucket.verify();
          if (place.sweep().isPositive()) {
            Sweeper sweeper =
                new Sweeper(
                    bucket,
                    settings.claim().store(),
                    place.sweep(),
                    SWEPT_PER_SECOND,
                    time,
                    metrics,
                    metrics::swept);
            upkeep.start("sweep of the claims", sweeper::sweep);
          }
          return new S3ClaimStore(bucket, settings.claim().store(), time, metrics);
        };
      }
    };
  }

  private static RecordHandler httpHandler(URI url, Duration timeout) {
    try {
      return new HttpHandler(url, timeout);
    } catch (IllegalArgumentException e) {
      throw new WrongSettingException(
          "firstclaim.handler.http.url",
          url.getRawUserInfo() == null ? url.toString() : "(hidden: it has user-info)",
          String.valueOf(e.getMessage()));
    }
  }

  private static RecordHandler datasetHandler(
      ServiceSettings settings, TimeSource time, Upkeep upkeep) {
    S3Client client = StoreClients.s3(Dataset.configure(S3Client.builder()));
    Dataset dataset =
        new Dataset(
            client,
            settings.handler().dataset().orElseThrow(),
            settings.claim().store().holder(),
            time);
    return new DatasetHandler(
        dataset,
        () ->
            upkeep.start(
                "repair of the dataset",
                () -> {
                  dataset.repair();
                  return REPAIRED_EVERY;
                }));
  }

  @Singleton
  @Primary
  RecordHandler handler(
      ServiceSettings settings,
      BeanProvider<TopicProducer> producer,
      TimeSource time,
      Upkeep upkeep,
      ApplicationContext context) {
    ServiceSettings.Handling handling = settings.handler();
    return switch (handling.type()) {
      case "log" -> new LogHandler();
      case "http" -> httpHandler(handling.httpUrl().orElseThrow(), handling.httpTimeout());
      case "topic" -> {
        String topic = handling.topicName().orElseThrow();
        // The producer is made when there is a record, not before Kafka has an address.
        yield given -> new TopicHandler(producer.get().get(), topic, TOPIC_ACK).handle(given);
      }
      case "dataset" -> datasetHandler(settings, time, upkeep);
      default ->
          context
              .findBean(RecordHandler.class, Qualifiers.byName(handling.type()))
              .orElseThrow(
                  () ->
                      new WrongSettingException(
                          "firstclaim.handler.type",
                          handling.type(),
                          "give log, http, topic, dataset or the name of a RecordHandler bean"));
    };
  }
}
