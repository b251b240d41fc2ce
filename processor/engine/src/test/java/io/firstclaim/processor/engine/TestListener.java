package io.firstclaim.processor.engine;

import io.firstclaim.processor.engine.api.EngineListener;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.consumer.Consumer;

/** Remembers what it is told. */
final class TestListener implements EngineListener {
  private final Queue<Delivered> delivered = new ConcurrentLinkedQueue<>();
  private final Queue<Claimed> claimed = new ConcurrentLinkedQueue<>();
  final AtomicInteger takeovers = new AtomicInteger();
  final AtomicInteger tooOld = new AtomicInteger();
  final AtomicInteger handled = new AtomicInteger();
  final Queue<Consumer<?, ?>> opened = new ConcurrentLinkedQueue<>();
  final Queue<Consumer<?, ?>> replaced = new ConcurrentLinkedQueue<>();
  volatile boolean fails;
  final AtomicInteger commitFailures = new AtomicInteger();

  List<Delivered> delivered() {
    return List.copyOf(delivered);
  }

  List<Claimed> claimed() {
    return List.copyOf(claimed);
  }

  @Override
  public void opened(Consumer<?, ?> consumer) {
    opened.add(consumer);
  }

  @Override
  public void replaced(Consumer<?, ?> consumer) {
    replaced.add(consumer);
  }

  @Override
  public void delivered(Delivered result) {
    delivered.add(result);
  }

  @Override
  public void claimed(Claimed result) {
    claimed.add(result);
  }

  @Override
  public void tookOver() {
    takeovers.incrementAndGet();
  }

  @Override
  public void tooOld() {
    tooOld.incrementAndGet();
  }

  @Override
  public void commitFailed() {
    commitFailures.incrementAndGet();
    if (fails) {
      throw new IllegalStateException("a defect of the listener");
    }
  }

  @Override
  public void handled(Duration took) {
    handled.incrementAndGet();
  }
}
