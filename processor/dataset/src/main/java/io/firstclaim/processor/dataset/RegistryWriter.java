package io.firstclaim.processor.dataset;

import io.firstclaim.lock.ContendedException;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.OncePerMinute;
import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has an instance's files listed, many with one update of the root: while one batch is written, and
 * for an interval after it, the next gathers; not for so long if it is large. A file that comes
 * after a pause does not wait. Thread-safe.
 */
final class RegistryWriter {
  private static final Logger LOG = LoggerFactory.getLogger(RegistryWriter.class);

  /**
   * How long an update goes on while others are faster: with the flush before it, less than a
   * handler's time limit.
   */
  private static final Duration CONTENDED = Duration.ofMinutes(1);

  /**
   * So many files for each request of an update make it worth its while: a record then pays a
   * fiftieth of a request, and some more for merges and updates that others overtake.
   */
  private static final int FILES_A_REQUEST = 50;

  private final SharedRoot root;
  private final Manifests manifests;
  private final PartitionMending mending;
  private final Merges merges;
  private final Duration interval;
  private final TimeSource time;
  private final OncePerMinute complaints;

  /** Guards the two below. */
  private final Object lock = new Object();

  private Batch gathering = new Batch();
  private boolean isWriting;

  /** Files that are written with one update. */
  private record Batch(
      List<Addition> files, Set<String> partitions, CompletableFuture<Void> written) {
    Batch() {
      this(new ArrayList<>(), new HashSet<>(), new CompletableFuture<>());
    }

    void add(Addition file) {
      files.add(file);
      partitions.add(file.partition());
    }

    /** A manifest for each partition, and the root, which is read and written. */
    boolean isLarge() {
      return files.size() >= FILES_A_REQUEST * (partitions.size() + 2);
    }
  }

  /**
   * Writes into this root.
   *
   * @param mending mends a partition where a manifest is none
   * @param merges told of each root, as they may be due
   * @param interval between two updates, each of which reads and writes the root, at most
   */
  RegistryWriter(
      SharedRoot root,
      Manifests manifests,
      PartitionMending mending,
      Merges merges,
      Duration interval,
      TimeSource time) {
    this.root = root;
    this.manifests = manifests;
    this.mending = mending;
    this.merges = merges;
    this.interval = interval;
    this.time = time;
    this.complaints = new OncePerMinute(time);
  }

  /**
   * Lists a file, and returns when it is listed. Even if that fails, the file may be listed.
   *
   * @throws RuntimeException what {@link SharedRoot#update} throws, to all files of the batch; a
   *     {@link StoreUnavailableException} for an error
   */
  void add(Addition file) throws InterruptedException {
    Batch batch;
    synchronized (lock) {
      batch = gathering;
      batch.add(file);
      if (batch.isLarge()) {
        lock.notifyAll();
      }
      if (!isWriting) {
        Thread.ofVirtual().name("dataset-registry").start(this::write);
        isWriting = true; // not set before, as the thread may fail to start
      }
    }
    try {
      batch.written().get();
    } catch (ExecutionException e) {
      throw e.getCause() instanceof RuntimeException fault
          ? fault
          : new StoreUnavailableException(
              "files were not listed: " + OneLine.of(String.valueOf(e.getCause())), e);
    }
  }

  private void write() {
    try {
      Batch batch = next();
      while (!batch.files().isEmpty()) {
        try {
          write(batch);
        } catch (Throwable fault) {
          // Whatever it is, those who wait must hear of it, and the next batch gets its turn.
          batch.written().completeExceptionally(fault);
        }
        batch = next();
      }
    } catch (Throwable fault) {
      giveUp(fault);
    }
  }

  private void write(Batch batch) throws InterruptedException {
    Flush flush = new Flush(batch.files(), manifests, time);
    try {
      flush.writeAhead();
      Root after = update(flush);
      batch.written().complete(null);
      merges.after(after);
      gather();
    } catch (RuntimeException fault) {
      flush.before().ifPresent(merges::after); // without a merge, a full root would stay full
      throw fault;
    }
  }

  /** Those who wait hear of the fault, and the next file that comes begins anew. */
  private void giveUp(Throwable fault) {
    synchronized (lock) {
      isWriting = false;
      gathering.written().completeExceptionally(fault);
      gathering = new Batch();
    }
  }

  /**
   * That others are faster to write the root is over soon, and a manifest that is none is made
   * anew: meanwhile the files wait. To refuse their records would be held against these, where
   * others pass.
   */
  private Root update(Flush flush) throws InterruptedException {
    Moment begin = time.now();
    Set<String> mended = new HashSet<>();
    while (true) {
      try {
        return root.update(flush);
      } catch (ContendedException e) {
        if (time.now().since(begin).compareTo(CONTENDED) > 0) {
          throw e;
        }
        if (complaints.isDue()) {
          LOG.warn("Files wait to be listed: {}", OneLine.of(e));
        }
      } catch (UnreadableManifestException e) {
        if (!mended.add(e.partition())) {
          throw e;
        }
        LOG.warn("{}. This instance does that now", e.getMessage());
        LOG.info("Mended {}: {}", e.partition(), mending.mend(e.partition()));
      }
    }
  }

  /** Waits until the interval is over, or the next batch is large. */
  private void gather() throws InterruptedException {
    Moment begin = time.now();
    synchronized (lock) {
      Duration left = interval;
      while (left.isPositive() && !gathering.isLarge()) {
        lock.wait(left.plusMillis(1).toMillis());
        left = interval.minus(time.now().since(begin));
      }
    }
  }

  /** What has gathered; nothing if this writer's work is over. */
  private Batch next() {
    synchronized (lock) {
      Batch next = gathering;
      gathering = new Batch();
      isWriting = !next.files().isEmpty();
      return next;
    }
  }
}
