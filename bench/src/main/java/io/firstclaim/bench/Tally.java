package io.firstclaim.bench;

import static java.util.stream.Collectors.joining;

import io.firstclaim.lock.StoreListener;
import io.firstclaim.lock.StoreOperation;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.LongAdder;

/** The requests of a store, and the writes in them, by what they are for. Thread-safe. */
final class Tally implements StoreListener {
  private final Map<StoreOperation, Counts> all = new ConcurrentSkipListMap<>();

  private record Counts(LongAdder requests, LongAdder writes) {
    Counts() {
      this(new LongAdder(), new LongAdder());
    }
  }

  private Counts of(StoreOperation op) {
    return all.computeIfAbsent(op, _ -> new Counts());
  }

  @Override
  public void called(StoreOperation op, StoreOperation.Result result, Duration took) {
    of(op).requests.increment();
  }

  @Override
  public void wrote(StoreOperation op, int writes) {
    of(op).writes.add(writes);
  }

  @Override
  public void clockSkew(Duration skew) {}

  /** The writes that AWS bills. */
  long writes() {
    return all.values().stream().mapToLong(counts -> counts.writes.sum()).sum();
  }

  /** Such as "claim 6001 in 482, complete 6000 in 733, find 7". */
  @Override
  public String toString() {
    return all.entrySet().stream()
        .map(
            each -> {
              long writes = each.getValue().writes.sum();
              long requests = each.getValue().requests.sum();
              return writes == 0
                  ? "%s %d".formatted(each.getKey(), requests)
                  : "%s %d in %d".formatted(each.getKey(), writes, requests);
            })
        .collect(joining(", "));
  }
}
