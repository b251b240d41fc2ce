package io.firstclaim.processor.dataset;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.StoreListener;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.document.DocumentStore;
import io.firstclaim.lock.document.SharedDocuments;
import io.firstclaim.lock.mutex.HeldMutex;
import io.firstclaim.lock.mutex.Mutex;
import io.firstclaim.lock.s3.BucketPolicy;
import io.firstclaim.lock.s3.S3Bucket;
import io.firstclaim.lock.s3.S3ClaimStore;
import io.firstclaim.lock.s3.S3DocumentStore;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;

/**
 * A dataset in an S3 bucket, written by any number of instances: objects under {@code datasets/},
 * each written once; manifests under {@code metastore/manifests/}, which list them, each written
 * once too; and the root, {@code metastore/dataset_registry.json}, which says by partition which
 * manifests count, and is updated by compare-and-swap.
 *
 * <p>An object is written before it is listed. An instance that dies in between leaves an object
 * that is not listed until its record is handled again or {@link #repair()} finds it.
 *
 * <p>Thread-safe. The client stays the caller's.
 */
public final class Dataset {
  private static final Logger LOG = LoggerFactory.getLogger(Dataset.class);

  /** How long one request may take; a part of 8 MiB gets through at a third of a MB a second. */
  private static final Duration TIME_LIMIT = Duration.ofSeconds(60);

  /** Longer than the lease of a repair that died. */
  private static final Duration ANOTHERS_REPAIR = Duration.ofMinutes(1);

  /** Far longer than any handler takes, however wrong this machine's clock is. */
  private static final Duration ABANDONED_AFTER = Duration.ofDays(1);

  private final S3Client client;
  private final DatasetSettings settings;
  private final String bucket;
  private final S3Bucket locks;
  private final DatasetObjects objects;
  private final SharedRoot root;
  private final Merges merges;
  private final Mending mending;
  private final OldManifests oldManifests;
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
    this.client = client;
    this.settings = settings;
    this.bucket = settings.bucket();
    this.objects = new DatasetObjects(client, bucket, prefix, settings.partSize());
    Manifests manifests = new Manifests(client, bucket, prefix);
    DocumentStore documents = new S3DocumentStore(client, bucket);
    this.root = new SharedRoot(new RootObject(client, bucket, prefix), documents, manifests, time);
    // Beside the root, so that all writers of the dataset share it, wherever their claims are.
    this.locks = new S3Bucket(client, bucket, prefix + "metastore/locks/");
    ClaimStore claims =
        new S3ClaimStore(locks, ClaimSettings.of("dataset", holder), time, StoreListener.NONE);
    this.repairs = new Mutex(claims, RecordId.of("repair"), time);
    this.mending = new Mending(root, manifests, objects, time);
    Mutex merging = new Mutex(claims, RecordId.of("merge"), time);
    this.merges = new Merges(root, manifests, mending::mend, merging, time);
    this.oldManifests = new OldManifests(root, manifests, time);
    this.writer =
        new RegistryWriter(
            root, manifests, mending::mend, merges, settings.registryInterval(), time);
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

  /** Says in one line what the bucket's policy lacks, where others could write over the dataset. */
  public void warnIfUnprotected() {
    new BucketPolicy(client, bucket, settings.protectedPrefixes())
        .missing()
        .ifPresent(
            policy ->
                LOG.warn(
                    "S3 bucket {} is not known to have a policy against writes and deletes without"
                        + " a condition under {}datasets/ and {}metastore/: anybody who may write"
                        + " there can overwrite the dataset. Give it this one, or add its"
                        + " statements: {}",
                    bucket,
                    settings.prefix(),
                    settings.prefix(),
                    policy));
  }

  /**
   * Stores a record's value: writes its object, unless it is there already, and lists it.
   *
   * @param timestamp the record's, which says the day that it belongs to
   * @param ensureHeld called right before the effect; what it throws ends it
   * @return once object and registry both have it, and never before
   * @throws StoreUnavailableException if S3 did not answer: try again
   * @throws StoreRefusedException if the bucket must not be written; the message names the remedy
   * @throws UnreadableException if the root, or a manifest that must be read, is none
   * @throws RuntimeException whatever else {@link SharedDocuments#update} throws
   * @throws InterruptedException if the thread is interrupted; the value may be stored
   */
  public StoreResult store(
      String topic, long timestamp, RecordId id, byte[] value, Runnable ensureHeld)
      throws InterruptedException {
    DatasetFile file;
    try {
      file = DatasetFile.of(topic, timestamp, id, value.length);
    } catch (IllegalArgumentException e) {
      return new StoreResult.Rejected(String.valueOf(e.getMessage()));
    }
    String sha256 = DatasetObjects.sha256(value);
    ListedFile listed = new ListedFile(file, sha256, id.text(), Instant.ofEpochMilli(timestamp));
    long since = root.lastSeen();
    return switch (objects.putOnce(file, value, sha256, ensureHeld)) {
      case OTHER ->
          new StoreResult.Rejected(
              "the dataset has this record with another content, in %s of bucket %s"
                  .formatted(file.path(), bucket));
      case WRITTEN -> stored(new Addition(listed, false, since));
      case FOUND -> stored(new Addition(listed, true, since));
    };
  }

  private StoreResult stored(Addition addition) throws InterruptedException {
    writer.add(addition);
    return new StoreResult.Listed(addition.file().file());
  }

  /**
   * Makes the root list what is there: adds the files that it does not list, and takes off those
   * that are missing; makes it anew if it is none. Then aborts the multipart uploads that nobody
   * has completed for a day, and removes manifests that no root has named for hours. Others may
   * write meanwhile; only one instance repairs at a time.
   *
   * @return what was done; empty if another instance was repairing for a minute
   * @throws StoreUnavailableException if S3 does not answer
   * @throws StoreRefusedException if the bucket must not be read or written
   * @throws UnreadableException if a later version wrote the root
   * @throws RuntimeException whatever else {@link SharedDocuments#update} throws; where more than
   *     one thing failed, the others are suppressed in the first, and in the log
   */
  public Optional<Repair> repair() throws InterruptedException {
    return repair(false);
  }

  /**
   * Repairs, and reads all manifests for that, also where nothing seems to be wrong.
   *
   * @throws RuntimeException as {@link #repair()}
   */
  public Optional<Repair> repairThoroughly() throws InterruptedException {
    return repair(true);
  }

  private Optional<Repair> repair(boolean isThorough) throws InterruptedException {
    Optional<HeldMutex> turn = repairs.acquire(ANOTHERS_REPAIR);
    if (turn.isEmpty()) {
      return Optional.empty();
    }
    // Losing it does no harm: a repair changes the root by compare-and-swap like any writer.
    try (HeldMutex _ = turn.get()) {
      if (root.renewIfUnreadable()) {
        LOG.info(
            "The root of the dataset in S3 bucket {} lists nothing until it is filled", bucket);
      }
      // None needs anything of the others, and each may be all that fails.
      List<RuntimeException> faults = new ArrayList<>();
      Repair mended = attempt(() -> mending.mendAll(isThorough), Repair.NONE, faults);
      long removed = attempt(oldManifests::remove, 0L, faults);
      Instant begunBefore = time.now().wall().minus(ABANDONED_AFTER);
      Repair done =
          mended.withAborted(attempt(() -> objects.abortUploads(begunBefore), 0L, faults));
      LOG.info(
          "Repaired the dataset in S3 bucket {}{}: {}; removed {} old manifests",
          bucket,
          faults.isEmpty() ? "" : " in part",
          done,
          removed);
      if (!faults.isEmpty()) {
        throw first(faults);
      }
      return Optional.of(done);
    }
  }

  /** The first; as whoever catches it may tell no more than its message, the log has the others. */
  private RuntimeException first(List<RuntimeException> faults) {
    RuntimeException first = faults.getFirst();
    for (RuntimeException other : faults.subList(1, faults.size())) {
      LOG.warn("The dataset in S3 bucket {} was repaired in part: {}", bucket, OneLine.of(other));
      first.addSuppressed(other);
    }
    return first;
  }

  private interface Step<T> {
    T make() throws InterruptedException;
  }

  private static <T> T attempt(Step<T> step, T otherwise, List<RuntimeException> faults)
      throws InterruptedException {
    try {
      return step.make();
    } catch (RuntimeException fault) {
      faults.add(fault);
      return otherwise;
    }
  }

  /**
   * Makes few manifests of many where the root has too many, as an instance does by itself while it
   * writes.
   *
   * @return false if another instance is doing so
   * @throws RuntimeException as {@link #repair}
   */
  boolean merge() throws InterruptedException {
    return merges.mergeAll();
  }
}
