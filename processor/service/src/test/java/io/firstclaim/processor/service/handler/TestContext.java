package io.firstclaim.processor.service.handler;

import io.firstclaim.lock.LeaseLostException;
import io.firstclaim.lock.RecordId;
import io.firstclaim.processor.handler.RecordContext;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.context.Context;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.jspecify.annotations.Nullable;

/** A record in hand, under a lease that is held or not. */
record TestContext(
    RecordId id,
    ConsumerRecord<byte[], byte[]> record,
    BooleanSupplier held,
    Map<RecordId, Long> resourceTokens)
    implements RecordContext {
  /** What the header of that name says while the context is {@link #traced()}. */
  static final String TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

  /** A context that is traced. */
  static Context traced() {
    String[] parts = TRACEPARENT.split("-", -1);
    return Context.root()
        .with(
            Span.wrap(
                SpanContext.create(
                    parts[1], parts[2], TraceFlags.getSampled(), TraceState.getDefault())));
  }

  static TestContext of(String value) {
    return of(value.getBytes(StandardCharsets.UTF_8));
  }

  static TestContext of(byte @Nullable [] value) {
    return of(value, new RecordHeaders());
  }

  @SuppressWarnings("NullAway") // Kafka's types are unmarked; a record's value may be null
  static TestContext of(byte @Nullable [] value, Headers headers) {
    return new TestContext(
        RecordId.of("order-1"),
        new ConsumerRecord<>(
            "orders.v1",
            3,
            4711,
            0,
            TimestampType.CREATE_TIME,
            0,
            0,
            "the key".getBytes(StandardCharsets.UTF_8),
            value,
            headers,
            Optional.empty()),
        () -> true,
        Map.of());
  }

  TestContext with(RecordId other) {
    return new TestContext(other, record, held, resourceTokens);
  }

  TestContext touching(Map<RecordId, Long> tokens) {
    return new TestContext(id, record, held, tokens);
  }

  TestContext lost() {
    return heldWhile(() -> false);
  }

  TestContext heldWhile(BooleanSupplier isHeld) {
    return new TestContext(id, record, isHeld, resourceTokens);
  }

  @Override
  public long token() {
    return 42;
  }

  @Override
  public int attempt() {
    return 2;
  }

  @Override
  public String zone() {
    return "zone-a";
  }

  @Override
  public Instant deadline() {
    return Instant.MAX;
  }

  @Override
  public void ensureHeld() {
    if (!held.getAsBoolean()) {
      throw new LeaseLostException("the lease is over");
    }
  }
}
