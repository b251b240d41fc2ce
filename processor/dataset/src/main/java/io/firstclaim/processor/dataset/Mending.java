package io.firstclaim.processor.dataset;

import io.firstclaim.lock.Moment;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Makes the root list what is there, one partition after the other: adds the files that are not
 * listed, takes off those that are missing, and those that are listed twice once: of two entries
 * the one stays that says what was noted when the file was written, and of such the one that says
 * more. Others may write meanwhile. Thread-safe.
 */
final class Mending {
  /** Far longer than a file is there at most before it is listed, while nothing is amiss. */
  static final Duration YOUNG = Duration.ofMinutes(5);

  private final SharedRoot root;
  private final Manifests manifests;
  private final DatasetObjects objects;
  private final TimeSource time;

  Mending(SharedRoot root, Manifests manifests, DatasetObjects objects, TimeSource time) {
    this.root = root;
    this.manifests = manifests;
    this.objects = objects;
    this.time = time;
  }

  /**
   * Mends all partitions.
   *
   * @param isThorough whether to read all manifests, and compare the hash of each entry with that
   *     which was noted when its file was written; or only manifests of partitions whose counts and
   *     names are not those of the files that are there, or that lack one
   * @throws UnreadableException if a later version wrote the root
   * @throws StoreUnavailableException if S3 does not answer
   * @throws StoreRefusedException if the bucket must not be read or written
   */
  Repair mendAll(boolean isThorough) throws InterruptedException {
    Instant youngSince = time.now().wall().minus(YOUNG);
    // One root for all that it lists rightly; what is not is looked at with another. It is read
    // before the rest is listed: a file or a manifest that comes meanwhile is not missing.
    Root before = root.get();
    Map<String, Instant> manifestsThere = isThorough ? Map.of() : manifests.written("");
    SortedSet<String> partitions = new TreeSet<>(before.partitions().keySet());
    partitions.addAll(objects.partitions());
    Repair all = Repair.NONE;
    for (String partition : partitions) {
      Optional<Repair> young =
          isThorough ? Optional.empty() : mendYoung(partition, before, manifestsThere, youngSince);
      all =
          all.plus(
              young.isPresent()
                  ? young.get()
                  : mend(partition, manifestsThere.keySet(), isThorough));
    }
    return all;
  }

  /**
   * Mends a partition of which all manifests are there, and all files but young ones are listed as
   * they are: files that are written meanwhile are always met, and no other need be held in memory
   * for their sake.
   *
   * @param manifestsThere when each manifest was written that is there
   * @return empty if it is not such a partition
   */
  private Optional<Repair> mendYoung(
      String partition, Root before, Map<String, Instant> manifestsThere, Instant youngSince)
      throws InterruptedException {
    if (!areThere(partition, before, manifestsThere.keySet())) {
      return Optional.empty();
    }
    DatasetObjects.Listing there = objects.listing(partition, youngSince);
    SortedMap<String, Long> unlisted = there.young();
    Sum listed = there.old();
    for (Manifest manifest : before.manifests(partition)) {
      Instant written = manifestsThere.get(Manifests.path(partition, manifest.name()));
      // What an older one lists is older still.
      if (written != null && !written.isBefore(youngSince) && !unlisted.isEmpty()) {
        for (ListedFile one : manifests.tryRead(partition, manifest).orElse(List.of())) {
          Long bytes = unlisted.remove(one.file().name());
          listed = bytes == null ? listed : listed.plus(one.file().name(), bytes);
        }
      }
    }
    if (!listed.equals(before.sum(partition))) {
      return Optional.empty();
    }
    return unlisted.isEmpty()
        ? Optional.of(Repair.NONE)
        : new Pass(partition, before, unlisted).make();
  }

  /** Mends one partition, and reads all its manifests; throws as {@link #mendAll}. */
  Repair mend(String partition) throws InterruptedException {
    return mend(partition, Set.of(), false);
  }

  /**
   * Mends one partition.
   *
   * @param manifestsThere the paths of the manifests that were there when it began
   * @param asksOfAll whether to compare the hash of each entry, or only of those that differ
   */
  private Repair mend(String partition, Set<String> manifestsThere, boolean asksOfAll)
      throws InterruptedException {
    Repair all = Repair.NONE;
    while (true) {
      // Reads the root before looking for the files: one that comes meanwhile is not missing.
      Root before = root.get();
      Map<String, Long> there = objects.files(partition);
      if (areThere(partition, before, manifestsThere) && sum(there).equals(before.sum(partition))) {
        return all;
      }
      Pass look = new Pass(partition, before, there);
      look.compareAll(asksOfAll);
      Optional<Repair> pass = look.make();
      all = all.plus(pass.orElse(Repair.NONE));
      // A file may come back and find itself listed just before it is taken off: look again.
      if (pass.isPresent() && pass.get().removed() == 0) {
        return all;
      }
    }
  }

  /**
   * Whether all manifests that the root names are there. Some that came since they were listed may
   * be taken for missing; that costs a look at them.
   */
  private static boolean areThere(String partition, Root root, Set<String> manifestsThere) {
    return root.manifests(partition).stream()
        .allMatch(one -> manifestsThere.contains(Manifests.path(partition, one.name())));
  }

  private static Sum sum(Map<String, Long> files) {
    Sum sum = Sum.NONE;
    for (Map.Entry<String, Long> one : files.entrySet()) {
      sum = sum.plus(one.getKey(), one.getValue());
    }
    return sum;
  }

  /** Manifests of files of these names. */
  private record Written(Set<String> names, List<Manifest> manifests) {}

  /** One look at a partition. */
  private final class Pass {
    private final String partition;
    private final List<Manifest> listedBy;
    private final Map<String, Long> unlisted;
    private final Manifests.Lookup lookup;
    private final List<Manifest> gone = new ArrayList<>();
    private final List<ListedFile> kept = new ArrayList<>();

    /** The hashes that were noted when the files were written, by name, as far as S3 was asked. */
    private final Map<String, String> noted = new HashMap<>();

    private long foundBefore;
    private @Nullable Map<String, ListedFile> known;
    private @Nullable Written written;
    private long removed;
    private long added;
    private boolean isStale;

    /** A look at files that are there, of which this root lists none until they are compared. */
    Pass(String partition, Root before, Map<String, Long> there) {
      this.partition = partition;
      this.listedBy = before.manifests(partition);
      this.unlisted = new TreeMap<>(there);
      this.lookup = manifests.new Lookup(partition, unlisted.keySet());
    }

    /** Compares all that the root lists with what is there. */
    void compareAll(boolean asksOfAll) throws InterruptedException {
      List<Optional<List<ListedFile>>> entries = new ArrayList<>();
      for (Manifest manifest : listedBy) {
        entries.add(manifests.tryRead(partition, manifest));
      }
      Map<String, ListedFile> best =
          best(
              entries.stream().flatMap(Optional::stream).flatMap(List::stream).toList(), asksOfAll);
      for (int i = 0; i < listedBy.size(); i++) {
        compare(listedBy.get(i), entries.get(i), best);
      }
    }

    /** Of the entries of what is there, the one of each file that says most, by name. */
    private Map<String, ListedFile> best(List<ListedFile> entries, boolean asksOfAll)
        throws InterruptedException {
      askForHashes(entries, asksOfAll);
      Map<String, ListedFile> best = new HashMap<>();
      for (ListedFile one : entries) {
        if (isOfWhatIsThere(one)) {
          best.merge(one.file().name(), one, ListedFile::or);
        }
      }
      return best;
    }

    /** Asks which hash was noted, of all these files or of those whose entries differ. */
    private void askForHashes(List<ListedFile> entries, boolean ofAll) throws InterruptedException {
      Map<String, ListedFile> first = new HashMap<>();
      Map<String, DatasetFile> toAsk = new TreeMap<>();
      for (ListedFile one : entries) {
        if (isThere(one)) {
          ListedFile other = first.putIfAbsent(one.file().name(), one);
          if ((ofAll && one.sha256() != null)
              || (other != null && !Objects.equals(other.sha256(), one.sha256()))) {
            toAsk.put(one.file().name(), one.file());
          }
        }
      }
      AtOnce.askOfAll(
          toAsk.values(),
          objects::noted,
          (file, hash) -> hash.ifPresent(it -> noted.put(file.name(), it)));
    }

    private boolean isThere(ListedFile entry) {
      return Objects.equals(unlisted.get(entry.file().name()), entry.file().bytes());
    }

    /** Whether it is not known to be that of another content, which was there before. */
    private boolean isOfWhatIsThere(ListedFile entry) {
      String hash = noted.get(entry.file().name());
      return isThere(entry)
          && (hash == null || entry.sha256() == null || hash.equals(entry.sha256()));
    }

    /** Each of the best is met once, and then taken from them. */
    private void compare(
        Manifest manifest, Optional<List<ListedFile>> listed, Map<String, ListedFile> best) {
      List<ListedFile> right = new ArrayList<>();
      for (ListedFile one : listed.orElse(List.of())) {
        if (best.remove(one.file().name(), one)) {
          unlisted.remove(one.file().name());
          right.add(one);
        }
      }
      if (listed.isEmpty() || right.size() < listed.get().size()) {
        gone.add(manifest);
        foundBefore = Math.max(foundBefore, manifest.found());
        kept.addAll(right);
        removed += listed.orElse(List.of()).size() - right.size();
      }
    }

    /** Empty if others have changed what this look rests on. */
    Optional<Repair> make() throws InterruptedException {
      Moment begin = time.now();
      List<Manifest> mended = manifests.write(partition, kept);
      var _ = root.update(before -> mended(before, mended, begin));
      return isStale ? Optional.empty() : Optional.of(new Repair(added, removed, 0));
    }

    private Root mended(Root before, List<Manifest> mended, Moment begin)
        throws InterruptedException {
      List<Manifest> now = before.manifests(partition);
      isStale = !now.containsAll(gone) || Manifests.mayBeGone(begin, time.now());
      if (isStale) {
        return before;
      }
      Set<String> missing = new HashSet<>(unlisted.keySet());
      List<Manifest> others = now.stream().filter(one -> !listedBy.contains(one)).toList();
      missing.removeAll(lookup.listed(others));
      List<Manifest> come = new ArrayList<>();
      for (Manifest one : mended) {
        come.add(one.foundIn(foundBefore));
      }
      for (Manifest one : manifestsOf(missing)) {
        come.add(one.foundIn(before.version() + 1));
      }
      added = missing.size();
      Instant updatedAt = time.now().wall();
      return gone.isEmpty() && come.isEmpty()
          ? before
          : before.with(partition, gone, come, updatedAt);
    }

    /** Written again only if others have listed some of them since. */
    private List<Manifest> manifestsOf(Set<String> names) throws InterruptedException {
      if (written == null || !written.names().equals(names)) {
        written = new Written(names, manifests.write(partition, filesOf(names)));
      }
      return written.manifests();
    }

    /** What an earlier manifest says of them, if they are there as it says. */
    private List<ListedFile> filesOf(Set<String> names) throws InterruptedException {
      if (names.isEmpty()) {
        return List.of();
      }
      if (known == null) {
        known = known();
      }
      List<ListedFile> files = new ArrayList<>();
      for (String name : names) {
        DatasetFile file = new DatasetFile(partition, name, unlisted.getOrDefault(name, 0L));
        files.add(known.getOrDefault(name, new ListedFile(file, noted.get(name), null, null)));
      }
      return files;
    }

    private Map<String, ListedFile> known() throws InterruptedException {
      List<Manifest> right = new ArrayList<>(listedBy);
      right.removeAll(gone);
      return best(manifests.known(partition, right, unlisted.keySet()), false);
    }
  }
}
