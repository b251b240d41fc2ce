package io.firstclaim.bench;

import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.StoreListener;
import io.firstclaim.lock.StoreOperation;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.dynamodb.DynamoDbClaimStore;
import io.firstclaim.lock.mutex.HeldMutex;
import io.firstclaim.lock.mutex.Mutex;
import io.firstclaim.lock.s3.S3Bucket;
import io.firstclaim.lock.s3.S3ClaimStore;
import io.firstclaim.stack.git.Commands;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.LongAdder;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * One mutex that many want: each holds it for a second, and wants it again a second after it gave
 * it back.
 */
final class Contention {
  private static final Duration HELD = Duration.ofSeconds(1);
  private static final Duration WARM_UP = Duration.ofSeconds(5);
  private static final Duration MEASURED = Duration.ofSeconds(40);
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  private final ClaimStore store;
  private final Requests requests = new Requests();
  private final Mutex mutex;
  private final ConcurrentLinkedQueue<Long> handOvers = new ConcurrentLinkedQueue<>();
  private final LongAdder acquisitions = new LongAdder();
  private volatile boolean counted;
  private volatile long freedAt;

  private Contention(Kind kind, URI endpoint, String place) {
    store = kind.store(endpoint, place, requests);
    mutex = new Mutex(store, RecordId.of("contended"), TimeSource.system());
  }

  /** The stores on which this is measured. */
  enum Kind {
    /** Prices in docs/cost.md; a consistent read is a fifth of a write. */
    DYNAMODB(0.625, 0.125) {
      @Override
      ClaimStore store(URI endpoint, String table, StoreListener listener) {
        DynamoDbClient client = DynamoDb.client(endpoint);
        return new DynamoDbClaimStore(
            client, table, Stack.SETTINGS, TimeSource.system(), listener, 1);
      }
    },
    /** Prices in docs/cost.md. */
    S3(5.0, 0.4) {
      @Override
      ClaimStore store(URI endpoint, String prefix, StoreListener listener) {
        S3Client client = io.firstclaim.bench.S3.client(endpoint);
        S3Bucket bucket = new S3Bucket(client, io.firstclaim.bench.S3.BUCKET, prefix);
        return new S3ClaimStore(bucket, Stack.SETTINGS, TimeSource.system(), listener);
      }
    };

    private final double aMillionWrites;
    private final double aMillionReads;

    Kind(double aMillionWrites, double aMillionReads) {
      this.aMillionWrites = aMillionWrites;
      this.aMillionReads = aMillionReads;
    }

    abstract ClaimStore store(URI endpoint, String place, StoreListener listener);
  }

  /** Refused claims, and reads. */
  private final class Requests implements StoreListener {
    private final LongAdder refused = new LongAdder();
    private final LongAdder reads = new LongAdder();

    @Override
    public void called(StoreOperation op, StoreOperation.Result result, Duration took) {
      if (!counted) {
        return;
      }
      if (op == StoreOperation.FIND) {
        reads.increment();
      } else if (op == StoreOperation.CLAIM && result == StoreOperation.Result.REFUSED) {
        refused.increment();
      }
    }

    @Override
    public void clockSkew(Duration skew) {}
  }

  /**
   * What was seen.
   *
   * @param perSecond acquisitions
   * @param p50 of the hand-overs: from the moment that a holder gives the mutex back to the moment
   *     that the next one has it; in milliseconds, as {@code p99} is
   * @param refused claims for each acquisition that were refused, as each is billed
   * @param reads for each acquisition
   * @param dollars for each hour that somebody waited
   */
  record Seen(
      double perSecond, double p50, double p99, double refused, double reads, double dollars) {
    private static Seen read(String printed) {
      String last = printed.lines().reduce((_, line) -> line).orElseThrow();
      double[] all = Arrays.stream(last.split(" ", -1)).mapToDouble(Double::parseDouble).toArray();
      return new Seen(all[0], all[1], all[2], all[3], all[4], all[5]);
    }

    private String print() {
      return "%s %s %s %s %s %s".formatted(perSecond, p50, p99, refused, reads, dollars);
    }

    @Override
    public String toString() {
      return ("%.1f acquisitions/s, hand-over %.0f ms, p99 %.0f ms; for each %.2f refused claims and"
              + " %.2f reads; USD %.4f an hour waited")
          .formatted(perSecond, p50, p99, refused, reads, dollars);
    }
  }

  /** Measures in a process of its own, with this class path. */
  static Seen in(String classPath, Kind kind, URI endpoint, String place, int waiters)
      throws Exception {
    return Seen.read(
        Commands.run(
            Path.of(""),
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-classpath",
            classPath,
            Contention.class.getName(),
            kind.name(),
            endpoint.toString(),
            place,
            Integer.toString(waiters)));
  }

  private void waitAndHold() throws InterruptedException {
    while (true) {
      Optional<HeldMutex> mine = mutex.acquire(PATIENCE);
      long now = System.nanoTime();
      if (mine.isEmpty()) {
        continue;
      }
      if (counted) {
        acquisitions.increment();
        handOvers.add(now - freedAt);
      }
      try (HeldMutex _ = mine.get()) {
        Thread.sleep(HELD);
        freedAt = System.nanoTime();
      }
      Thread.sleep(HELD);
    }
  }

  private Seen seen(Kind kind, int waiters) throws Exception {
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> all = new ArrayList<>();
      for (int n = 0; n < waiters; n++) {
        all.add(
            threads.submit(
                () -> {
                  waitAndHold();
                  return null;
                }));
      }
      Thread.sleep(WARM_UP);
      counted = true;
      Thread.sleep(MEASURED);
      counted = false;
      for (Future<?> each : all) {
        if (each.state() == Future.State.FAILED) {
          throw new IllegalStateException(each.exceptionNow());
        }
      }
      threads.shutdownNow();
    }
    double each = acquisitions.sum();
    double[] sorted = handOvers.stream().mapToDouble(nanos -> nanos / 1e6).sorted().toArray();
    double cost =
        (requests.refused.sum() * kind.aMillionWrites + requests.reads.sum() * kind.aMillionReads)
            / 1e6;
    double waited = waiters * MEASURED.toSeconds() - each * 2 * HELD.toSeconds();
    return new Seen(
        each / MEASURED.toSeconds(),
        sorted[sorted.length / 2],
        sorted[sorted.length * 99 / 100],
        requests.refused.sum() / each,
        requests.reads.sum() / each,
        cost / (Math.max(waited, 1) / 3_600));
  }

  /** The process itself: the store, its endpoint, a table or prefix, and how many want it. */
  public static void main(String[] args) throws Exception {
    Kind kind = Kind.valueOf(args[0]);
    var contention = new Contention(kind, URI.create(args[1]), args[2]);
    System.out.println(contention.seen(kind, Integer.parseInt(args[3])).print());
    System.exit(0);
  }
}
