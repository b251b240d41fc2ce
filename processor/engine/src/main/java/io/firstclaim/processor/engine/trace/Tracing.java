package io.firstclaim.processor.engine.trace;

import io.opentelemetry.api.OpenTelemetry;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** Begins the traces of deliveries. Thread-safe. */
public interface Tracing {
  /** Tracing that is off. */
  Tracing OFF = record -> Trace.NONE;

  /** The trace of a record that was delivered just now. */
  Trace begin(ConsumerRecord<?, ?> record);

  /**
   * Tracing by this OpenTelemetry; {@link #OFF} if that is {@link OpenTelemetry#noop()}.
   *
   * @param zone of this instance
   * @param group the consumer group in which it reads
   */
  static Tracing by(OpenTelemetry telemetry, String zone, String group) {
    return telemetry.equals(OpenTelemetry.noop())
        ? OFF
        : new DeliveryTracing(telemetry, zone, group);
  }
}
