package io.firstclaim.processor.dataset;

import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.document.ContendedException;
import io.firstclaim.lock.document.OutcomeUnknownException;
import io.firstclaim.lock.document.SharedDocuments;
import io.firstclaim.lock.s3.S3Bucket;
import io.firstclaim.lock.s3.S3DocumentStore;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
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
 * <p>An object is written before it is listed. Who dies in between leaves an object that is not
 * listed until its record is handled again, or {@link #repair()} finds it.
 *
 * <p>The registry has room for about 100,000 files; see {@link #store}. Thread-safe. The client
 * stays the caller's.
 */
public final class Dataset {
  private static final Logger LOG = LoggerFactory.getLogger(Dataset.class);

  /** Of one request; a part of 8 MiB gets through a third of a megabyte a second. */
  private static final Duration TIME_LIMIT = Duration.ofSeconds(60);

  private final String bucket;
  private final S3Bucket place;
  private final DatasetObjects objects;
  private final SharedRegistry registry;
  private final RegistryWriter writer;

  /**
   * The dataset in a bucket that is there.
   *
   * @param prefix of all its objects: empty, or ends in a slash
   * @param partSize larger values are uploaded in parts of so many bytes, 5 MiB at least
   */
  public Dataset(S3Client client, String bucket, String prefix, int partSize, TimeSource time) {
    this.bucket = bucket;
    this.place = new S3Bucket(client, bucket, prefix + "metastore/");
    this.objects = new DatasetObjects(client, bucket, prefix, partSize);
    this.registry =
        new SharedRegistry(
            new SharedDocuments(new S3DocumentStore(client, bucket), time), prefix, time);
    this.writer = new RegistryWriter(registry, time);
  }

  /** Gives a client the time limits and retries that suit a dataset. */
  public static S3ClientBuilder configure(S3ClientBuilder builder) {
    return S3Bucket.configure(builder, TIME_LIMIT);
  }

  /**
   * Makes the dataset ready for this instance: repairs the registry, and checks that the bucket
   * keeps conditional writes.
   *
   * @throws StoreUnavailableException if S3 does not answer
   * @throws StoreRefusedException if the bucket is not there, or must not be used
   */
  public void open() throws InterruptedException {
    Repair repair;
    try {
      repair = repair();
    } catch (ContendedException | OutcomeUnknownException e) {
      throw new StoreUnavailableException(String.valueOf(e.getMessage()), e);
    }
    place.verify();
    LOG.info(
        "Dataset in S3 bucket {}: {} files added to the registry, {} removed",
        bucket,
        repair.added(),
        repair.removed());
  }

  /**
   * Stores a record's value: writes its object, if that is not there, and lists it.
   *
   * @param timestamp the record's, which says the day that it belongs to
   * @param ensureHeld called right before the effect; what it throws ends it
   * @throws StoreUnavailableException if S3 did not answer: try again
   * @throws StoreRefusedException if the bucket must not be written, or the registry is no registry
   *     or full; the message names the remedy
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
   * that are missing. Others may write meanwhile.
   *
   * @return what was done
   * @throws StoreUnavailableException if S3 does not answer
   * @throws StoreRefusedException if the bucket must not be read or written
   */
  public Repair repair() throws InterruptedException {
    Repair all = new Repair(0, 0);
    while (true) {
      // Listed before it is looked for: a file that comes while this looks is not missing.
      List<DatasetFile> listed = registry.files();
      List<DatasetFile> there = objects.list();
      Set<DatasetFile> missing = new HashSet<>(listed);
      there.forEach(missing::remove);
      Repair pass = registry.mend(there, missing);
      all = all.plus(pass);
      // A file may come back and find itself listed right before it is removed: look again.
      if (pass.removed() == 0) {
        return all;
      }
    }
  }
}
