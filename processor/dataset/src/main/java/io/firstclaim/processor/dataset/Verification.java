package io.firstclaim.processor.dataset;

import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.processor.dataset.DatasetObjects.Content;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * Compares what a dataset lists with what is in its bucket, without writing anything. Where others
 * write meanwhile, a file that has been written and is not listed yet is told too. Thread-safe. The
 * client stays the caller's.
 */
public final class Verification {
  /** So many files are read through before the next are begun. */
  private static final int AT_ONCE = 1_000;

  private final DatasetReader reader;
  private final DatasetObjects objects;

  /**
   * Of the dataset in this bucket.
   *
   * @param prefix of all its objects; empty, or ends in a slash
   */
  public Verification(S3Client client, String bucket, String prefix) {
    this.reader = new DatasetReader(client, bucket, prefix);
    this.objects = new DatasetObjects(client, bucket, prefix, Integer.MAX_VALUE);
  }

  /** What is wrong with an object. */
  public enum Fault {
    /** It is a file that no manifest lists. */
    WITHOUT_ENTRY("file without entry"),
    /** It is a file that is listed, and is not there. */
    WITHOUT_FILE("entry without file"),
    /** It is a file with another content than that which was listed, or written. */
    WRONG_HASH("wrong hash"),
    /** It is a file that is listed more than once. */
    LISTED_TWICE("listed twice"),
    /** It is a manifest that the root names, and is not there, or is none. */
    UNREADABLE_MANIFEST("unreadable manifest");

    private final String text;

    Fault(String text) {
      this.text = text;
    }

    /** For people. */
    @Override
    public String toString() {
      return text;
    }
  }

  /**
   * Something that is wrong.
   *
   * @param path of the object, from the dataset's prefix on
   */
  public record Finding(Fault fault, String path) {}

  /**
   * Compares everything, one partition at a time, and reads every file through.
   *
   * @param findings told of each; from this thread
   * @throws UnreadableException if what is there is not a root
   * @throws StoreUnavailableException if S3 does not answer
   * @throws StoreRefusedException if the bucket must not be read
   */
  public void run(Consumer<Finding> findings) throws InterruptedException {
    SortedSet<String> partitions = new TreeSet<>(reader.snapshot().partitions(null, null));
    partitions.addAll(objects.partitions());
    for (String partition : partitions) {
      new Look(partition, findings).run();
    }
  }

  /** At one partition. */
  private final class Look {
    private final String partition;
    private final Consumer<Finding> findings;
    private final SortedMap<String, ListedFile> listed = new TreeMap<>();

    Look(String partition, Consumer<Finding> findings) {
      this.partition = partition;
      this.findings = findings;
    }

    private void tell(Fault fault, String name) {
      findings.accept(new Finding(fault, partition + "/" + name));
    }

    void run() throws InterruptedException {
      // The root first: a file that comes meanwhile is not missing.
      DatasetReader.Snapshot snapshot = reader.snapshot();
      List<Manifest> before = snapshot.manifests(partition);
      add(snapshot.listedInTheRoot(partition));
      for (Manifest one : before) {
        read(one);
      }
      SortedMap<String, Long> there = objects.files(partition);
      if (!listed.keySet().containsAll(there.keySet())) {
        // What came between the two is listed by now, or about to be.
        for (Manifest one : reader.snapshot().manifests(partition)) {
          if (!before.contains(one)) {
            reader.manifests().tryRead(partition, one).ifPresent(this::addIfNew);
          }
        }
      }
      there.keySet().stream()
          .filter(name -> !listed.containsKey(name))
          .forEach(name -> tell(Fault.WITHOUT_ENTRY, name));
      compare(there);
    }

    private void read(Manifest manifest) throws InterruptedException {
      Optional<List<ListedFile>> found = reader.manifests().tryRead(partition, manifest);
      if (found.isPresent()) {
        add(found.get());
      } else {
        findings.accept(
            new Finding(Fault.UNREADABLE_MANIFEST, Manifests.path(partition, manifest.name())));
      }
    }

    private void add(List<ListedFile> files) {
      for (ListedFile one : files) {
        if (listed.put(one.file().name(), one) != null) {
          tell(Fault.LISTED_TWICE, one.file().name());
        }
      }
    }

    private void addIfNew(List<ListedFile> files) {
      files.forEach(one -> listed.putIfAbsent(one.file().name(), one));
    }

    private void compare(Map<String, Long> there) throws InterruptedException {
      List<ListedFile> toRead = new ArrayList<>();
      for (ListedFile one : listed.values()) {
        Long bytes = there.get(one.file().name());
        if (bytes == null) {
          // One that came after the listing is there.
          toRead.add(one);
        } else if (bytes != one.file().bytes()) {
          tell(Fault.WRONG_HASH, one.file().name());
        } else {
          toRead.add(one);
        }
      }
      for (int from = 0; from < toRead.size(); from += AT_ONCE) {
        List<ListedFile> part = toRead.subList(from, Math.min(toRead.size(), from + AT_ONCE));
        List<Callable<Optional<Content>>> reads = new ArrayList<>();
        part.forEach(one -> reads.add(() -> objects.content(one.file())));
        List<Optional<Content>> contents = Manifests.allAtOnce(reads);
        for (int i = 0; i < part.size(); i++) {
          judge(part.get(i), contents.get(i));
        }
      }
    }

    private void judge(ListedFile file, Optional<Content> content) {
      if (content.isEmpty()) {
        tell(Fault.WITHOUT_FILE, file.file().name());
        return;
      }
      String expected = file.sha256() == null ? content.get().noted() : file.sha256();
      if (expected != null && !expected.equals(content.get().sha256())) {
        tell(Fault.WRONG_HASH, file.file().name());
      }
    }
  }
}
