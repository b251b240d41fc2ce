package io.firstclaim.processor.service.instance;

import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.context.propagation.TextMapPropagator;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * What the service's records are traced with: Micronaut's OpenTelemetry, or nothing at all. Closed
 * after everything that is traced, so that the last spans are sent too. Thread-safe.
 */
public final class Telemetry implements AutoCloseable {
  /** Fits into the time that is left of a stop, whatever becomes of the collector. */
  private static final Duration LEAST = Duration.ofSeconds(1);

  private static final Duration MOST = Duration.ofSeconds(5);

  private final OpenTelemetry telemetry;
  private volatile Duration lastSpans = LEAST;

  /** Tracing by this; {@link OpenTelemetry#noop()} if there is none. */
  public Telemetry(OpenTelemetry telemetry) {
    this.telemetry = telemetry;
  }

  /** The OpenTelemetry itself. */
  public OpenTelemetry get() {
    return telemetry;
  }

  /** Tells those that a record is handed to of its trace; does nothing while tracing is off. */
  public TextMapPropagator propagator() {
    return telemetry.getPropagators().getTextMapPropagator();
  }

  /**
   * Lets the last spans take what is left of a stop's grace, for five seconds in all: the first
   * that are sent may well be the last, and a connection is to be made for them.
   *
   * @param left may be negative
   */
  public void extend(Duration left) {
    Duration longer = LEAST.plus(left.isNegative() ? Duration.ZERO : left);
    lastSpans = longer.compareTo(MOST) < 0 ? longer : MOST;
  }

  /** How long the last spans may take. */
  Duration lastSpans() {
    return lastSpans;
  }

  /** Sends what was not sent yet, for a second at least, and nothing from then on. */
  @Override
  public void close() {
    if (telemetry instanceof OpenTelemetrySdk sdk) {
      var _ = sdk.shutdown().join(lastSpans.toMillis(), TimeUnit.MILLISECONDS);
    }
  }
}
