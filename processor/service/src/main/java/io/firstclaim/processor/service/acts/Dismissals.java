package io.firstclaim.processor.service.acts;

import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.ClaimState;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Dead records that operators judged to need no redrive, as the log of acts tells it: every
 * instance that has read the same knows the same. A dismissal is of one end of a record, known by
 * its token and by when that was; a record that was redriven and dies again is dead as any other,
 * and so is one that the lock store had forgotten. A dismissal counts for a retention after it was
 * made; it is not forgotten before there is no room, as the clock that says that it is past may be
 * ahead. Thread-safe.
 */
public final class Dismissals {
  /** How many are remembered, at most: some 20 MB. */
  public static final int MOST = 100_000;

  /**
   * So much later than it was dismissed nobody's clock says that an end was: it is another one, of
   * a record that the store had forgotten.
   */
  private static final Duration LATER = Duration.ofHours(1);

  /** So far apart the store, the dead letter and the outcome may have one end. */
  private static final Duration APART = Duration.ofSeconds(10);

  private final Supplier<Optional<String>> store;
  private final Duration kept;
  private final TimeSource time;
  private final TreeMap<RecordId, Dismissal> book = new TreeMap<>();

  /**
   * Nothing is dismissed yet.
   *
   * @param store the identity of the lock store, empty while it is not known: its tokens are those
   *     that count
   * @param kept how long a store keeps what is dead
   */
  public Dismissals(Supplier<Optional<String>> store, Duration kept, TimeSource time) {
    this.store = store;
    this.kept = kept;
    this.time = time;
  }

  /**
   * A dismissal.
   *
   * @param store the identity of the lock store that the record died in
   * @param token of the end that was dismissed
   * @param died when that was; null if nobody said
   * @param by who dismissed it
   * @param reason why
   * @param at when
   */
  public record Dismissal(
      RecordId record,
      String store,
      long token,
      @Nullable Instant died,
      String by,
      String reason,
      Instant at) {

    /**
     * Whether it is of this end of its record. A redrive that was undone leaves a record dead as it
     * was, under a higher token.
     *
     * @param ended under which token
     * @param when that was
     */
    public boolean isOf(long ended, Instant when) {
      return ended <= token ? !isBefore(when) : died != null && isSame(died, when);
    }

    /** Whether what the store has of its record now is the end that was dismissed. */
    public boolean isOf(ClaimRecord stored) {
      return stored.state() instanceof ClaimState.Dead(_, Instant when, _)
          && isOf(stored.token(), when);
    }

    /** Whether what died then did so after it: the store had forgotten the first end. */
    private boolean isBefore(Instant when) {
      return when.isAfter(at.plus(LATER));
    }

    private boolean isSame(Instant end, Instant when) {
      boolean isBeforeTheDismissal = !when.isAfter(at);
      return !when.isAfter(end) || (isBeforeTheDismissal && !when.isAfter(end.plus(APART)));
    }
  }

  /** Takes in what was said. */
  public synchronized void hear(ActMessage said) {
    if (!(said instanceof ActMessage.Dismissed message)) {
      return;
    }
    Instant at = Instant.parse(message.at());
    Instant _ = at.plus(kept).plus(LATER); // or each question would fail: there is no later time
    if (book.size() + message.records().size() > MOST) {
      boolean _ = book.values().removeIf(this::isPast);
    }
    for (ActMessage.Death death : message.records()) {
      RecordId record = RecordId.parse(death.record());
      Instant died = death.died() == null ? null : Instant.parse(death.died());
      Dismissal dismissal =
          new Dismissal(
              record, message.store(), death.token(), died, message.by(), message.reason(), at);
      if (book.size() < MOST || book.containsKey(record)) {
        var _ = book.merge(record, dismissal, this::later);
      }
    }
  }

  private Dismissal later(Dismissal known, Dismissal heard) {
    boolean isNews =
        !known.store.equals(heard.store)
            || known.at.plus(kept).isBefore(heard.at)
            || known.token < heard.token
            || (heard.died != null && known.isBefore(heard.died));
    return isNews ? heard : known;
  }

  private boolean isPast(Dismissal dismissal) {
    return dismissal.at.plus(kept).isBefore(time.now().wall());
  }

  /** The last dismissal of this record, whatever became of it since. */
  public synchronized Optional<Dismissal> of(RecordId record) {
    return Optional.ofNullable(book.get(record)).filter(this::counts);
  }

  private boolean counts(Dismissal dismissal) {
    return !isPast(dismissal) && store.get().filter(dismissal.store::equals).isPresent();
  }

  /**
   * Whether this end of the record was dismissed.
   *
   * @param token of the end
   * @param died when that was
   */
  public boolean have(RecordId record, long token, Instant died) {
    return of(record).filter(dismissal -> dismissal.isOf(token, died)).isPresent();
  }

  /** How many are remembered, and not past. */
  public synchronized int size() {
    return (int) book.values().stream().filter(each -> !isPast(each)).count();
  }

  /**
   * A page of them, sorted by the record's ID.
   *
   * @param limit how many at most
   * @param after only those after this one
   */
  public synchronized List<Dismissal> page(int limit, @Nullable RecordId after) {
    Map<RecordId, Dismissal> rest = after == null ? book : book.tailMap(after, false);
    List<Dismissal> page = new ArrayList<>();
    for (Dismissal dismissal : rest.values()) {
      if (page.size() == limit) {
        break;
      }
      if (counts(dismissal)) {
        page.add(dismissal);
      }
    }
    return page;
  }
}
