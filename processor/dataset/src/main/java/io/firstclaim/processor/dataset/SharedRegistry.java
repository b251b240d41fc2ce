package io.firstclaim.processor.dataset;

import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.document.DocumentKey;
import io.firstclaim.lock.document.SharedDocuments;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The registry that all instances share, one document, updated by compare-and-swap. An update reads
 * and writes all of it, and a document is at most 8 MiB: about 100,000 files. Thread-safe.
 */
final class SharedRegistry {
  /** Where it is, from the dataset's prefix on. */
  static final String PATH = "metastore/dataset_registry.json";

  private static final Logger LOG = LoggerFactory.getLogger(SharedRegistry.class);
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final SharedDocuments documents;
  private final DocumentKey key;
  private final TimeSource time;

  SharedRegistry(SharedDocuments documents, String prefix, TimeSource time) {
    this.documents = documents;
    this.key = DocumentKey.of(prefix + PATH);
    this.time = time;
  }

  /**
   * Lists files, all in one update or none; what is listed already stays listed once.
   *
   * @throws StoreRefusedException if what is there is not a registry, or is full
   * @throws RuntimeException else what {@link SharedDocuments#update} throws
   */
  void add(Collection<DatasetFile> files) throws InterruptedException {
    update(
        found -> found.map(this::parse).orElseGet(Registry::new),
        registry -> {
          boolean isChanged = false;
          for (DatasetFile file : files) {
            isChanged |= registry.add(file);
          }
          return isChanged;
        });
  }

  /**
   * Lists the files that are there and takes those that are missing off the list. Replaces what is
   * not a registry.
   *
   * @return what was done
   * @throws RuntimeException as {@link #add}
   */
  Repair mend(Collection<DatasetFile> there, Collection<DatasetFile> missing)
      throws InterruptedException {
    Count count = new Count();
    update(
        this::parseOrNothing,
        registry -> {
          count.removed = missing.stream().filter(registry::remove).count();
          count.added = there.stream().filter(registry::add).count();
          return count.added + count.removed > 0;
        });
    return new Repair(count.added, count.removed, 0);
  }

  /** Counts from the last time that a change was applied. */
  private static final class Count {
    private long added;
    private long removed;
  }

  /**
   * The files that it lists; none if it is not a registry.
   *
   * @throws RuntimeException as {@link #add}
   */
  List<DatasetFile> files() throws InterruptedException {
    return parseOrNothing(Optional.of(update(this::parseOrNothing, _ -> false))).files();
  }

  private String update(Reader reader, Predicate<Registry> change) throws InterruptedException {
    Instant now = time.now().wall();
    try {
      return documents.update(
          key,
          PATIENCE,
          found -> {
            Registry registry = reader.read(found);
            boolean isChanged = change.test(registry);
            return found.isPresent() && !isChanged ? found.get() : registry.text(now);
          });
    } catch (IllegalArgumentException e) {
      throw new StoreRefusedException(
          "the registry of the dataset is full: %s. Begin another dataset, with another prefix"
              .formatted(e.getMessage()));
    }
  }

  /** How to read what is there. */
  private interface Reader {
    Registry read(Optional<String> found);
  }

  private Registry parse(String text) {
    try {
      return Registry.parse(text);
    } catch (IllegalArgumentException e) {
      throw new StoreRefusedException(
          "%s is not a registry of a dataset: %s. The repair at the next start replaces it"
              .formatted(key, e.getMessage()));
    }
  }

  private Registry parseOrNothing(Optional<String> found) {
    try {
      return found.map(Registry::parse).orElseGet(Registry::new);
    } catch (IllegalArgumentException e) {
      LOG.warn("{} is not a registry of a dataset and will be made anew: {}", key, e.getMessage());
      return new Registry();
    }
  }
}
