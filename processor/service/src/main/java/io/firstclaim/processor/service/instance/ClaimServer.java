package io.firstclaim.processor.service.instance;

import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.store.DrivenClaimStore;
import io.firstclaim.processor.service.config.ClaimServerSettings;
import io.firstclaim.processor.service.config.TakesRecords;
import io.firstclaim.processor.service.metrics.EngineMetrics;
import io.firstclaim.processor.service.store.LockStore;
import io.firstclaim.processor.service.store.Upkeep;
import io.micronaut.context.annotation.Requires;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** An instance that serves claims over HTTP and takes no records: it needs nothing but a store. */
@Singleton
@Requires(condition = TakesRecords.Not.class)
public final class ClaimServer implements Served {
  private static final Logger LOG = LoggerFactory.getLogger(ClaimServer.class);
  private static final Duration LOOK_EVERY = Duration.ofMillis(500);

  /** Within the 30 s that Kubernetes allows. */
  private static final Duration CLOSES_WITHIN = Duration.ofSeconds(29);

  private final ClaimServerSettings settings;
  private final LockStore store;
  private final Upkeep upkeep;
  private final EngineMetrics metrics;
  private final TimeSource time;
  private final AtomicReference<@Nullable DrivenClaimStore> claims = new AtomicReference<>();
  private volatile boolean isStopping;

  ClaimServer(
      ClaimServerSettings settings,
      LockStore store,
      Upkeep upkeep,
      EngineMetrics metrics,
      TimeSource time) {
    this.settings = settings;
    this.store = store;
    this.upkeep = upkeep;
    this.metrics = metrics;
    this.time = time;
  }

  @Override
  public void run() throws InterruptedException {
    @Nullable String told = null;
    while (claims.get() == null) {
      try {
        claims.set(store.open(time, metrics, upkeep));
      } catch (StoreUnavailableException e) {
        String why = String.valueOf(e.getMessage());
        if (!why.equals(told)) {
          LOG.warn("Waiting for the lock store: {}", why);
        }
        told = why;
        time.sleep(LOOK_EVERY);
      }
    }
    LOG.info(
        "No input topics: serves claims over HTTP alone, as {}, from {}",
        settings.store().claims().holder(),
        store.name());
  }

  @Override
  public Duration stop() {
    isStopping = true;
    return CLOSES_WITHIN;
  }

  @Override
  public Optional<DrivenClaimStore> opened() {
    return Optional.ofNullable(claims.get());
  }

  @Override
  public boolean isStopping() {
    return isStopping;
  }
}
