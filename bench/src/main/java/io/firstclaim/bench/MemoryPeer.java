package io.firstclaim.bench;

import io.firstclaim.bench.Instance.Plan;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.processor.handler.HandlerResult;
import java.util.List;
import java.util.Optional;

/**
 * One zone's engine with the store in memory.
 *
 * @param announced whether it publishes and reads outcomes
 */
record MemoryPeer(String bootstrapServers, boolean announced) implements Peer {
  static Peer silent(String bootstrapServers) {
    return new MemoryPeer(bootstrapServers, false);
  }

  static Peer announced(String bootstrapServers) {
    return new MemoryPeer(bootstrapServers, true);
  }

  @Override
  public Figure run(Work work) throws Exception {
    Optional<String> outcomes = announced ? Optional.of(work.outcomes()) : Optional.empty();
    Plan plan = Plan.of(work.topic(), outcomes).inFlight(work.atOnce());
    var store = new MemoryClaimStore(plan.store(), TimeSource.system());
    try (Instance zone = new Instance(bootstrapServers, plan, store, _ -> HandlerResult.done())) {
      return Instance.measure(work.records(), List.of(zone), Instance::completed);
    }
  }

  @Override
  public void close() {}
}
