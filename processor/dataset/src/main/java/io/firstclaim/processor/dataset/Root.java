package io.firstclaim.processor.dataset;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The root of the dataset: its partitions, and by which manifests they are listed. It is a value;
 * the changes make another.
 *
 * @param version rises with each root that is written. That of a dataset's first root is the time
 *     in milliseconds, so that it has risen too where the root was lost meanwhile
 * @param updatedAt when it was written
 * @param partitions by their path; none is empty
 */
record Root(long version, Instant updatedAt, SortedMap<String, Partition> partitions) {
  /**
   * A partition.
   *
   * @param updatedAt when files were last listed in it or taken off the list
   * @param manifests that list its files, each file once
   */
  record Partition(Instant updatedAt, List<Manifest> manifests) {
    long files() {
      return manifests.stream().mapToLong(Manifest::files).sum();
    }

    long bytes() {
      return manifests.stream().mapToLong(Manifest::bytes).sum();
    }
  }

  /** A root that lists nothing. */
  static Root empty(Instant now) {
    return new Root(now.toEpochMilli(), now, new TreeMap<>());
  }

  long files() {
    return partitions.values().stream().mapToLong(Partition::files).sum();
  }

  long bytes() {
    return partitions.values().stream().mapToLong(Partition::bytes).sum();
  }

  /** The manifests of a partition; none if there is no such partition. */
  List<Manifest> manifests(String partition) {
    Partition found = partitions.get(partition);
    return found == null ? List.of() : found.manifests();
  }

  /** What the files of a partition come to, each as often as it is listed. */
  Sum sum(String partition) {
    return manifests(partition).stream()
        .map(one -> new Sum(one.files(), one.bytes(), one.names()))
        .reduce(Sum.NONE, Sum::plus);
  }

  /** The root in which a partition has files that are listed, or taken off the list, now. */
  Root with(
      String partition, Collection<Manifest> gone, Collection<Manifest> come, Instant updatedAt) {
    List<Manifest> manifests = new ArrayList<>(manifests(partition));
    manifests.removeAll(gone);
    manifests.addAll(come);
    SortedMap<String, Partition> after = new TreeMap<>(partitions);
    if (manifests.isEmpty()) {
      after.remove(partition);
    } else {
      after.put(partition, new Partition(updatedAt, manifests));
    }
    return new Root(version, this.updatedAt, after);
  }

  /** The root in which partitions have more files that are listed now; the same if none has. */
  Root with(Map<String, List<Manifest>> come, Instant updatedAt) {
    if (come.isEmpty()) {
      return this;
    }
    SortedMap<String, Partition> after = new TreeMap<>(partitions);
    come.forEach(
        (partition, more) -> {
          List<Manifest> all = new ArrayList<>(manifests(partition));
          all.addAll(more);
          after.put(partition, new Partition(updatedAt, all));
        });
    return new Root(version, this.updatedAt, after);
  }

  /** The root in which the same files of a partition are listed by other manifests. */
  Root merged(String partition, Collection<Manifest> gone, Collection<Manifest> come) {
    @Nullable Partition before = partitions.get(partition);
    return with(partition, gone, come, before == null ? updatedAt : before.updatedAt());
  }

  /** This root as the next that is written. */
  Root next(Instant now) {
    return new Root(version + 1, now, partitions);
  }
}
