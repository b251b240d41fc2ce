package io.firstclaim.processor.dataset;

import io.firstclaim.lock.Moment;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.document.DocumentKey;
import io.firstclaim.lock.document.DocumentStore;
import io.firstclaim.lock.document.History;
import io.firstclaim.lock.document.SharedDocuments;
import io.firstclaim.lock.document.WriteResult;
import io.firstclaim.processor.dataset.RootText.Found;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The root that all instances share, one document, updated by compare-and-swap. A registry of
 * schema version 1 is moved on by the first update that finds it, whoever makes that. Thread-safe.
 */
final class SharedRoot {
  private static final Logger LOG = LoggerFactory.getLogger(SharedRoot.class);
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final RootObject object;
  private final DocumentStore store;
  private final SharedDocuments documents;
  private final Manifests manifests;
  private final DocumentKey key;
  private final TimeSource time;

  private volatile long lastSeen;

  /** What was written last, so that it need not be parsed if nobody else has written since. */
  private volatile @Nullable Written written;

  private record Written(String text, Root root) {}

  SharedRoot(RootObject object, DocumentStore store, Manifests manifests, TimeSource time) {
    this.object = object;
    this.store = store;
    this.documents = new SharedDocuments(store, time);
    this.manifests = manifests;
    this.key = object.key();
    this.time = time;
  }

  /** Makes another root of the one that is there. */
  interface Change {
    /**
     * The root that should be there; the same to write nothing. May be called several times, each
     * time with what is there then. May read and write manifests, of which none counts before the
     * root names it.
     */
    Root apply(Root before) throws InterruptedException;
  }

  /** Gets an interrupt through a function that knows of none. */
  private static final class Interrupted extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Interrupted(InterruptedException cause) {
      super(cause);
    }
  }

  /**
   * Updates the root; makes it if there is none.
   *
   * @return the root after the update
   * @throws UnreadableException if what is there is not a root; nothing was written
   * @throws RuntimeException whatever else {@link SharedDocuments#update} throws
   */
  Root update(Change change) throws InterruptedException {
    try {
      return tryUpdate(change);
    } catch (StoreRefusedException e) {
      if (!adopt(e)) {
        throw e;
      }
      return tryUpdate(change);
    }
  }

  /** The root, made or moved on if need be; throws as {@link #update} does. */
  Root get() throws InterruptedException {
    return update(before -> before);
  }

  private Root tryUpdate(Change change) throws InterruptedException {
    MovingOn movingOn = new MovingOn();
    AtomicReference<Root> last = new AtomicReference<>(Root.empty(Instant.EPOCH));
    Change noted =
        before -> {
          last.set(before);
          return change.apply(before);
        };
    try {
      Root after =
          current(
              documents.update(
                  key,
                  PATIENCE,
                  found -> {
                    try {
                      return updated(found, noted, movingOn);
                    } catch (InterruptedException e) {
                      throw new Interrupted(e);
                    }
                  }));
      // Not the highest, as somebody may put an earlier root back. One that is too low, after two
      // updates at once, costs reads of manifests and no more.
      lastSeen = after.version();
      return after;
    } catch (Interrupted e) {
      throw (InterruptedException) new InterruptedException().initCause(e);
    } catch (IllegalArgumentException e) {
      throw new StoreRefusedException(
          "the root of the dataset is full: %s. %s"
              .formatted(e.getMessage(), remedy(Merges.due(last.get()))));
    }
  }

  private static String remedy(long due) {
    return due > 0
        ? "%d manifests are still to be merged, after which it is smaller: until then, files wait to be listed"
            .formatted(due)
        : "Begin another dataset, with another prefix";
  }

  private String updated(Optional<String> found, Change change, MovingOn movingOn)
      throws InterruptedException {
    Instant now = time.now().wall();
    if (found.isEmpty() && lastSeen() > 0) {
      LOG.warn(
          "{} is gone. It is made anew, and lists only what comes until a repair has filled it: put"
              + " the last version of it back, or run 'java -jar firstclaim.jar dataset repair'",
          object);
    }
    Root before =
        switch (found.map(this::parsed).orElseGet(() -> new Found.Current(Root.empty(now)))) {
          case Found.Current(Root root) -> movingOn.notNeeded(root);
          case Found.VersionOne(List<DatasetFile> files) -> movingOn.moved(files, now);
        };
    Root after = change.apply(before);
    boolean isToBeWritten = found.isEmpty() || movingOn.isUnderWay || !after.equals(before);
    return isToBeWritten ? text(after.next(now)) : found.get();
  }

  private String text(Root root) {
    String text = RootText.of(root);
    written = new Written(text, root);
    return text;
  }

  private Found parsed(String text) {
    Written last = written;
    return last != null && last.text().equals(text)
        ? new Found.Current(last.root())
        : object.parsed(text);
  }

  /** The version of the root that this instance saw last; 0 if none. */
  long lastSeen() {
    return lastSeen;
  }

  private Root current(String text) {
    return switch (parsed(text)) {
      case Found.Current(Root root) -> root;
      case Found.VersionOne _ -> throw new IllegalStateException("it was moved on");
    };
  }

  /**
   * Takes a root that somebody has changed by hand, beside a history that is not its own, for what
   * it is.
   *
   * @return whether there is a document now
   * @throws UnreadableException if what is there is not a root
   */
  private boolean adopt(StoreRefusedException refusal) throws InterruptedException {
    if (isDocument()) {
      return false; // the root is a document, so the refusal was of something else
    }
    Optional<RootObject.Content> there;
    try {
      there = object.find();
    } catch (StoreRefusedException | StoreUnavailableException _) {
      return false;
    }
    if (there.isEmpty()) {
      return false;
    }
    var _ = object.parsed(there.get().text());
    LOG.info("Object {} was changed by hand ({})", key, refusal.getMessage());
    return replace(there.get(), there.get().text());
  }

  private boolean isDocument() {
    try {
      var _ = store.find(key);
      return true;
    } catch (StoreRefusedException | StoreUnavailableException | IllegalArgumentException _) {
      return false;
    }
  }

  /**
   * Puts an empty root where something is that is not one, and not a later version's either: a
   * repair fills it.
   *
   * @return whether there was such a thing
   * @throws UnreadableException if a later version wrote it
   * @throws RuntimeException whatever else {@link #update} throws
   */
  boolean renewIfUnreadable() throws InterruptedException {
    Optional<RootObject.Content> there = object.find();
    if (there.isEmpty()) {
      return false;
    }
    try {
      var _ = RootText.parse(there.get().text());
      return false;
    } catch (RootText.NewerVersionException e) {
      throw object.unreadable(e);
    } catch (IllegalArgumentException e) {
      LOG.warn("{} is not the root of a dataset, and is made anew: {}", object, e.getMessage());
      return replace(there.get(), RootText.of(Root.empty(time.now().wall())));
    }
  }

  /** Writes over what is there, if it is there still; whether somebody has. */
  private boolean replace(RootObject.Content there, String text) {
    return switch (store.write(key, there.eTag(), text, History.NONE.with(Nonce.random()))) {
      case WriteResult.Written _, WriteResult.Differs _ -> true;
      case WriteResult.Unknown(String why) -> {
        String message = "%s was not answered for: %s".formatted(object, why);
        throw new StoreUnavailableException(message, new IllegalStateException(message));
      }
    };
  }

  /**
   * Makes a root of a registry of version 1. Others may still write that meanwhile: what was moved
   * is moved once, as long as its partition stays as it was. For one thread.
   */
  private final class MovingOn {
    private final Map<String, List<ListedFile>> files = new HashMap<>();
    private final Map<String, List<Manifest>> moved = new HashMap<>();
    private boolean isUnderWay;
    private Moment begun = time.now();

    /** The root stays as it is: there is nothing to do, as when another instance has done it. */
    Root notNeeded(Root root) {
      isUnderWay = false;
      return root;
    }

    Root moved(List<DatasetFile> listed, Instant now) throws InterruptedException {
      Map<String, List<ListedFile>> partitions =
          listed.stream()
              .collect(
                  Collectors.groupingBy(
                      DatasetFile::partition,
                      Collectors.mapping(ListedFile::of, Collectors.toList())));
      if (Manifests.mayBeGone(begun, time.now())) {
        files.clear();
        begun = time.now();
      }
      Map<String, List<ListedFile>> changed = new HashMap<>(partitions);
      changed.entrySet().removeIf(one -> one.getValue().equals(files.get(one.getKey())));
      moved.putAll(manifests.writeAll(changed));
      files.putAll(changed);
      Map<String, List<Manifest>> found = new HashMap<>();
      for (String partition : partitions.keySet()) {
        // An instance of 0.1.0 may have found, and listed, what another is about to list.
        found.put(
            partition,
            moved.getOrDefault(partition, List.of()).stream()
                .map(one -> one.foundIn(now.toEpochMilli() + 1))
                .toList());
      }
      Root made = Root.empty(now).with(found, now);
      isUnderWay = true;
      LOG.info(
          "Object {} is a registry of schema version 1 with {} files: moving it on to version {}",
          key,
          listed.size(),
          RootText.SCHEMA_VERSION);
      return made;
    }
  }
}
