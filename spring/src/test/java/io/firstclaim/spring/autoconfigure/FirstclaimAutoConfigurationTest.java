package io.firstclaim.spring.autoconfigure;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.awspring.cloud.autoconfigure.core.AwsConnectionDetails;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.deduplicator.Deduplicator;
import io.firstclaim.lock.deduplicator.RunResult;
import io.firstclaim.lock.dynamodb.DynamoDbClaimStore;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.lock.mutex.Mutexes;
import io.firstclaim.lock.s3.S3ClaimStore;
import io.firstclaim.lock.testkit.fault.FaultyStore;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.InputStream;
import java.net.URI;
import java.net.URL;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import software.amazon.awssdk.regions.Region;

class FirstclaimAutoConfigurationTest {
  private final ApplicationContextRunner application =
      new ApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(
                  FirstclaimAutoConfiguration.class, FirstclaimAwsAutoConfiguration.class));

  private final ApplicationContextRunner inMemory =
      application.withPropertyValues("firstclaim.claim.backend=memory");

  private static ClaimStore memory(String namespace) {
    return new MemoryClaimStore(ClaimSettings.of(namespace, "own"), TimeSource.system());
  }

  @Test
  void workRunsOnce_andMutexesAreHeld_onTheChosenStore() {
    inMemory.run(
        context -> {
          Deduplicator deduplicator = context.getBean(Deduplicator.class);
          RecordId id = RecordId.of("payment-1");
          assertThat(deduplicator.run(id, Fingerprint.none(), lease -> "paid"))
              .isEqualTo(new RunResult.Ran("paid"));
          assertThat(deduplicator.run(id, Fingerprint.none(), lease -> "twice"))
              .isInstanceOf(RunResult.DoneBefore.class);

          Mutexes mutexes = context.getBean(Mutexes.class);
          try (var held = mutexes.of("nightly").acquire(Duration.ZERO).orElseThrow()) {
            assertThat(mutexes.of("nightly").acquire(Duration.ZERO)).isEmpty();
            assertThat(held.token()).isPositive();
          }
        });
  }

  @Test
  void settings_haveTheServicesNames() {
    inMemory
        .withPropertyValues(
            "spring.application.name=shop",
            "firstclaim.instance=a1",
            "firstclaim.claim.lease=12s",
            "firstclaim.claim.max-skew=700ms",
            "firstclaim.claim.retention=20d",
            "firstclaim.retry.max-attempts=3")
        .run(
            context -> {
              assertThat(context.getBean(ClaimSettings.class))
                  .isEqualTo(
                      new ClaimSettings(
                          "shop",
                          "a1",
                          Duration.ofSeconds(12),
                          Duration.ofMillis(700),
                          Duration.ofDays(20)));
              assertThat(context.getBean(Deduplicator.class).retry().maxAttempts()).isEqualTo(3);
            });
    inMemory
        .withPropertyValues("spring.application.name=shop", "firstclaim.application=orders")
        .run(
            context ->
                assertThat(context.getBean(ClaimSettings.class).namespace()).isEqualTo("orders"));
  }

  @Test
  void settings_areDescribed_forEditors() throws Exception {
    List<String> metadata = new ArrayList<>();
    for (URL each :
        Collections.list(
            getClass()
                .getClassLoader()
                .getResources("META-INF/spring-configuration-metadata.json"))) {
      try (InputStream in = each.openStream()) {
        metadata.add(new String(in.readAllBytes(), UTF_8));
      }
    }
    assertThat(metadata)
        .filteredOn(each -> each.contains("\"firstclaim.claim.lease\""))
        .singleElement(InstanceOfAssertFactories.STRING)
        .contains("\"firstclaim.claim.backend\"", "\"firstclaim.web.max-answer\"")
        .contains("length of a lease; at least three times the skew bound");
  }

  @Test
  void settingThatIsNone_stopsTheStart() {
    inMemory
        .withPropertyValues("firstclaim.claim.leese=12s")
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .rootCause()
                    .hasMessageContaining("firstclaim.claim.leese"));
  }

  @Test
  void settingsThatCannotBeKept_stopTheStart() {
    refused(
        inMemory.withPropertyValues("firstclaim.claim.lease=1s"),
        "lease 1s is too short",
        "at least 3s");
    refused(
        inMemory.withPropertyValues("firstclaim.retry.max-attempts=0"),
        "firstclaim.retry.*",
        "give 1 or more");
  }

  @Test
  void missingStore_stopsTheStart() {
    refused(
        application.withClassLoader(
            new FilteredClassLoader(DynamoDbClaimStore.class, S3ClaimStore.class)),
        "there is nothing that claims could be kept in",
        "add io.firstclaim:firstclaim-lock-dynamodb");
    refused(
        application
            .withClassLoader(new FilteredClassLoader(S3ClaimStore.class))
            .withPropertyValues("firstclaim.claim.backend=s3"),
        "whose module is not there",
        "add io.firstclaim:firstclaim-lock-s3");
  }

  @Test
  void ambiguousStore_stopsTheStart() {
    refused(application, "there are several", "give dynamodb or s3");
    refused(
        application
            .withBean("one", ClaimStore.class, () -> memory("one"))
            .withBean("other", ClaimStore.class, () -> memory("other")),
        "none of them is primary",
        "@Primary");
  }

  @Test
  void storeThatRefuses_stopsTheStart() {
    refused(
        inMemory
            .withBean(
                Backend.class,
                () ->
                    new Backend() {
                      @Override
                      public FirstclaimProperties.BackendName name() {
                        return FirstclaimProperties.BackendName.DYNAMODB;
                      }

                      @Override
                      public ClaimStore open(TimeSource time) {
                        throw new StoreRefusedException("the table is missing");
                      }
                    })
            .withClassLoader(new FilteredClassLoader(DynamoDbClaimStore.class))
            .withPropertyValues("firstclaim.claim.backend=dynamodb"),
        "the table is missing",
        "firstclaim.claim.create=true");
  }

  @Test
  void bucketWithoutAName_stopsTheStart() {
    refused(
        application.withPropertyValues("firstclaim.claim.backend=s3", "aws.region=eu-central-1"),
        "firstclaim.claim.s3.bucket is not set",
        "name the bucket");
  }

  private static void refused(ApplicationContextRunner application, String fault, String remedy) {
    application.run(
        context -> {
          assertThat(context).hasFailed();
          StartRefusedException refusal = null;
          for (Throwable each = context.getStartupFailure(); each != null; each = each.getCause()) {
            refusal = each instanceof StartRefusedException found ? found : refusal;
          }
          assertThat(refusal).isNotNull();
          FailureAnalysis analysis =
              Objects.requireNonNull(
                  new StartRefusedAnalyzer().analyze(Objects.requireNonNull(refusal)));
          assertThat(refusal).hasMessageContaining(fault);
          assertThat(analysis.getAction()).contains(remedy);
        });
  }

  @Test
  void beansOfOnesOwn_win() {
    ClaimStore own = memory("own");
    Deduplicator deduplicator = Deduplicator.builder(own, TimeSource.system()).build();
    application
        .withBean(ClaimStore.class, () -> own)
        .withBean(Deduplicator.class, () -> deduplicator)
        .run(
            context -> {
              assertThat(context.getBean(ClaimStore.class)).isSameAs(own);
              assertThat(context.getBean(Deduplicator.class)).isSameAs(deduplicator);
            });
  }

  @Test
  void runsAreCounted_andTheStoreIsPartOfHealth() {
    inMemory
        .withBean(MeterRegistry.class, SimpleMeterRegistry::new)
        .run(
            context -> {
              context
                  .getBean(Deduplicator.class)
                  .run(RecordId.of("1"), Fingerprint.none(), lease -> null);
              assertThat(
                      context
                          .getBean(MeterRegistry.class)
                          .get("firstclaim.runs")
                          .tag("result", "ran")
                          .timer()
                          .count())
                  .isOne();
              assertThat(
                      Objects.requireNonNull(
                              context
                                  .getBean("firstclaimHealthIndicator", HealthIndicator.class)
                                  .health())
                          .getStatus())
                  .isEqualTo(Status.UP);
            });
    inMemory
        .withPropertyValues("management.health.firstclaim.enabled=false")
        .run(context -> assertThat(context).doesNotHaveBean(HealthIndicator.class));
  }

  @Test
  void healthIsDown_withTheCause_whileTheStoreDoesNotAnswer() {
    FaultyStore store = new FaultyStore(memory("own"));
    store.setDown(true);
    application
        .withBean(ClaimStore.class, () -> store)
        .run(
            context -> {
              Health health =
                  Objects.requireNonNull(
                      context
                          .getBean("firstclaimHealthIndicator", HealthIndicator.class)
                          .health(true));
              assertThat(health.getStatus()).isEqualTo(Status.DOWN);
              assertThat(health.getDetails())
                  .containsEntry(
                      "error", "io.firstclaim.lock.StoreUnavailableException: no answer");
            });
  }

  @Configuration(proxyBeanMethods = false)
  static class Container {
    @Bean
    AwsConnectionDetails details() {
      return new AwsConnectionDetails() {
        @Override
        public URI getEndpoint() {
          return URI.create("http://127.0.0.1:4566");
        }

        @Override
        public String getRegion() {
          return "eu-north-1";
        }

        @Override
        public String getAccessKey() {
          return "key";
        }

        @Override
        public String getSecretKey() {
          return "secret";
        }
      };
    }
  }

  @Test
  void awsIsReached_asAServiceConnectionSays() {
    inMemory
        .withUserConfiguration(Container.class)
        .run(
            context -> {
              AwsAccess access = context.getBean(AwsAccess.class);
              assertThat(access.endpoint()).isEqualTo(URI.create("http://127.0.0.1:4566"));
              assertThat(access.region()).isEqualTo(Region.EU_NORTH_1);
              assertThat(
                      Objects.requireNonNull(access.credentials())
                          .resolveCredentials()
                          .accessKeyId())
                  .isEqualTo("key");
            });
  }
}
