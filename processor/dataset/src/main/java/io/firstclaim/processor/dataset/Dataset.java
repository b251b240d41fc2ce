package io.firstclaim.processor.dataset;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.StoreListener;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.document.SharedDocuments;
import io.firstclaim.lock.mutex.HeldMutex;
import io.firstclaim.lock.mutex.Mutex;
import io.firstclaim.lock.s3.S3Bucket;
import io.firstclaim.lock.s3.S3ClaimStore;
import io.firstclaim.lock.s3.S3DocumentStore;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;

/**
 * A dataset in an S3 bucket, written by any number of instances: objects under {@code datasets/},
 * each written once, and {@code metastore/dataset_registry.json}, which lists them with their
 * sizes, by partition, and is updated by compare-and-swap.
 *
 * <p>An object is written before it is listed. An instance that dies in between leaves an object
 * that is not listed until its record is handled again or {@link #repair()} finds it.
 *
 * <p>The registry has room for about 100,000 files; see {@link #store}. Thread-safe. The client
 * stays the caller's.
 */
public final class Dataset {
  private static final Logger LOG = LoggerFactory.getLogger(Dataset.class);

  /** For one request; a part of 8 MiB gets through at a third of a megabyte a second. */
  private static final Duration TIME_LIMIT = Duration.ofSeconds(60);

  /** Longer than the lease of a repair that died. */
  private static final Duration ANOTHERS_REPAIR = Duration.ofMinutes(1);

  /** Low enough to leave time to begin another dataset. */
  private static final int ALMOST_FULL = 80_000;

  /** Far longer than any handler takes, however wrong this machine's clock is. */
  private static final Duration ABANDONED_AFTER = Duration.ofDays(1);

  private final String bucket;
  private final S3Bucket locks;
  private final DatasetObjects objects;
  private final SharedRegistry registry;
  private final RegistryWriter writer;
  private final Mutex repairs;
  private final TimeSource time;

  /**
   * The dataset in a bucket that is there.
   *
   * @param holder names this instance to people
   */
  public Dataset(S3Client client, DatasetSettings settings, String holder, TimeSource time) {
    String prefix = settings.prefix();
    this.bucket = settings.bucket();
    this.objects = new DatasetObjects(client, bucket, prefix, settings.partSize());
    this.registry =
        new SharedRegistry(
            new SharedDocuments(new S3DocumentStore(client, bucket), time), prefix, time);
    this.writer = new RegistryWriter(registry, settings.registryInterval(), time);
    // Beside the registry, so that all writers of the dataset share it, wherever their claims are.
    this.locks = new S3Bucket(client, bucket, prefix + "metastore/locks/");
    this.repairs =
        new Mutex(
            new S3ClaimStore(locks, ClaimSettings.of("dataset", holder), time, StoreListener.NONE),
            RecordId.of("repair"),
            time);
    this.time = time;
  }

  /** Gives a client the time limits and retries that suit a dataset. */
  public static S3ClientBuilder configure(S3ClientBuilder builder) {
    return S3Bucket.configure(builder, TIME_LIMIT);
  }

  /**
   * Checks that the bucket is there and keeps conditional writes.
   *
   * @throws StoreUnavailableException if S3 does not answer
   * @throws StoreRefusedException if the bucket is not there, or must not be used
   */
  public void verify() {
    locks.verify();
  }

  /**
   * Stores a record's value: writes its object, unless it is there already, and lists it.
   *
   * @param timestamp the record's, which says the day that it belongs to
   * @param ensureHeld called right before the effect; what it throws ends it
   * @return once object and registry both have it, and never before
   * @throws StoreUnavailableException if S3 did not answer: try again
   * @throws StoreRefusedException if the bucket must not be written, or the registry is full or not
   *     a registry; the message names the remedy
   * @throws RuntimeException else what {@link SharedDocuments#update} throws
   * @throws InterruptedException if the thread is interrupted; the value may be stored
   */
  public StoreResult store(
      String topic, long timestamp, RecordId id, byte[] value, Runnable ensureHeld)
      throws InterruptedException {
    DatasetFile file;
    try {
      file = DatasetFile.of(topic, timestamp, id, value.length);
    } catch (IllegalArgumentException e) {
      return new StoreResult.Refused(String.valueOf(e.getMessage()));
    }
    if (!objects.putOnce(file, value, ensureHeld)) {
      return new StoreResult.Refused(
          "the dataset has this record with another content, in %s of bucket %s"
              .formatted(file.path(), bucket));
    }
    writer.add(file);
    return new StoreResult.Stored(file);
  }

  /**
   * Makes the registry list what is there: adds the files that it does not list, and removes those
   * that are missing. Then aborts the multipart uploads that nobody has completed for a day. Others
   * may write meanwhile; only one instance repairs at a time.
   *
   * @return what was done; empty if another instance was repairing for a minute
   * @throws StoreUnavailableException if S3 does not answer
   * @throws StoreRefusedException if the bucket must not be read or written
   * @throws RuntimeException else what {@link SharedDocuments#update} throws
   */
  public Optional<Repair> repair() throws InterruptedException {
    Optional<HeldMutex> turn = repairs.acquire(ANOTHERS_REPAIR);
    if (turn.isEmpty()) {
      return Optional.empty();
    }
    // Losing it does no harm: a repair changes the registry by compare-and-swap like any writer.
    try (HeldMutex _ = turn.get()) {
      Repair done =
          mend().withAborted(objects.abortUploads(time.now().wall().minus(ABANDONED_AFTER)));
      LOG.info("Repaired the dataset in S3 bucket {}: {}", bucket, done);
      return Optional.of(done);
    }
  }

  private Repair mend() throws InterruptedException {
    Repair all = Repair.NONE;
    while (true) {
      // Lists the registry before looking for its files: one that comes meanwhile is not missing.
      List<DatasetFile> listed = registry.files();
      List<DatasetFile> there = objects.list();
      Set<DatasetFile> missing = new HashSet<>(listed);
      there.forEach(missing::remove);
      Repair pass = registry.mend(there, missing);
      all = all.plus(pass);
      // A file may come back and find itself listed just before it is removed: look again.
      if (pass.removed() == 0) {
        warnIfAlmostFull(there.size());
        return all;
      }
    }
  }

  private void warnIfAlmostFull(int files) {
    if (files >= ALMOST_FULL) {
      LOG.warn(
          "The dataset in S3 bucket {} has {} files, and its registry has room for about 100,000:"
              + " begin another dataset, with another prefix",
          bucket,
          files);
    }
  }
}
