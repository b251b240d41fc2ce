package io.firstclaim.processor.engine.trace;

import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapPropagator;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * Begins traces that continue the producer's, as far as the record's headers tell it. Attributes
 * are named as OpenTelemetry's semantic conventions for messaging name them. Thread-safe.
 */
final class DeliveryTracing implements Tracing {
  private static final String SCOPE = "io.firstclaim.engine";

  private static final AttributeKey<String> SYSTEM = AttributeKey.stringKey("messaging.system");
  private static final AttributeKey<String> OPERATION =
      AttributeKey.stringKey("messaging.operation.name");
  private static final AttributeKey<String> OPERATION_TYPE =
      AttributeKey.stringKey("messaging.operation.type");
  private static final AttributeKey<String> DESTINATION =
      AttributeKey.stringKey("messaging.destination.name");
  private static final AttributeKey<String> PARTITION =
      AttributeKey.stringKey("messaging.destination.partition.id");
  private static final AttributeKey<String> GROUP =
      AttributeKey.stringKey("messaging.consumer.group.name");
  private static final AttributeKey<Long> OFFSET = AttributeKey.longKey("messaging.kafka.offset");
  private static final AttributeKey<String> ZONE = AttributeKey.stringKey("firstclaim.zone");

  private final Tracer tracer;
  private final TextMapPropagator propagator;
  private final Attributes ofAll;

  DeliveryTracing(OpenTelemetry telemetry, String zone, String group) {
    this.tracer = telemetry.getTracer(SCOPE);
    this.propagator = telemetry.getPropagators().getTextMapPropagator();
    this.ofAll =
        Attributes.builder()
            .put(SYSTEM, "kafka")
            .put(OPERATION, "process")
            .put(OPERATION_TYPE, "process")
            .put(GROUP, group)
            .put(ZONE, zone)
            .build();
  }

  @Override
  public Trace begin(ConsumerRecord<?, ?> record) {
    return new DeliveryTrace(
        tracer,
        "process " + record.topic(),
        ofAll.toBuilder()
            .put(DESTINATION, record.topic())
            .put(PARTITION, Integer.toString(record.partition()))
            .put(OFFSET, record.offset())
            .build(),
        propagator.extract(Context.root(), record.headers(), new PlainHeaders()));
  }
}
