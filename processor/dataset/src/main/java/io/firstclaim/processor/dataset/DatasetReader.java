package io.firstclaim.processor.dataset;

import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.processor.dataset.RootText.Found;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * Reads what a dataset lists, without writing anything.
 *
 * {@snippet :
 * var reader = new DatasetReader(client, "bucket", "lake/");
 * reader.snapshot().forEach(
 *     "datasets/orders/year=2026/month=07", "datasets/orders/year=2026/month=09",
 *     file -> System.out.println(file.file().path()));
 * }
 *
 * <p>Thread-safe. The client stays the caller's.
 */
public final class DatasetReader {
  private final RootObject root;
  private final Manifests manifests;

  /**
   * Reads the dataset in this bucket.
   *
   * @param prefix of all its objects; empty, or ends in a slash
   */
  public DatasetReader(S3Client client, String bucket, String prefix) {
    this.root = new RootObject(client, bucket, prefix);
    this.manifests = new Manifests(client, bucket, prefix);
  }

  /**
   * The dataset as its root has it now.
   *
   * @throws UnreadableException if what is there is not a root
   * @throws StoreUnavailableException if S3 does not answer
   * @throws StoreRefusedException if the bucket must not be read
   */
  public Snapshot snapshot() throws InterruptedException {
    return root.find()
        .map(there -> root.parsed(there.text()))
        .map(found -> new Snapshot(found, true))
        .orElseGet(() -> new Snapshot(new Found.VersionOne(List.of()), false));
  }

  /**
   * What a root lists. It stays as it is while others write; its manifests are there for hours
   * after others have taken their place.
   */
  public final class Snapshot {
    private final Found found;
    private final boolean hasRoot;

    private Snapshot(Found found, boolean hasRoot) {
      this.found = found;
      this.hasRoot = hasRoot;
    }

    /** Whether there is a root; without one, nothing is listed. */
    public boolean hasRoot() {
      return hasRoot;
    }

    /** How many files it lists. */
    public long files() {
      return switch (found) {
        case Found.Current(Root root) -> root.files();
        case Found.VersionOne(List<DatasetFile> files) -> files.size();
      };
    }

    /** How many bytes these have together. */
    public long bytes() {
      return switch (found) {
        case Found.Current(Root root) -> root.bytes();
        case Found.VersionOne(List<DatasetFile> files) ->
            files.stream().mapToLong(DatasetFile::bytes).sum();
      };
    }

    /**
     * The partitions that have files, in order.
     *
     * @param first none before it; null for all
     * @param last none after it and those in it, such as the days of a month; null for all
     */
    public List<String> partitions(@Nullable String first, @Nullable String last) {
      return switch (found) {
        case Found.Current(Root root) ->
            root.partitions().keySet().stream().filter(one -> isIn(one, first, last)).toList();
        case Found.VersionOne(List<DatasetFile> files) ->
            files.stream()
                .map(DatasetFile::partition)
                .filter(one -> isIn(one, first, last))
                .distinct()
                .sorted()
                .toList();
      };
    }

    /**
     * Tells of each file, by partition, and one partition at a time.
     *
     * @param first no partition before it; null for all
     * @param last none after it and those in it, such as the days of a month; null for all
     * @throws UnreadableException if a manifest is not there, or is none
     * @throws StoreUnavailableException if S3 does not answer
     * @throws StoreRefusedException if the bucket must not be read
     */
    public void forEach(
        @Nullable String first, @Nullable String last, Consumer<ListedFile> consumer)
        throws InterruptedException {
      switch (found) {
        case Found.Current(Root root) -> {
          for (String partition : partitions(first, last)) {
            for (Manifest manifest : root.manifests(partition)) {
              manifests.read(partition, manifest).forEach(consumer);
            }
          }
        }
        case Found.VersionOne(List<DatasetFile> files) ->
            files.stream()
                .filter(file -> isIn(file.partition(), first, last))
                .map(ListedFile::of)
                .forEach(consumer);
      }
    }

    /** The manifests of a partition. */
    List<Manifest> manifests(String partition) {
      return found instanceof Found.Current(Root root) ? root.manifests(partition) : List.of();
    }

    /** The files of a partition that a registry of version 1 lists in itself. */
    List<ListedFile> listedInTheRoot(String partition) {
      return found instanceof Found.VersionOne(List<DatasetFile> files)
          ? files.stream()
              .filter(file -> file.partition().equals(partition))
              .map(ListedFile::of)
              .toList()
          : List.of();
    }
  }

  private static boolean isIn(String partition, @Nullable String first, @Nullable String last) {
    return (first == null || partition.compareTo(first) >= 0)
        && (last == null || partition.compareTo(last) <= 0 || partition.startsWith(folder(last)));
  }

  private static String folder(String path) {
    return path.endsWith("/") ? path : path + "/";
  }

  Manifests manifests() {
    return manifests;
  }
}
