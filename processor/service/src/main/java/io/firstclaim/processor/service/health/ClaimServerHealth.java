package io.firstclaim.processor.service.health;

import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.StoreException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.store.DrivenClaimStore;
import io.firstclaim.processor.service.config.TakesRecords;
import io.firstclaim.processor.service.instance.Served;
import io.micronaut.context.annotation.Requires;
import io.micronaut.core.async.publisher.Publishers;
import io.micronaut.health.HealthStatus;
import io.micronaut.management.health.indicator.HealthIndicator;
import io.micronaut.management.health.indicator.HealthResult;
import io.micronaut.management.health.indicator.annotation.Readiness;
import io.micronaut.scheduling.TaskExecutors;
import jakarta.inject.Named;
import jakarta.inject.Singleton;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import org.reactivestreams.Publisher;

/**
 * Whether the lock store answers an instance that serves claims alone. Who looks needs no token,
 * and must not take the store from those who claim: it is asked once at a time.
 */
@Singleton
@Readiness
@Requires(condition = TakesRecords.Not.class)
final class ClaimServerHealth implements HealthIndicator {
  /** What is read: a name that nobody need have claimed. */
  private static final RecordId PROBE = RecordId.of("firstclaim-readiness").asMutex();

  private final Served served;
  private final SharedAnswer<HealthResult> answer;
  private volatile boolean answers; // when it was last asked

  ClaimServerHealth(
      Served served, @Named(TaskExecutors.IO) ExecutorService threads, TimeSource time) {
    this.served = served;
    this.answer = new SharedAnswer<>(this::ask, threads, time);
  }

  @Override
  public Publisher<HealthResult> getResult() {
    return Publishers.fromCompletableFuture(answer::get);
  }

  /**
   * Whether the store has answered when it was last asked, and no stop was told; it is asked anew,
   * for who looks next. Never waits.
   */
  boolean isUp() {
    var _ = answer.get();
    return answers && !served.isStopping();
  }

  private HealthResult ask() {
    Optional<String> fault =
        served
            .opened()
            .map(ClaimServerHealth::faultOf)
            .orElse(Optional.of("waits for its first answer"));
    answers = fault.isEmpty();
    HealthStatus status = fault.isEmpty() ? HealthStatus.UP : HealthStatus.DOWN;
    Map<String, String> details = fault.map(why -> Map.of("fault", why)).orElse(Map.of());
    return HealthResult.builder("store", status).details(details).build();
  }

  private static Optional<String> faultOf(DrivenClaimStore claims) {
    try {
      var _ = claims.find(PROBE);
      return Optional.empty();
    } catch (StoreException e) {
      return Optional.of(String.valueOf(e.getMessage()));
    }
  }
}
