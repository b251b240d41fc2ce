package io.firstclaim.processor.engine.consumer;

import io.firstclaim.lock.Lease;
import io.firstclaim.lock.LeaseLostException;
import io.firstclaim.lock.RecordId;
import io.firstclaim.processor.engine.claim.HeldLease;
import io.firstclaim.processor.handler.RecordContext;
import java.time.Instant;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** The context of one handler call. */
record HandlerCall(
    RecordId id,
    ConsumerRecord<byte[], byte[]> record,
    HeldLease held,
    String zone,
    Instant deadline)
    implements RecordContext {

  @Override
  public long token() {
    return held.lease().token();
  }

  @Override
  public int attempt() {
    return held.lease().attempt();
  }

  @Override
  public void ensureHeld() {
    if (!held.isHeld()) {
      Lease lease = held.lease();
      throw new LeaseLostException(
          "the lease on %s with token %d is no longer held".formatted(lease.id(), lease.token()));
    }
  }
}
