package io.firstclaim.processor.engine.handler;

import io.firstclaim.lock.Lease;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.keeper.KeptLease;
import io.firstclaim.processor.engine.admission.Breaker;
import io.firstclaim.processor.engine.intake.Delivery;
import io.firstclaim.processor.handler.RecordHandler;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A handler, and the record that it is to be called with.
 *
 * @param id the record's own
 * @param held the record's lease
 * @param resources the leases of what it touches
 * @param trial hears how the downstream took the record
 * @param abandoned is run if the handler ignores its interrupt; another thread must then go on
 */
public record HandlerCall(
    RecordHandler handler,
    RecordId id,
    Delivery delivery,
    KeptLease held,
    List<Lease> resources,
    Breaker.Trial trial,
    Runnable abandoned) {

  Map<RecordId, Long> resourceTokens() {
    if (resources.isEmpty()) {
      return Map.of();
    }
    Map<RecordId, Long> tokens = new TreeMap<>();
    resources.forEach(resource -> tokens.put(resource.id(), resource.token()));
    return Collections.unmodifiableMap(tokens);
  }
}
