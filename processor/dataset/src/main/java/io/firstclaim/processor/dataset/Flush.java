package io.firstclaim.processor.dataset;

import io.firstclaim.lock.Moment;
import io.firstclaim.lock.TimeSource;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Lists files in one update of the root, by a new manifest in each of their partitions, and each of
 * them only if it is not listed yet. For one update, and one thread.
 *
 * <p>Who wrote an object knows that it was not listed before; after that, only who has found it in
 * the bucket can have listed it, and their manifests are marked. So usually none is read.
 */
final class Flush implements SharedRoot.Change {
  private final Manifests manifests;
  private final TimeSource time;
  private final Map<String, Map<String, Addition>> additions = new TreeMap<>();
  private final Map<String, Manifests.Lookup> lookups = new HashMap<>();
  private final Map<String, Written> written = new HashMap<>();
  private @Nullable Root before;

  /** What was written for a partition on the last root; that was not the last after all. */
  private record Written(Set<String> names, List<Manifest> manifests, Moment at) {}

  Flush(Collection<Addition> additions, Manifests manifests, TimeSource time) {
    this.manifests = manifests;
    this.time = time;
    for (Addition one : additions) {
      this.additions
          .computeIfAbsent(one.partition(), _ -> new TreeMap<>())
          .merge(one.name(), one, Addition::and);
    }
  }

  /**
   * Writes the manifests that this most likely takes, before the root is read: so the time is short
   * in which another instance may write the root first.
   */
  void writeAhead() throws InterruptedException {
    Map<String, Set<String>> likely = new TreeMap<>();
    additions.forEach(
        (partition, wanted) -> {
          if (wanted.values().stream().noneMatch(Addition::wasFound)) {
            likely.put(partition, wanted.keySet());
          }
        });
    write(likely, time.now());
  }

  /** The root that was found last; empty if none was. */
  Optional<Root> before() {
    return Optional.ofNullable(before);
  }

  @Override
  public Root apply(Root before) throws InterruptedException {
    this.before = before;
    Moment now = time.now();
    Map<String, Set<String>> unlisted = new TreeMap<>();
    for (String partition : additions.keySet()) {
      Set<String> names = unlisted(before, partition);
      if (!names.isEmpty()) {
        unlisted.put(partition, names);
      }
    }
    write(unlisted, now);
    Map<String, List<Manifest>> come = new TreeMap<>();
    for (String partition : unlisted.keySet()) {
      boolean anyFound = of(partition).values().stream().anyMatch(Addition::wasFound);
      come.put(
          partition,
          written(partition).manifests().stream()
              .map(one -> anyFound ? one.foundIn(before.version() + 1) : one)
              .toList());
    }
    return before.with(come, now.wall());
  }

  private Set<String> unlisted(Root root, String partition) throws InterruptedException {
    Map<String, Addition> wanted = of(partition);
    boolean anyFound = wanted.values().stream().anyMatch(Addition::wasFound);
    long since = wanted.values().stream().mapToLong(Addition::since).min().orElse(0);
    boolean wentBack = root.version() < since; // somebody has put an earlier root back
    List<Manifest> mayListThem =
        root.manifests(partition).stream()
            .filter(one -> anyFound || wentBack || one.found() > since)
            .toList();
    Set<String> names = new HashSet<>(wanted.keySet());
    names.removeAll(
        lookups
            .computeIfAbsent(partition, _ -> manifests.new Lookup(partition, wanted.keySet()))
            .listed(mayListThem));
    return names;
  }

  private void write(Map<String, Set<String>> unlisted, Moment now) throws InterruptedException {
    Map<String, List<ListedFile>> toWrite = new TreeMap<>();
    for (Map.Entry<String, Set<String>> one : unlisted.entrySet()) {
      Written before = written.get(one.getKey());
      if (before == null
          || !before.names().equals(one.getValue())
          || Manifests.mayBeGone(before.at(), now)) {
        toWrite.put(
            one.getKey(),
            of(one.getKey()).values().stream()
                .filter(each -> one.getValue().contains(each.name()))
                .map(Addition::file)
                .collect(Collectors.toList()));
      }
    }
    manifests
        .writeAll(toWrite)
        .forEach(
            (partition, come) ->
                written.put(
                    partition, new Written(unlisted.getOrDefault(partition, Set.of()), come, now)));
  }

  private Map<String, Addition> of(String partition) {
    return additions.getOrDefault(partition, Map.of());
  }

  private Written written(String partition) {
    Written found = written.get(partition);
    if (found == null) {
      throw new IllegalStateException("nothing was written for " + partition);
    }
    return found;
  }
}
