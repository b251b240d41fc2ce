package io.firstclaim.lock.document;

import io.firstclaim.lock.ContendedException;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.Patience;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.TimeSource;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Documents that many writers, in many processes, update at once without losing an update: each
 * reads the document, applies its change and writes the result on the condition that nobody has
 * written meanwhile; otherwise it starts over.
 *
 * {@snippet :
 * var documents =
 *     new SharedDocuments(new DynamoDbDocumentStore(client, "firstclaim"), TimeSource.system());
 * String visits =
 *     documents.update(
 *         DocumentKey.of("statistics/visits"),
 *         Duration.ofSeconds(10),
 *         old -> Long.toString(old.map(Long::parseLong).orElse(0L) + 1));
 * }
 *
 * <p>Every update is made once or not at all, even when answers are lost: the document carries a
 * {@link History} of its writes, by which a writer recognises its own. The first update adopts a
 * text that others have put there before, such as a JSON file; from then on they must update it
 * here, too.
 *
 * <p>Thread-safe. Use one instance for all updates of a process; it counts as as many writers as it
 * has updates under way at once.
 */
public final class SharedDocuments {
  private final DocumentStore store;
  private final TimeSource time;
  private final UpdateListener listener;

  /** The next nonce of each idle writer, the one that worked last in front. */
  private final ConcurrentLinkedDeque<Nonce> idle = new ConcurrentLinkedDeque<>();

  /** Documents in this store. */
  public SharedDocuments(DocumentStore store, TimeSource time) {
    this(store, time, UpdateListener.NONE);
  }

  /** Documents in this store; a listener hears how many tries each update takes. */
  public SharedDocuments(DocumentStore store, TimeSource time, UpdateListener listener) {
    this.store = store;
    this.time = time;
    this.listener = listener;
  }

  /**
   * Updates a document, or creates it. A change that leaves it as it is writes nothing.
   *
   * @param atMost how long to go on trying; zero tries once
   * @param change makes what should be there of what is, if anything. May be called several times,
   *     each time with what was there then; must have no other effect. What it throws ends the
   *     update, with nothing written.
   * @return the document after the update
   * @throws ContendedException if others were faster until the time was up; nothing was written
   * @throws OutcomeUnknownException if the update was sent and the store did not say before the
   *     time was up whether it was applied, or too many others have written since
   * @throws StoreUnavailableException if the store did not answer before the time was up; nothing
   *     was written
   * @throws StoreRefusedException if the document must not be read or written; nothing was written
   * @throws IllegalArgumentException if the document would be too large, or UTF-8 cannot write it
   * @throws InterruptedException if the thread is interrupted; the update may have been made
   */
  public String update(DocumentKey key, Duration atMost, Function<Optional<String>, String> change)
      throws InterruptedException {
    Change toText = old -> Objects.requireNonNull(change.apply(old), "a change makes a text");
    return Objects.requireNonNull(make(key, atMost, null, toText).after);
  }

  /**
   * The same, under a nonce that the caller has for this update alone: an update that is repeated
   * under its nonce is not made again, whichever process repeats it, as long as the document was
   * not deleted, and no {@value History#WRITERS} others have written since, of which one under such
   * a nonce counts as two. So that it is known, one that leaves the document as it is writes, too.
   *
   * @param nonce of which nobody has another with the same {@linkplain Nonce#high() high half}
   * @return the document after the update, or as it is now if the update was made before
   * @throws RuntimeException as {@link #update(DocumentKey, Duration, Function)} does, in the same
   *     cases
   * @throws InterruptedException if the thread is interrupted; the update may have been made
   */
  public String update(
      DocumentKey key, Duration atMost, Nonce nonce, Function<Optional<String>, String> change)
      throws InterruptedException {
    Change toText = old -> Objects.requireNonNull(change.apply(old), "a change makes a text");
    return Objects.requireNonNull(make(key, atMost, nonce, toText).after);
  }

  /**
   * Deletes a document, if it meets the condition. Its history goes with it: of an update under way
   * whose answer was lost nobody can tell then whether it was made, nor of this deletion if others
   * make the document anew.
   *
   * @param atMost how long to go on trying; zero tries once
   * @param condition of the document as it is. May be called several times, each time with what is
   *     there then; must have no other effect.
   * @return the document that was deleted; empty if there is none, or it does not meet the
   *     condition. One that somebody else has deleted counts as deleted here if the store's answer
   *     was lost.
   * @throws RuntimeException as {@link #update} does, in the same cases
   * @throws InterruptedException if the thread is interrupted; the document may have been deleted
   */
  public Optional<String> deleteIf(DocumentKey key, Duration atMost, Predicate<String> condition)
      throws InterruptedException {
    Update deletion =
        make(key, atMost, null, old -> old.filter(text -> !condition.test(text)).orElse(null));
    return Optional.ofNullable(deletion.deleted);
  }

  private Update make(DocumentKey key, Duration atMost, @Nullable Nonce callers, Change change)
      throws InterruptedException {
    Nonce own = Objects.requireNonNullElseGet(idle.pollFirst(), Nonce::random);
    try {
      return made(new Update(key, change, own, callers, new Patience(time, atMost)));
    } finally {
      idle.addFirst(own.next());
    }
  }

  private Update made(Update update) throws InterruptedException {
    Moment begin = time.now();
    try {
      update.make();
      return update;
    } finally {
      listener.ended(update.key, update.retries, time.now().since(begin));
    }
  }

  /** What should be there instead of what is; null for nothing. */
  private interface Change {
    @Nullable String apply(Optional<String> old);
  }

  /**
   * A write that was sent without our knowing whether it was applied; it may even be applied later.
   *
   * @param content null for a deletion
   */
  private record Pending(@Nullable Document on, @Nullable String content, String why) {
    /**
     * Only one write is applied to a version; so while that version stands, this one has not been.
     */
    boolean mayTakeOn(@Nullable Document found) {
      return Objects.equals(versionOf(on), versionOf(found));
    }

    /**
     * Whether this would be seen, had it been applied: a write in the history, a deletion by the
     * history's beginning anew. That of an adopted document would begin either way.
     */
    boolean wouldShowIn(Document found, Nonce nonce) {
      return found.history().wouldHave(nonce, historyOf(on))
          && (content != null || !historyOf(on).equals(History.NONE));
    }
  }

  /**
   * One update. All its writes have one nonce of its writer's, as at most one of them is applied:
   * each is conditional on the version read, and that read showed none of the earlier ones. A
   * caller's nonce is in the history beside it: that one may come again, on a document that was
   * deleted since, and a version never does.
   */
  private final class Update {
    private final DocumentKey key;
    private final Change change;
    private final Nonce own;
    private final Nonce nonce;
    private final Patience patience;

    /** The document's first nonce, if this update is what makes the document. */
    private final Nonce birth = Nonce.random();

    private @Nullable Pending pending;
    private int retries;

    /** What is there after the update; null for nothing. */
    private @Nullable String after;

    /** What was there before it, if nothing is since. */
    private @Nullable String deleted;

    Update(DocumentKey key, Change change, Nonce own, @Nullable Nonce callers, Patience patience) {
      this.key = key;
      this.change = change;
      this.own = own;
      this.nonce = callers == null ? own : callers;
      this.patience = patience;
    }

    void make() throws InterruptedException {
      try {
        tryUntilItTakes();
      } catch (StoreRefusedException e) {
        if (pending == null) {
          throw e;
        }
        throw new OutcomeUnknownException(
            "%s: %s, and then %s".formatted(unknown(), pending.why(), e.getMessage()));
      }
    }

    private void tryUntilItTakes() throws InterruptedException {
      Document found = find();
      if (found != null && found.history().has(nonce)) {
        // This update was made before, under the nonce that the caller gave.
        after = found.content();
        return;
      }
      while (true) {
        after = contentFor(found);
        if (!mayBeRepeated() && Objects.equals(contentOf(found), after)) {
          return;
        }
        switch (send(found, after)) {
          case WriteResult.Written unused -> {
            deleted = after == null ? contentOf(found) : null;
            return;
          }
          case WriteResult.Differs unused -> {}
          case WriteResult.Unknown(String why) -> pending = new Pending(found, after, why);
        }
        pause();
        found = find();
        if (found != null && found.history().has(nonce)) {
          return;
        }
        if (found == null && pending != null && pending.content() == null) {
          deleted = contentOf(pending.on());
          return;
        }
        settlePending(found);
        if (patience.isOver()) {
          throw outOfTime();
        }
      }
    }

    /** Whoever has a nonce of its own for this update may send it again. */
    private boolean mayBeRepeated() {
      return !nonce.equals(own);
    }

    private WriteResult send(@Nullable Document on, @Nullable String content) {
      return content == null
          ? store.delete(key, Objects.requireNonNull(on).version())
          : store.write(key, versionOf(on), content, historyAfter(on));
    }

    /**
     * The history after the update. It begins with a write by nobody, so that a document that is
     * made anew is known by that.
     */
    private History historyAfter(@Nullable Document on) {
      History before = historyOf(on);
      return (before.equals(History.NONE) ? before.with(birth) : before).with(nonce).with(own);
    }

    /**
     * What the document is to have. It is the same for the same version, so that whichever write is
     * applied to it writes the same.
     */
    private @Nullable String contentFor(@Nullable Document found) {
      if (pending != null) {
        return pending.content();
      }
      String content = change.apply(Optional.ofNullable(contentOf(found)));
      if (content != null && !StandardCharsets.UTF_8.newEncoder().canEncode(content)) {
        throw new IllegalArgumentException(
            "document %s would have half a surrogate pair, which UTF-8 cannot write"
                .formatted(key));
      }
      return content;
    }

    /**
     * What is there now does not show this update: forgets a write that can no longer be applied.
     */
    private void settlePending(@Nullable Document found) {
      if (pending == null || pending.mayTakeOn(found)) {
        return;
      }
      if (found == null || !pending.wouldShowIn(found, nonce)) {
        throw new OutcomeUnknownException(
            "%s: %s, and %s since".formatted(unknown(), pending.why(), whatBecameOf(found)));
      }
      pending = null;
    }

    private static String whatBecameOf(@Nullable Document found) {
      if (found == null) {
        return "it was deleted";
      }
      return found.history().writes().size() < History.WRITERS
          ? "its history has begun anew"
          : "%d others have written".formatted(History.WRITERS);
    }

    private @Nullable Document find() throws InterruptedException {
      while (true) {
        try {
          return store.find(key).orElse(null);
        } catch (StoreUnavailableException e) {
          if (patience.isOver()) {
            throw pending == null ? e : outOfTime();
          }
          pause();
        }
      }
    }

    private void pause() throws InterruptedException {
      retries++;
      patience.pause();
    }

    private RuntimeException outOfTime() {
      return pending == null
          ? new ContendedException(
              "document %s was not updated: others were faster until the time was up. Nothing was"
                      .formatted(key)
                  + " written; allow more time, or gather changes into fewer updates")
          : new OutcomeUnknownException(
              "%s: %s, until the time was up".formatted(unknown(), pending.why()));
    }

    private String unknown() {
      return "it is not known whether the update of document %s was applied".formatted(key);
    }
  }

  private static @Nullable String contentOf(@Nullable Document document) {
    return document == null ? null : document.content();
  }

  private static @Nullable String versionOf(@Nullable Document document) {
    return document == null ? null : document.version();
  }

  private static History historyOf(@Nullable Document document) {
    return document == null ? History.NONE : document.history();
  }
}
