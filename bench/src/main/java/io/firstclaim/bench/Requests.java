package io.firstclaim.bench;

import io.firstclaim.lock.TimeSource;
import java.time.Duration;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.core.interceptor.SdkExecutionAttribute;
import software.amazon.awssdk.services.s3.S3ClientBuilder;

/**
 * Counts what a client of a dataset's bucket sends, retries too; and makes the way to it longer, at
 * no cost of this machine's, which has clients and server on its two cores. Thread-safe.
 */
final class Requests implements ExecutionInterceptor {
  private final Map<String, LongAdder> counts = new ConcurrentHashMap<>();
  private final AtomicLong lastObject = new AtomicLong();
  private final Duration latency;

  /** Adds this to each request. */
  Requests(Duration latency) {
    this.latency = latency;
  }

  @Override
  public void beforeTransmission(Context.BeforeTransmission request, ExecutionAttributes with) {
    String operation = with.getAttribute(SdkExecutionAttribute.OPERATION_NAME);
    String path = request.httpRequest().encodedPath();
    counts.computeIfAbsent(what(path) + " " + operation, _ -> new LongAdder()).increment();
    try {
      TimeSource.system().sleep(latency);
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void afterExecution(Context.AfterExecution answer, ExecutionAttributes with) {
    if (what(answer.httpRequest().encodedPath()).equals("object")) {
      lastObject.set(System.nanoTime());
    }
  }

  /** Counts what this client sends from now on. */
  S3ClientBuilder countedBy(S3ClientBuilder client) {
    // Not overrideConfiguration(Consumer), which would forget what is set.
    return client.overrideConfiguration(
        client.overrideConfiguration().toBuilder().addExecutionInterceptor(this).build());
  }

  private static String what(String path) {
    if (path.contains("metastore/manifests/")) {
      return "manifest";
    }
    if (path.contains("metastore/locks/")) {
      return "lock";
    }
    return path.contains("metastore/") ? "root" : "object";
  }

  /** When the last request for an object of the dataset was answered, on the clock of nanoTime. */
  long lastObject() {
    return lastObject.get();
  }

  /** How many there were, by what they were for and their operation. */
  SortedMap<String, Long> counts() {
    SortedMap<String, Long> all = new TreeMap<>();
    counts.forEach((what, count) -> all.put(what, count.sum()));
    return all;
  }

  long total() {
    return counts.values().stream().mapToLong(LongAdder::sum).sum();
  }

  /** Waits until nothing has been sent for a while, such as by merges after the last record. */
  void awaitQuiet() throws InterruptedException {
    long before = -1;
    while (before != total()) {
      before = total();
      Thread.sleep(300);
    }
  }
}
