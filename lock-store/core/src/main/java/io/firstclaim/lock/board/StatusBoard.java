package io.firstclaim.lock.board;

import io.firstclaim.lock.ContendedException;
import io.firstclaim.lock.Effects;
import io.firstclaim.lock.EffectsRefusedException;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.Patience;
import io.firstclaim.lock.StoreException;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Named items that many people, in many processes, move from status to status; several move at once
 * or none does. For example tables with foreign keys: whoever edits {@code orders} locks its
 * parents with it.
 *
 * {@snippet :
 * var rules =
 *     new Transitions<>(
 *         NORMAL,
 *         Map.of(
 *             NORMAL, Set.of(EDITING, LOCKED),
 *             EDITING, Set.of(NORMAL),
 *             LOCKED, Set.of(NORMAL)));
 * var board = new StatusBoard<>(store, rules, TimeSource.system());
 * var edit =
 *     List.of(
 *         Change.ofFree("orders", NORMAL, EDITING, "ada"),
 *         Change.ofFree("customers", NORMAL, LOCKED, "ada").onBehalfOf("orders"));
 * switch (board.transition(edit)) {
 *   case TransitionResult.Moved(var items) -> show(items);
 *   case TransitionResult.Refused(var inTheWay) -> say("not now", inTheWay);
 *   case TransitionResult.Unknown(String why) -> say("look again in a minute", why);
 * }
 * board.transition(
 *     List.of(
 *         Change.ofOwn("orders", EDITING, NORMAL, "ada"),
 *         Change.ofOwn("customers", LOCKED, NORMAL, "ada", "orders")));
 * }
 *
 * <p>Here whoever edits another child of {@code customers} has to wait. Where the children may be
 * edited at once, and only the parent must not, they share it: {@link Change#ofShared} instead of
 * {@code ofFree}, and {@link Change#ofOwnShare} to give it back.
 *
 * <p>What is done under a status may be written in the transition itself ({@link #transition(List,
 * Effects)}): an editor's work is saved only while the items are the editor's. Where that cannot
 * be, a sink can refuse who was freed by {@link Item#token()}.
 *
 * <p>A transition reads its items, and writes them on the condition that none has changed since. It
 * is made once or not at all, even when answers are lost: each item carries its last changes, by
 * which a writer recognises its own. Nothing expires: who vanishes is found by {@link
 * Item#since()}, and an operator frees what that one left behind ({@link Change#ofSeen}).
 *
 * <p>Thread-safe. All users of a board give it the same transitions.
 */
public final class StatusBoard<S extends Enum<S>> {
  /**
   * The most items that move at once (<a
   * href="https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html">DynamoDB's
   * limit</a>).
   */
  public static final int MAX_CHANGES = 100;

  /** Well under the ten minutes for which DynamoDB knows a request again. */
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final BoardStore store;
  private final Transitions<S> rules;
  private final TimeSource time;
  private final Duration atMost;

  /** A board in this store, whose transitions take 10 s at most. */
  public StatusBoard(BoardStore store, Transitions<S> rules, TimeSource time) {
    this(store, rules, time, PATIENCE);
  }

  /**
   * A board in this store, whose transitions take this long at most.
   *
   * @param atMost how long a transition goes on trying; zero tries once
   */
  public StatusBoard(BoardStore store, Transitions<S> rules, TimeSource time, Duration atMost) {
    this.store = store;
    this.rules = rules;
    this.time = time;
    this.atMost = atMost;
  }

  /**
   * An item, by a strongly consistent read; one that nobody has ever moved is in the initial
   * status.
   *
   * @throws IllegalArgumentException if the key is empty, too long, or not to be written in UTF-8
   * @throws StoreUnavailableException if the store did not answer
   * @throws StoreRefusedException if it must not be read, or is in a status that this board lacks
   */
  public Item<S> find(String key) {
    ItemKey wanted = ItemKey.of(key);
    return store.read(List.of(wanted)).stream()
        .findFirst()
        .map(this::item)
        .orElseGet(() -> Item.untouched(wanted, rules.initial()));
  }

  /**
   * All items that were ever moved, by key, each by a strongly consistent read; not a snapshot of
   * all at one moment.
   *
   * @throws StoreUnavailableException if the store did not answer
   * @throws StoreRefusedException if one must not be read, or is in a status that this board lacks
   */
  public List<Item<S>> list() {
    return store.list().stream()
        .sorted((one, other) -> one.key().compareTo(other.key()))
        .map(this::item)
        .toList();
  }

  /**
   * Moves all of these items or none.
   *
   * @param changes of different items, 1 to {@value #MAX_CHANGES}
   * @throws IllegalArgumentException if an item is named twice, or a move is not legal; nothing was
   *     written, and the message says what would be right
   * @throws ContendedException if others wrote the same items again and again until the time was
   *     up; nothing was written
   * @throws StoreUnavailableException if the store did not answer before the time was up; nothing
   *     was written
   * @throws StoreRefusedException if the items must not be read or written; nothing was written
   * @throws InterruptedException if the thread is interrupted; all items may have moved, or none
   */
  public TransitionResult<S> transition(List<Change<S>> changes) throws InterruptedException {
    return make(changes, null);
  }

  /**
   * Moves all of these items and writes these effects, or does nothing. To save and go on, move an
   * item to the status that it has, if the board's transitions allow that: who no longer has it is
   * refused, and saves nothing.
   *
   * @param effects in the database that the board is kept in, of the kind that its store takes,
   *     such as {@code DynamoDbEffects}
   * @throws EffectsRefusedException if the items are as expected and the effects cannot be written:
   *     a condition of theirs fails, or they are too many or too large; nothing was written
   * @throws IllegalArgumentException as without effects, or if the store takes no effects of this
   *     kind; nothing was written
   * @throws RuntimeException as without effects, in the same cases
   * @throws InterruptedException if the thread is interrupted; all may have been done, or nothing
   */
  public TransitionResult<S> transition(List<Change<S>> changes, Effects effects)
      throws InterruptedException {
    return make(changes, effects);
  }

  private TransitionResult<S> make(List<Change<S>> changes, @Nullable Effects effects)
      throws InterruptedException {
    require(changes);
    return new Transition(List.copyOf(changes), effects).make();
  }

  private void require(List<Change<S>> changes) {
    if (changes.isEmpty() || changes.size() > MAX_CHANGES) {
      throw new IllegalArgumentException(
          "a transition moves 1 to %d items, this one %d".formatted(MAX_CHANGES, changes.size()));
    }
    Set<ItemKey> keys = new HashSet<>();
    for (Change<S> change : changes) {
      if (!keys.add(change.key())) {
        throw new IllegalArgumentException(
            "a transition moves an item once; %s is named twice".formatted(change.key()));
      }
      requireLegal(change);
    }
  }

  private void requireLegal(Change<S> change) {
    S from = change.expected().status();
    if (!rules.from(from).contains(change.target())) {
      throw new IllegalArgumentException(
          "%s must not move from %s to %s; from there it may move to %s"
              .formatted(change.key(), from, change.target(), rules.from(from)));
    }
    boolean isNobodys =
        change.expected() instanceof Expected.Free<S>
            || change.expected() instanceof Expected.Shareable<S>;
    if (isNobodys && from != rules.initial()) {
      throw new IllegalArgumentException(
          "%s in %s is somebody's: expect whose it is (ofOwn), or what was seen of it (ofSeen)"
              .formatted(change.key(), from));
    }
  }

  private Item<S> item(StoredItem stored) {
    S status =
        rules
            .named(stored.status())
            .orElseThrow(
                () ->
                    new StoreRefusedException(
                        "item %s is in the status %s, which this board does not know: do all its users have the same statuses?"
                            .formatted(stored.key(), OneLine.of(stored.status(), 40))));
    return new Item<>(
        stored.key(),
        status,
        stored.editor(),
        stored.lockedBy(),
        stored.shares(),
        stored.since(),
        stored.token(),
        stored.change());
  }

  /**
   * One transition. All its requests write one change, as at most one of them is applied: a request
   * is resent as it is until it is known that it never will be, and only then made anew, on what is
   * there by then.
   */
  private final class Transition {
    private final List<Change<S>> changes;
    private final @Nullable Effects effects;
    private final Nonce change = Nonce.random();
    private final Patience patience = new Patience(time, atMost);
    private Map<ItemKey, StoredItem> found = Map.of();

    /** Why it is not known whether the moves sent last were applied; null if they never were. */
    private @Nullable String unanswered;

    Transition(List<Change<S>> changes, @Nullable Effects effects) {
      this.changes = changes;
      this.effects = effects;
    }

    TransitionResult<S> make() throws InterruptedException {
      try {
        return tryUntilItIsDecided();
      } catch (StoreException | ContendedException | EffectsRefusedException e) {
        if (unanswered == null) {
          throw e;
        }
        return new TransitionResult.Unknown<>(
            "%s, and then: %s".formatted(unanswered, OneLine.of(e)));
      }
    }

    private TransitionResult<S> tryUntilItIsDecided() throws InterruptedException {
      found = read();
      List<Item<S>> inTheWay = inTheWay();
      while (inTheWay.isEmpty()) {
        List<Move> moves = moves();
        if (take(moves)) {
          return new TransitionResult.Moved<>(
              moves.stream().map(Move::next).map(StatusBoard.this::item).toList());
        }
        inTheWay = inTheWay();
        if (inTheWay.isEmpty()) {
          pause("others wrote the same ones");
        }
      }
      return new TransitionResult.Refused<>(inTheWay);
    }

    /**
     * Sends the moves until they took, or are known not to have, and never will.
     *
     * @return whether they took; if not, what was found instead
     */
    private boolean take(List<Move> moves) throws InterruptedException {
      Nonce request = Nonce.random();
      while (true) {
        switch (send(moves, request)) {
          case MoveResult.Took unused -> {
            return true;
          }
          case MoveResult.Differs(List<StoredItem> present) -> {
            learn(present);
            if (found.values().stream().anyMatch(item -> item.changes().contains(change))) {
              return true;
            }
            if (unanswered == null || moves.stream().anyMatch(this::neverTook)) {
              unanswered = null;
              return false;
            }
            if (!moves.stream().allMatch(move -> move.matches(found.get(move.key())))) {
              throw new ContendedException("others have moved them so often that no trace is left");
            }
            pause("the store does not say what differs");
          }
          case MoveResult.Conflict(String why) -> pause(why);
          case MoveResult.Unknown(String why) -> {
            unanswered = why;
            pause("the time was up");
          }
        }
      }
    }

    /** Sends the moves until the store takes the request. */
    private MoveResult send(List<Move> moves, Nonce request) throws InterruptedException {
      while (true) {
        try {
          return store.move(moves, effects, request);
        } catch (StoreUnavailableException e) {
          pauseAfter(e);
        }
      }
    }

    /** All of them are written at once: if one of them was not, none was. */
    private boolean neverTook(Move move) {
      StoredItem there = found.get(move.key());
      return there != null && !move.matches(there) && there.remembersWhatFollowed(move.on());
    }

    private void learn(List<StoredItem> present) throws InterruptedException {
      if (present.isEmpty()) {
        found = read();
      } else {
        found = new HashMap<>(found);
        present.forEach(item -> found.put(item.key(), item));
      }
    }

    private Map<ItemKey, StoredItem> read() throws InterruptedException {
      List<ItemKey> keys = changes.stream().map(Change::key).toList();
      while (true) {
        try {
          Map<ItemKey, StoredItem> read = new HashMap<>();
          store.read(keys).forEach(item -> read.put(item.key(), item));
          return read;
        } catch (StoreUnavailableException e) {
          pauseAfter(e);
        }
      }
    }

    private List<Item<S>> inTheWay() {
      List<Item<S>> inTheWay = new ArrayList<>();
      for (Change<S> each : changes) {
        StoredItem there = found.get(each.key());
        if (!each.isMetBy(there, rules.initial())) {
          inTheWay.add(there == null ? Item.untouched(each.key(), rules.initial()) : item(there));
        }
      }
      return inTheWay;
    }

    private List<Move> moves() {
      Instant now = store.now().truncatedTo(ChronoUnit.MILLIS);
      return changes.stream()
          .map(
              each -> {
                StoredItem there = found.get(each.key());
                return new Move(
                    there == null ? null : there.change(), each.next(there, now, change));
              })
          .toList();
    }

    private void pauseAfter(StoreUnavailableException fault) throws InterruptedException {
      if (patience.isOver()) {
        throw fault;
      }
      patience.pause();
    }

    private void pause(String why) throws InterruptedException {
      if (patience.isOver()) {
        throw new ContendedException(
            "%d items did not move within %s: %s".formatted(changes.size(), atMost, why));
      }
      patience.pause();
    }
  }
}
