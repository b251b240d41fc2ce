package io.firstclaim.processor.dataset;

import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.TimeSource;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Makes the root list what is there, one partition after the other: adds the files that are not
 * listed, takes off those that are missing, and those that are listed twice once. Others may write
 * meanwhile. For one thread.
 */
final class Mending {
  private final SharedRoot root;
  private final Manifests manifests;
  private final DatasetObjects objects;
  private final TimeSource time;

  /** The paths of the manifests that were there when it began. */
  private Set<String> manifestsThere = Set.of();

  Mending(SharedRoot root, Manifests manifests, DatasetObjects objects, TimeSource time) {
    this.root = root;
    this.manifests = manifests;
    this.objects = objects;
    this.time = time;
  }

  /**
   * Mends all partitions.
   *
   * @param isThorough whether to read all manifests; else only those of partitions whose counts and
   *     names are not those of the files that are there, or that lack a manifest
   * @throws UnreadableException if a later version wrote the root
   * @throws StoreUnavailableException if S3 does not answer
   * @throws StoreRefusedException if the bucket must not be read or written
   */
  Repair mendAll(boolean isThorough) throws InterruptedException {
    manifestsThere = isThorough ? Set.of() : new HashSet<>(manifests.paths(""));
    SortedSet<String> partitions = new TreeSet<>(root.get().partitions().keySet());
    partitions.addAll(objects.partitions());
    Repair all = Repair.NONE;
    for (String partition : partitions) {
      all = all.plus(mend(partition));
    }
    return all;
  }

  private Repair mend(String partition) throws InterruptedException {
    Repair all = Repair.NONE;
    while (true) {
      // Reads the root before looking for the files: one that comes meanwhile is not missing.
      Root before = root.get();
      Map<String, Long> there = objects.files(partition);
      if (areThere(partition, before) && isListed(before.partitions().get(partition), there)) {
        return all;
      }
      Optional<Repair> pass = new Pass(partition, before, there).make();
      all = all.plus(pass.orElse(Repair.NONE));
      // A file may come back and find itself listed just before it is taken off: look again.
      if (pass.isPresent() && pass.get().removed() == 0) {
        return all;
      }
    }
  }

  /** Those that came since they were listed may be taken for missing; that costs a look at them. */
  private boolean areThere(String partition, Root root) {
    return root.manifests(partition).stream()
        .allMatch(one -> manifestsThere.contains(Manifests.path(partition, one.name())));
  }

  private static boolean isListed(Root.@Nullable Partition listed, Map<String, Long> there) {
    if (listed == null) {
      return there.isEmpty();
    }
    long bytes = there.values().stream().mapToLong(Long::longValue).sum();
    long names = there.keySet().stream().mapToLong(Manifest::bits).reduce(0, (a, b) -> a ^ b);
    return listed.files() == there.size() && listed.bytes() == bytes && listed.names() == names;
  }

  /** One look at a partition. */
  private final class Pass {
    private final String partition;
    private final List<Manifest> listedBy;
    private final Map<String, Long> unlisted;
    private final List<Manifest> gone = new ArrayList<>();
    private final List<ListedFile> kept = new ArrayList<>();
    private long foundBefore;
    private long removed;
    private long added;
    private boolean isStale;

    Pass(String partition, Root before, Map<String, Long> there) throws InterruptedException {
      this.partition = partition;
      this.listedBy = before.manifests(partition);
      this.unlisted = new TreeMap<>(there);
      for (Manifest manifest : listedBy) {
        compare(manifest);
      }
    }

    private void compare(Manifest manifest) throws InterruptedException {
      List<ListedFile> right = new ArrayList<>();
      Optional<List<ListedFile>> listed = manifests.tryRead(partition, manifest);
      for (ListedFile one : listed.orElse(List.of())) {
        if (unlisted.remove(one.file().name(), one.file().bytes())) {
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
      List<Manifest> mended = manifests.write(partition, kept);
      var _ = root.update(before -> mended(before, mended));
      return isStale ? Optional.empty() : Optional.of(new Repair(added, removed, 0));
    }

    private Root mended(Root before, List<Manifest> mended) throws InterruptedException {
      List<Manifest> now = before.manifests(partition);
      isStale = !now.containsAll(gone);
      if (isStale) {
        return before;
      }
      Set<String> missing = new HashSet<>(unlisted.keySet());
      List<Manifest> others = now.stream().filter(one -> !listedBy.contains(one)).toList();
      missing.removeAll(manifests.listed(partition, others, missing));
      List<Manifest> come = new ArrayList<>();
      for (Manifest one : mended) {
        come.add(one.foundIn(foundBefore));
      }
      for (Manifest one : manifests.write(partition, filesOf(missing))) {
        come.add(one.foundIn(before.version() + 1));
      }
      added = missing.size();
      Instant updatedAt = time.now().wall();
      return gone.isEmpty() && come.isEmpty()
          ? before
          : before.with(partition, gone, come, updatedAt);
    }

    /** What an earlier manifest says of them, if they are there as it says. */
    private List<ListedFile> filesOf(Set<String> names) throws InterruptedException {
      if (names.isEmpty()) {
        return List.of();
      }
      Map<String, ListedFile> known = manifests.known(partition, names);
      return names.stream()
          .map(name -> new DatasetFile(partition, name, unlisted.getOrDefault(name, 0L)))
          .map(
              file -> {
                ListedFile before = known.get(file.name());
                return before != null && before.file().equals(file) ? before : ListedFile.of(file);
              })
          .collect(Collectors.toList());
    }
  }
}
