package io.firstclaim.lock.testkit.framework;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/** How often each value came to a web handler, and what is to happen there. Thread-safe. */
public final class WebDesk {
  private final Map<String, AtomicInteger> calls = new ConcurrentHashMap<>();
  private final Map<String, CountDownLatch> waits = new ConcurrentHashMap<>();
  private final AtomicInteger interrupted = new AtomicInteger();

  /** A handler's work; returns the how manieth with this value it is. */
  public int call(String value) {
    int call = calls.computeIfAbsent(value, unused -> new AtomicInteger()).incrementAndGet();
    CountDownLatch wait = waits.get(value);
    if (wait != null) {
      try {
        wait.await();
      } catch (InterruptedException e) {
        interrupted.incrementAndGet();
        throw new IllegalStateException(e);
      }
    }
    return call;
  }

  /** How often this value came. */
  public int calls(String value) {
    AtomicInteger number = calls.get(value);
    return number == null ? 0 : number.get();
  }

  /** How often any value came. */
  public int calls() {
    return calls.values().stream().mapToInt(AtomicInteger::get).sum();
  }

  /** How often a handler that waited was interrupted. */
  public int interrupted() {
    return interrupted.get();
  }

  /** Has the handlers of a value wait until the latch is at zero. */
  public CountDownLatch hold(String value) {
    CountDownLatch go = new CountDownLatch(1);
    waits.put(value, go);
    return go;
  }
}
