package io.firstclaim.processor.service.instance;

import io.firstclaim.lock.Moment;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.engine.Engine;
import io.firstclaim.processor.engine.api.EngineState;
import io.firstclaim.processor.service.acts.ActLog;
import io.firstclaim.processor.service.acts.ActMessage;
import io.firstclaim.processor.service.acts.Pauses;
import io.firstclaim.processor.service.config.ServiceSettings;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has the engine take no records while this instance, its zone or the whole application is paused.
 * An instance that starts takes none until it has read whether it is; if it cannot read that, it
 * begins after half a minute, and says so. Thread-safe.
 */
@Singleton
public class Pausing {
  private static final Logger LOG = LoggerFactory.getLogger(Pausing.class);
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final Duration LOOK_EVERY = Duration.ofMillis(100);

  private final Engine engine;
  private final Pauses pauses;
  private final String zone;
  private final TimeSource time;
  private @Nullable String own; // guarded by this
  private boolean isKnown = true; // guarded by this

  Pausing(Service service, Pauses pauses, ServiceSettings settings, TimeSource time) {
    this.engine = service.engine();
    this.pauses = pauses;
    this.zone = settings.engine().zone();
    this.time = time;
  }

  /** Has the engine, which has not started yet, wait for what is in this log. */
  void await(ActLog log) {
    synchronized (this) {
      isKnown = false;
    }
    engine.startPaused("whether zone %s is paused is being read".formatted(zone));
    Thread.ofVirtual().name("firstclaim-paused").start(() -> look(log));
  }

  private void look(ActLog log) {
    try {
      @Nullable Moment running = null;
      while (!(engine.state() instanceof EngineState.Ended)) {
        if (running == null && engine.state() instanceof EngineState.Running) {
          running = time.now();
        }
        Optional<String> fault = log.fault();
        if (running != null
            && (fault.isEmpty() || time.now().since(running).compareTo(PATIENCE) > 0)) {
          fault.ifPresent(
              why -> LOG.error("Records are taken, though zone {} may be paused: {}", zone, why));
          know();
          return;
        }
        time.sleep(LOOK_EVERY);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private synchronized void know() {
    isKnown = true;
    apply();
  }

  /** Takes in what operators said of zones and the application. Does not block. */
  void hear(ActMessage said) {
    pauses.hear(said);
    if (said instanceof ActMessage.Pause) {
      apply();
    }
  }

  /**
   * Has this instance take no more records.
   *
   * @throws IllegalStateException if the engine is not running
   */
  public synchronized void pause(String reason) {
    requireRunning();
    own = reason;
    apply();
  }

  /**
   * Has this instance take records again, unless its zone or the application is paused.
   *
   * @throws IllegalStateException if one of these is, or the engine is not running
   */
  public synchronized void resume() {
    requireRunning();
    own = null;
    apply();
    pauses
        .of(zone)
        .ifPresent(
            wider -> {
              throw new IllegalStateException(
                  "%s: resume that, with its scope".formatted(text(wider)));
            });
  }

  private void requireRunning() {
    if (!(engine.state() instanceof EngineState.Running)) {
      throw new IllegalStateException("the engine is not running");
    }
  }

  private synchronized void apply() {
    if (!isKnown || !(engine.state() instanceof EngineState.Running running)) {
      return; // the pauses are applied once the engine runs
    }
    Optional<String> why = pauses.of(zone).map(Pausing::text).or(() -> Optional.ofNullable(own));
    try {
      if (why.isPresent()) {
        engine.pause(why.get());
      } else if (running.paused().isPresent()) {
        engine.resume();
      }
    } catch (IllegalStateException e) {
      LOG.debug("The engine has just ended");
    }
  }

  private static String text(ActMessage.Pause pause) {
    return "%s paused by %s: %s"
        .formatted(
            switch (pause.scope()) {
              case ZONE -> "zone " + pause.zone();
              case APPLICATION -> "the application";
            },
            pause.by(),
            pause.reason());
  }
}
