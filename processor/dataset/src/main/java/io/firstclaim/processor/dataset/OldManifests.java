package io.firstclaim.processor.dataset;

import io.firstclaim.lock.Moment;
import io.firstclaim.lock.TimeSource;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Removes manifests that no root names any more, or that none ever did as their writer died: once
 * this instance has seen each so for a while, so that a reader who has an earlier root can go on
 * with it. For one thread.
 */
final class OldManifests {
  /** How long they are kept: for longer than any reader should take. */
  static final Duration KEPT = Duration.ofHours(2);

  private final SharedRoot root;
  private final Manifests manifests;
  private final TimeSource time;

  /** Since when each has been seen unnamed, by path. */
  private final Map<String, Moment> unnamed = new HashMap<>();

  OldManifests(SharedRoot root, Manifests manifests, TimeSource time) {
    this.root = root;
    this.manifests = manifests;
    this.time = time;
  }

  /**
   * Removes those whose time is up.
   *
   * @return how many
   */
  long remove() throws InterruptedException {
    Set<String> there = manifests.written("").keySet();
    Set<String> named = named(root.get());
    Moment now = time.now();
    unnamed.keySet().retainAll(there);
    unnamed.keySet().removeAll(named);
    for (String path : there) {
      if (!named.contains(path)) {
        unnamed.putIfAbsent(path, now);
      }
    }
    List<String> old =
        unnamed.entrySet().stream()
            .filter(one -> now.since(one.getValue()).compareTo(KEPT) >= 0)
            .map(Map.Entry::getKey)
            .toList();
    return old.isEmpty() ? 0 : remove(old);
  }

  /**
   * Writes the root first: who still means to name one of them in the root that it has read, after
   * a pause of hours, is refused then, and finds that it is too old.
   */
  private long remove(List<String> old) throws InterruptedException {
    Set<String> named =
        named(
            root.update(
                before -> new Root(before.version() + 1, before.updatedAt(), before.partitions())));
    long removed = 0;
    for (String path : old) {
      if (!named.contains(path)) {
        manifests.remove(path);
        unnamed.remove(path);
        removed++;
      }
    }
    return removed;
  }

  private static Set<String> named(Root root) {
    Set<String> named = new HashSet<>();
    root.partitions()
        .forEach(
            (partition, of) ->
                of.manifests().forEach(one -> named.add(Manifests.path(partition, one.name()))));
    return named;
  }
}
