package io.firstclaim.micronaut.config;

import io.firstclaim.lock.Backoff;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.deduplicator.Deduplicator;
import io.firstclaim.lock.deduplicator.RetryPolicy;
import io.firstclaim.lock.deduplicator.RunListener;
import io.firstclaim.lock.mutex.Mutexes;
import io.firstclaim.micronaut.config.FirstclaimSettings.BackendName;
import io.micronaut.context.BeanContext;
import io.micronaut.context.annotation.Bean;
import io.micronaut.context.annotation.Factory;
import io.micronaut.context.annotation.Requires;
import io.micronaut.context.exceptions.NonUniqueBeanException;
import io.micronaut.core.annotation.Nullable;
import io.micronaut.runtime.ApplicationConfiguration;
import jakarta.inject.Singleton;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Locale;

/**
 * The claim store of {@code firstclaim.claim.*}, and a {@link Deduplicator} and {@link Mutexes} on
 * it; beans of one's own go before each of them. A missing or ambiguous store stops the start.
 */
@Factory
final class FirstclaimFactory {
  @Singleton
  @Requires(missingBeans = TimeSource.class)
  TimeSource time() {
    return TimeSource.system();
  }

  @Singleton
  @Requires(missingBeans = ClaimSettings.class)
  ClaimSettings claims(
      FirstclaimSettings.Instance instance,
      FirstclaimSettings.Claim claim,
      ApplicationConfiguration configuration) {
    String application =
        given(instance.application(), configuration.getName().orElse("firstclaim"));
    try {
      return new ClaimSettings(
          given(claim.namespace(), application),
          given(instance.instance(), hostName() + "-" + Nonce.random().toString().substring(0, 8)),
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

  @Singleton
  @Requires(missingBeans = ClaimStore.class)
  ClaimStore store(FirstclaimSettings.Claim claim, List<Backend> backends, TimeSource time) {
    return chosen(claim.backend(), backends).open(time);
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

  @Singleton
  @Requires(missingBeans = RetryPolicy.class)
  RetryPolicy retry(FirstclaimSettings.Retry retry) {
    try {
      return new RetryPolicy(retry.maxAttempts(), new Backoff(retry.backoff(), retry.maxBackoff()));
    } catch (IllegalArgumentException e) {
      throw new StartRefusedException(
          "firstclaim.retry.* is no way to try again", String.valueOf(e.getMessage()));
    }
  }

  @Singleton
  @Bean(preDestroy = "close")
  @Requires(missingBeans = Deduplicator.class)
  Deduplicator deduplicator(
      BeanContext context,
      FirstclaimSettings.Claim claim,
      FirstclaimSettings.Handler handler,
      TimeSource time,
      RetryPolicy retry,
      List<RunListener> listeners) {
    return Deduplicator.builder(single(context), time)
        .retry(retry)
        .renew(claim.renew())
        .atMost(handler.timeout())
        .listener((id, result, took) -> listeners.forEach(told -> told.ended(id, result, took)))
        .build();
  }

  @Singleton
  @Bean(preDestroy = "close")
  @Requires(missingBeans = Mutexes.class)
  Mutexes mutexes(BeanContext context, TimeSource time) {
    return new Mutexes(single(context), time);
  }

  private static ClaimStore single(BeanContext context) {
    try {
      return context.getBean(ClaimStore.class);
    } catch (NonUniqueBeanException e) {
      throw new StartRefusedException(
          "there are several beans that are a ClaimStore, and none of them is primary",
          "mark the one to use with @Primary");
    }
  }
}
