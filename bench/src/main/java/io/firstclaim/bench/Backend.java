package io.firstclaim.bench;

import io.firstclaim.bench.Instance.Plan;
import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.StoreListener;
import io.firstclaim.lock.TimeSource;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;

/** A kind of lock store that is measured. */
interface Backend {
  /** The name of this kind of store, as the table of results shows it. */
  String name();

  /** Where its server is. */
  URI endpoint();

  /** Whether a store may send several writes in one request. */
  default boolean joinsWrites() {
    return false;
  }

  /** A new table or prefix. */
  String newPlace();

  /** A client to this endpoint. */
  default Session open(URI endpoint, String place) {
    return open(endpoint, place, StoreListener.NONE);
  }

  /** A client to this endpoint, whose stores tell what they ask. */
  Session open(URI endpoint, String place, StoreListener listener);

  /** A client and what is measured with it. Thread-safe. */
  interface Session extends AutoCloseable {
    /** The store as an instance has it. */
    ClaimStore store(Plan plan);

    /** The same, with each write in a request of its own. */
    default ClaimStore singly(Plan plan) {
      return store(plan);
    }

    /**
     * So many records, their writes in requests as large as the store takes, so many of these at
     * once; empty if it cannot.
     */
    default Optional<Figure> batches(int records, int atOnce)
        throws InterruptedException, ExecutionException {
      return Optional.empty();
    }

    /**
     * The baseline: the same two conditional writes, of the same size, by the bare SDK; nothing
     * else.
     */
    void writeTwice(String id);

    @Override
    void close();

    /**
     * Writes twice for each of so many records by the bare SDK, so many at once on virtual threads.
     */
    default Figure bare(int records, int atOnce) throws InterruptedException, ExecutionException {
      String run = "bare-" + ThreadLocalRandom.current().nextLong() + "-";
      return atOnce(records, atOnce, n -> writeTwice(run + n));
    }

    /** So many records, each claimed and completed before the next, as the articles do. */
    default Figure naive(int records) {
      ClaimStore store = singly(Plan.of("", Optional.empty()));
      TimeSource time = TimeSource.system();
      Figure.Start start = Figure.start();
      for (int i = 0; i < records; i++) {
        Claim claim = Claim.of(RecordId.of("naive-" + i), Fingerprint.none(), time.now());
        if (store.claim(claim) instanceof ClaimResult.Granted granted) {
          var _ = store.complete(granted.lease(), null);
        }
      }
      return start.end(records);
    }

    /** Runs this for each number below {@code records}, so many at once on virtual threads. */
    static Figure atOnce(int records, int atOnce, IntConsumer step)
        throws InterruptedException, ExecutionException {
      AtomicInteger next = new AtomicInteger();
      Figure.Start start = Figure.start();
      try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
        List<Future<?>> writers = new ArrayList<>();
        for (int i = 0; i < atOnce; i++) {
          writers.add(
              threads.submit(
                  () -> {
                    int n;
                    while ((n = next.getAndIncrement()) < records) {
                      step.accept(n);
                    }
                  }));
        }
        for (Future<?> writer : writers) {
          writer.get();
        }
      }
      return start.end(records);
    }
  }
}
