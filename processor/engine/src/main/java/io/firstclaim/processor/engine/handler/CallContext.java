package io.firstclaim.processor.engine.handler;

import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.keeper.HeldLease;
import io.firstclaim.processor.handler.RecordContext;
import java.time.Instant;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** What a handler is told of its call. */
record CallContext(
    RecordId id,
    ConsumerRecord<byte[], byte[]> record,
    HeldLease held,
    Map<RecordId, Long> resourceTokens,
    String zone,
    Instant deadline)
    implements RecordContext {

  @Override
  public long token() {
    return held.token();
  }

  @Override
  public int attempt() {
    return held.attempt();
  }

  @Override
  public void ensureHeld() {
    held.ensureHeld();
  }
}
