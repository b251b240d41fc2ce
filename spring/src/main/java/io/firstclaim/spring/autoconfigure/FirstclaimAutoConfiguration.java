package io.firstclaim.spring.autoconfigure;

import io.firstclaim.lock.Backoff;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.deduplicator.Deduplicator;
import io.firstclaim.lock.deduplicator.RetryPolicy;
import io.firstclaim.lock.deduplicator.RunListener;
import io.firstclaim.lock.deduplicator.RunMetrics;
import io.firstclaim.lock.dynamodb.DynamoDbClaimStore;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.lock.mutex.Mutexes;
import io.firstclaim.lock.s3.S3ClaimStore;
import io.firstclaim.spring.autoconfigure.FirstclaimProperties.BackendName;
import io.micrometer.core.instrument.MeterRegistry;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

/**
 * The claim store of {@code firstclaim.claim.*}, and a {@link Deduplicator} and {@link Mutexes} on
 * it; beans of one's own go before each of them. A missing or ambiguous store stops the start.
 */
@AutoConfiguration(
    afterName = {
      "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
      "io.awspring.cloud.autoconfigure.core.CredentialsProviderAutoConfiguration",
      "io.awspring.cloud.autoconfigure.core.RegionProviderAutoConfiguration"
    })
@EnableConfigurationProperties(FirstclaimProperties.class)
public class FirstclaimAutoConfiguration {
  /** Made by Spring. */
  FirstclaimAutoConfiguration() {}

  @Bean
  @ConditionalOnMissingBean
  TimeSource firstclaimTime() {
    return TimeSource.system();
  }

  @Bean
  @ConditionalOnMissingBean
  ClaimSettings firstclaimClaims(FirstclaimProperties properties, Environment environment) {
    FirstclaimProperties.Claim claim = properties.claim();
    String application =
        given(
            properties.application(),
            given(environment.getProperty("spring.application.name"), "firstclaim"));
    try {
      return new ClaimSettings(
          given(claim.namespace(), application),
          given(
              properties.instance(), hostName() + "-" + Nonce.random().toString().substring(0, 8)),
          claim.lease(),
          claim.maxSkew(),
          claim.retention());
    } catch (IllegalArgumentException e) {
      throw new StartRefusedException(
          "firstclaim.claim.* cannot keep what claims promise", String.valueOf(e.getMessage()));
    }
  }

  private static String given(@Nullable String value, String otherwise) {
    return value == null || value.isBlank() ? otherwise : value;
  }

  private static String hostName() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return "unknown-host";
    }
  }

  @Bean
  Backend firstclaimInMemory(ClaimSettings claims) {
    return new Backend() {
      @Override
      public BackendName name() {
        return BackendName.MEMORY;
      }

      @Override
      public ClaimStore open(TimeSource time) {
        return new MemoryClaimStore(claims, time);
      }
    };
  }

  @Bean
  @ConditionalOnMissingBean(ClaimStore.class)
  ClaimStore firstclaimStore(
      FirstclaimProperties properties, List<Backend> backends, TimeSource time) {
    Backend backend = chosen(properties.claim().backend(), backends);
    try {
      return backend.open(time);
    } catch (StoreRefusedException e) {
      throw new StartRefusedException(
          String.valueOf(e.getMessage()),
          "firstclaim.claim.create=true has a missing table or bucket created");
    }
  }

  private static Backend chosen(@Nullable BackendName name, List<Backend> backends) {
    List<Backend> fitting =
        backends.stream()
            .filter(
                backend ->
                    name == null ? backend.name() != BackendName.MEMORY : backend.name() == name)
            .toList();
    if (fitting.size() == 1) {
      return fitting.getFirst();
    }
    if (!fitting.isEmpty()) {
      throw new StartRefusedException(
          "firstclaim.claim.backend is not set, and there are several that claims could be kept in",
          "give dynamodb or s3");
    }
    throw name == null
        ? new StartRefusedException(
            "there is nothing that claims could be kept in",
            "add io.firstclaim:firstclaim-lock-dynamodb or io.firstclaim:firstclaim-lock-s3, or a"
                + " ClaimStore bean of your own; firstclaim.claim.backend=memory is for one process"
                + " only")
        : new StartRefusedException(
            "firstclaim.claim.backend is " + text(name) + ", whose module is not there",
            "add io.firstclaim:firstclaim-lock-" + text(name));
  }

  private static String text(BackendName name) {
    return name.name().toLowerCase(Locale.ROOT);
  }

  @Bean
  @ConditionalOnMissingBean
  RetryPolicy firstclaimRetry(FirstclaimProperties properties) {
    FirstclaimProperties.Retry retry = properties.retry();
    try {
      return new RetryPolicy(retry.maxAttempts(), new Backoff(retry.backoff(), retry.maxBackoff()));
    } catch (IllegalArgumentException e) {
      throw new StartRefusedException(
          "firstclaim.retry.* is no way to try again", String.valueOf(e.getMessage()));
    }
  }

  @Bean
  @ConditionalOnMissingBean
  Deduplicator firstclaimDeduplicator(
      FirstclaimProperties properties,
      ObjectProvider<ClaimStore> stores,
      TimeSource time,
      RetryPolicy retry,
      ObjectProvider<RunListener> listeners) {
    return deduplicator(single(stores), time, properties, listeners)
        .retry(retry)
        .atMost(properties.handler().timeout())
        .build();
  }

  /** Builds a deduplicator that keeps its leases as the settings say, and tells these listeners. */
  public static Deduplicator.Builder deduplicator(
      ClaimStore store,
      TimeSource time,
      FirstclaimProperties properties,
      ObjectProvider<RunListener> listeners) {
    List<RunListener> all = listeners.orderedStream().toList();
    return Deduplicator.builder(store, time)
        .renew(properties.claim().renew())
        .listener((id, result, took) -> all.forEach(told -> told.ended(id, result, took)));
  }

  @Bean
  @ConditionalOnMissingBean
  Mutexes firstclaimMutexes(ObjectProvider<ClaimStore> stores, TimeSource time) {
    return new Mutexes(single(stores), time);
  }

  private static ClaimStore single(ObjectProvider<ClaimStore> stores) {
    ClaimStore store = stores.getIfUnique();
    if (store == null) {
      throw new StartRefusedException(
          "there are several beans that are a ClaimStore, and none of them is primary",
          "mark the one to use with @Primary");
    }
    return store;
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(DynamoDbClaimStore.class)
  static class OnDynamoDb {
    @Bean
    Backend firstclaimOnDynamoDb(
        FirstclaimProperties properties, ClaimSettings claims, ObjectProvider<AwsAccess> access) {
      return new DynamoDbBackend(properties.claim(), claims, given(access));
    }
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(S3ClaimStore.class)
  static class OnS3 {
    @Bean
    Backend firstclaimOnS3(
        FirstclaimProperties properties, ClaimSettings claims, ObjectProvider<AwsAccess> access) {
      return new S3Backend(properties.claim(), claims, given(access));
    }
  }

  private static AwsAccess given(ObjectProvider<AwsAccess> access) {
    return access.getIfAvailable(() -> new AwsAccess(null, null, null));
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass({MeterRegistry.class, RunMetrics.class})
  static class Metrics {
    @Bean
    @ConditionalOnBean(MeterRegistry.class)
    @ConditionalOnMissingBean
    RunMetrics firstclaimRunMetrics(MeterRegistry registry) {
      return new RunMetrics(registry);
    }
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass({HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
  @ConditionalOnEnabledHealthIndicator("firstclaim")
  static class OfStore {
    @Bean
    @ConditionalOnMissingBean(name = "firstclaimHealthIndicator")
    HealthIndicator firstclaimHealthIndicator(ObjectProvider<ClaimStore> stores) {
      return new StoreHealth(single(stores));
    }
  }
}
