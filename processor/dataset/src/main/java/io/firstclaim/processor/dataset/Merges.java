package io.firstclaim.processor.dataset;

import io.firstclaim.lock.Moment;
import io.firstclaim.lock.OncePerMinute;
import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.mutex.HeldMutex;
import io.firstclaim.lock.mutex.Mutex;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes few manifests of many, so that the root stays small: by one instance at a time, beside
 * everything else. The old ones stay for those who have read the root before; a repair removes them
 * in the end. Thread-safe.
 */
final class Merges {
  private static final Logger LOG = LoggerFactory.getLogger(Merges.class);

  /** A partition with so many manifests that are not full is merged. */
  static final int MANY = 32;

  /** With so many manifests in all, the partition with most is merged, however few these are. */
  private static final int MANY_IN_ALL = 1_000;

  /** How long until a merge is tried again that failed, or that another instance is at. */
  static final Duration PAUSE = Duration.ofSeconds(5);

  private final SharedRoot root;
  private final Manifests manifests;
  private final PartitionMending mending;
  private final Mutex mutex;
  private final TimeSource time;
  private final OncePerMinute complaints;
  private final AtomicBoolean isMerging = new AtomicBoolean();

  /**
   * What is to be merged.
   *
   * @param gone two at least
   */
  record Plan(String partition, List<Manifest> gone) {}

  /**
   * Merges what this root names.
   *
   * @param mending mends a partition where a manifest is none
   */
  Merges(
      SharedRoot root,
      Manifests manifests,
      PartitionMending mending,
      Mutex mutex,
      TimeSource time) {
    this.root = root;
    this.manifests = manifests;
    this.mending = mending;
    this.mutex = mutex;
    this.time = time;
    this.complaints = new OncePerMinute(time);
  }

  /** Begins to merge, on a thread of its own, if this root needs it and nothing is under way. */
  void after(Root seen) {
    if (plan(seen).isPresent() && !isMerging.getAndSet(true)) {
      try {
        Thread.ofVirtual().name("dataset-merge").start(this::run);
      } catch (Throwable fault) {
        isMerging.set(false);
        throw fault;
      }
    }
  }

  private void run() {
    try {
      if (!mergeAll()) {
        time.sleep(PAUSE);
      }
    } catch (InterruptedException _) {
      LOG.debug("No more merges");
    } catch (Throwable fault) {
      if (complaints.isDue()) {
        LOG.warn("The dataset's manifests were not merged: {}", OneLine.of(fault));
      }
      sleepAfter(fault);
    } finally {
      isMerging.set(false);
    }
  }

  private void sleepAfter(Throwable fault) {
    try {
      time.sleep(PAUSE);
    } catch (InterruptedException _) {
      LOG.debug("No more merges", fault);
    }
  }

  /** Merges all that is to be merged; false if another instance is doing so. */
  boolean mergeAll() throws InterruptedException {
    Optional<HeldMutex> turn = mutex.acquire(Duration.ZERO);
    if (turn.isEmpty()) {
      return false;
    }
    // Losing it does no harm: a merge changes the root by compare-and-swap like any writer.
    try (HeldMutex held = turn.get()) {
      Set<String> mended = new HashSet<>();
      Optional<Plan> plan = plan(root.get());
      while (plan.isPresent() && held.isHeld()) {
        plan = plan(mergeOrMend(plan.get(), mended));
      }
    }
    return true;
  }

  /**
   * Merges, unless a manifest is none, or lists a file that another does too: then has the
   * partition mended first.
   *
   * @param mended those that were; once is enough
   */
  private Root mergeOrMend(Plan plan, Set<String> mended) throws InterruptedException {
    try {
      return merge(plan, mended);
    } catch (UnreadableManifestException e) {
      if (!mended.add(e.partition())) {
        throw e;
      }
      LOG.warn("{}. This instance does that now", e.getMessage());
      LOG.info("Mended {}: {}", e.partition(), mending.mend(e.partition()));
      return root.get();
    }
  }

  private Root merge(Plan plan, Set<String> mended) throws InterruptedException {
    Map<String, ListedFile> files = new LinkedHashMap<>();
    for (List<ListedFile> each : manifests.readAll(plan.partition(), plan.gone())) {
      each.forEach(file -> files.merge(file.file().name(), file, ListedFile::or));
    }
    long listed = plan.gone().stream().mapToLong(Manifest::files).sum();
    if (files.size() < listed && mended.add(plan.partition())) {
      // Which of two entries is right, the repair finds out, and only while both are there.
      LOG.info("Mended {}: {}", plan.partition(), mending.mend(plan.partition()));
      return root.get();
    }
    long found = plan.gone().stream().mapToLong(Manifest::found).max().orElse(0);
    Moment written = time.now();
    List<Manifest> come = new ArrayList<>();
    for (Manifest one : manifests.write(plan.partition(), files.values())) {
      come.add(one.foundIn(found));
    }
    // If a repair has come between, the plan is void, and what was written is removed by another.
    return root.update(
        before ->
            before.manifests(plan.partition()).containsAll(plan.gone())
                    && !Manifests.mayBeGone(written, time.now())
                ? before.merged(plan.partition(), plan.gone(), come)
                : before);
  }

  /** How many manifests of a root are to be merged with others, if it wants any to be. */
  static long due(Root root) {
    return plan(root).isEmpty()
        ? 0
        : candidates(root).stream().mapToLong(one -> one.gone().size()).sum();
  }

  /** What a root wants to have merged first. */
  static Optional<Plan> plan(Root root) {
    List<Plan> candidates = candidates(root);
    int inAll = candidates.stream().mapToInt(one -> one.gone().size()).sum();
    int least = inAll >= MANY_IN_ALL ? 2 : MANY;
    return candidates.stream()
        .filter(one -> one.gone().size() >= least)
        .max(Comparator.comparingInt(one -> one.gone().size()))
        .map(one -> new Plan(one.partition(), smallest(one.gone())));
  }

  /** Plans that merge all manifests which are not full, in partitions that have several of them. */
  private static List<Plan> candidates(Root root) {
    List<Plan> candidates = new ArrayList<>();
    for (String partition : root.partitions().keySet()) {
      List<Manifest> open =
          root.manifests(partition).stream()
              .filter(one -> !one.isFull())
              .sorted(Comparator.comparingLong(Manifest::files))
              .toList();
      if (open.size() > 1) {
        candidates.add(new Plan(partition, open));
      }
    }
    return candidates;
  }

  /**
   * The smallest half at least, and then each that is no larger than all before it together: so a
   * file is written again only a few times until it is in a full manifest, and not at each merge.
   */
  private static List<Manifest> smallest(List<Manifest> ascending) {
    int half = Math.max(2, ascending.size() / 2);
    List<Manifest> chosen = new ArrayList<>();
    long files = 0;
    for (Manifest one : ascending) {
      if (chosen.size() >= half && one.files() > files) {
        break;
      }
      chosen.add(one);
      files += one.files();
    }
    return chosen;
  }
}
