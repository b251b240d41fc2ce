package io.firstclaim.processor.dataset;

import io.firstclaim.lock.Moment;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.dataset.DatasetObjects.Content;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * Compares what a dataset lists with what is in its bucket, without writing anything. Others may
 * write meanwhile: a new file that is not listed yet is given time to be. Thread-safe. The client
 * stays the caller's.
 */
public final class Verification {
  /** How long a file is in its bucket at most before it is listed, while nothing is amiss. */
  public static final Duration IN_FLIGHT = Duration.ofSeconds(30);

  private static final Duration LOOK_AGAIN = Duration.ofMillis(500);

  /** For how long a root is good for the partitions that come; far less than manifests are kept. */
  private static final Duration GOOD_FOR = Duration.ofMinutes(1);

  private final DatasetReader reader;
  private final DatasetObjects objects;
  private final Duration inFlight;
  private final TimeSource time;

  /**
   * A verification of the dataset in this bucket.
   *
   * @param prefix of all its objects; empty, or ends in a slash
   * @param inFlight how old a file that is not listed must be, by the store's clock, to be told of
   */
  public Verification(
      S3Client client, String bucket, String prefix, Duration inFlight, TimeSource time) {
    this.inFlight = inFlight;
    this.time = time;
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

    /** The fault in words, for messages. */
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
  public record Discrepancy(Fault fault, String path) {}

  /**
   * What was compared.
   *
   * @param files that are in the bucket
   * @param partitions that have files, there or on the list
   * @param hasRoot whether there was a list
   */
  public record Compared(long files, long partitions, boolean hasRoot) {}

  /**
   * Compares everything, one partition at a time, and reads every file through.
   *
   * @param findings told of each; from this thread
   * @return what was compared
   * @throws UnreadableException if what is there is not a root
   * @throws StoreUnavailableException if S3 does not answer
   * @throws StoreRefusedException if the bucket must not be read
   */
  public Compared run(Consumer<Discrepancy> findings) throws InterruptedException {
    Moment read = time.now();
    DatasetReader.Snapshot snapshot = reader.snapshot();
    boolean hasRoot = snapshot.hasRoot();
    SortedSet<String> partitions = new TreeSet<>(snapshot.partitions(null, null));
    partitions.addAll(objects.partitions());
    long files = 0;
    for (String partition : partitions) {
      Moment now = time.now();
      if (now.since(read).compareTo(GOOD_FOR) > 0) {
        read = now;
        snapshot = reader.snapshot();
      }
      files += new Look(partition, findings).run(snapshot);
    }
    return new Compared(files, partitions.size(), hasRoot);
  }

  /** A look at one partition. */
  private final class Look {
    private final String partition;
    private final Consumer<Discrepancy> findings;
    private final SortedMap<String, ListedFile> listed = new TreeMap<>();
    private final Set<Manifest> seen = new HashSet<>();

    Look(String partition, Consumer<Discrepancy> findings) {
      this.partition = partition;
      this.findings = findings;
    }

    private void tell(Fault fault, String name) {
      findings.accept(new Discrepancy(fault, partition + "/" + name));
    }

    /**
     * Compares.
     *
     * @param snapshot read before the files are listed: one that comes meanwhile is not missing
     * @return how many files are there
     */
    long run(DatasetReader.Snapshot snapshot) throws InterruptedException {
      add(snapshot.listedInTheRoot(partition));
      for (Manifest one : snapshot.manifests(partition)) {
        seen.add(one);
        read(one);
      }
      SortedMap<String, Long> there = objects.files(partition);
      unlisted(there).forEach(name -> tell(Fault.WITHOUT_ENTRY, name));
      compare(there);
      return there.size();
    }

    /** The files that nothing lists, though they have been there for long enough. */
    private SortedSet<String> unlisted(Map<String, Long> there) throws InterruptedException {
      SortedSet<String> unlisted = new TreeSet<>(there.keySet());
      unlisted.removeAll(listed.keySet());
      if (unlisted.isEmpty()) {
        return unlisted;
      }
      Moment begin = time.now();
      Duration wait = untilAllAreOld(unlisted);
      while (true) {
        boolean isLast = time.now().since(begin).compareTo(wait) >= 0;
        readNew();
        unlisted.removeAll(listed.keySet());
        if (unlisted.isEmpty() || isLast) {
          return unlisted;
        }
        time.sleep(LOOK_AGAIN);
      }
    }

    /**
     * Takes the names off that are not there any more; returns how long until all others are old.
     */
    private Duration untilAllAreOld(SortedSet<String> names) throws InterruptedException {
      List<Duration> waits = new ArrayList<>(List.of(Duration.ZERO));
      AtOnce.askOfAll(
          names,
          name -> objects.age(new DatasetFile(partition, name, 0)),
          (name, age) -> {
            if (age.isEmpty()) {
              names.remove(name);
            } else {
              waits.add(inFlight.minus(age.get()));
            }
          });
      return Collections.max(waits);
    }

    /** Reads what has been listed since the last look. */
    private void readNew() throws InterruptedException {
      DatasetReader.Snapshot snapshot = reader.snapshot();
      addIfNew(snapshot.listedInTheRoot(partition));
      for (Manifest one : snapshot.manifests(partition)) {
        if (seen.add(one)) {
          reader.manifests().tryRead(partition, one).ifPresent(this::addIfNew);
        }
      }
    }

    private void read(Manifest manifest) throws InterruptedException {
      Optional<List<ListedFile>> found = reader.manifests().tryRead(partition, manifest);
      if (found.isPresent()) {
        add(found.get());
      } else {
        findings.accept(
            new Discrepancy(Fault.UNREADABLE_MANIFEST, Manifests.path(partition, manifest.name())));
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
        if (bytes != null && bytes != one.file().bytes()) {
          tell(Fault.WRONG_HASH, one.file().name());
        } else {
          toRead.add(one); // a file that is not in the listing may have come after it
        }
      }
      AtOnce.askOfAll(toRead, one -> objects.content(one.file()), this::judge);
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
