package io.firstclaim.lock.testkit.board;

import static io.firstclaim.lock.testkit.board.Status.EDITING;
import static io.firstclaim.lock.testkit.board.Status.LOCKED;
import static io.firstclaim.lock.testkit.board.Status.NORMAL;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.ContendedException;
import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.board.BoardStore;
import io.firstclaim.lock.board.Change;
import io.firstclaim.lock.board.Item;
import io.firstclaim.lock.board.Share;
import io.firstclaim.lock.board.StatusBoard;
import io.firstclaim.lock.board.TransitionResult;
import io.firstclaim.lock.board.TransitionResult.Moved;
import io.firstclaim.lock.board.TransitionResult.Refused;
import io.firstclaim.lock.board.TransitionResult.Unknown;
import io.firstclaim.lock.testkit.Soak;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Many editors who want to edit tables with foreign keys: each moves a table to EDITING and its
 * parents to LOCKED, on behalf of the table, and back. They and some observers check that no table
 * is two editors', that none is locked without its child in editing, and that every refusal names
 * what was in the way. Where they share the parents, a table is edited beside others of the same
 * parent, but not beside its own children.
 */
public final class EditorsRace {
  private static final int EDITORS = Soak.times(40, 200);
  private static final int OBSERVERS = 2;
  private static final int TABLES = 30;
  private static final int CYCLE = 4;

  private final Supplier<BoardStore> store;
  private final boolean sharing;
  private final SortedMap<String, SortedSet<String>> parents = new TreeMap<>();
  private final Map<String, String> editors = new ConcurrentHashMap<>();
  private final Map<String, Integer> sharers = new ConcurrentHashMap<>();
  private final LongAdder edits = new LongAdder();
  private final LongAdder refusals = new LongAdder();
  private final LongAdder unknown = new LongAdder();
  private final LongAdder lockedSeen = new LongAdder();
  private final LongAdder sharedSeen = new LongAdder();

  private EditorsRace(Supplier<BoardStore> store, boolean sharing) {
    this.store = store;
    this.sharing = sharing;
  }

  /** A race over these stores, all of one board: each editor has one of its own. */
  public static EditorsRace over(Supplier<BoardStore> store) {
    return new EditorsRace(store, false);
  }

  /** The same, of editors who share the parents. */
  public static EditorsRace sharing(Supplier<BoardStore> store) {
    return new EditorsRace(store, true);
  }

  /**
   * Runs for this long, and on until each thing was seen to happen; then all give back what they
   * have.
   */
  public void run(Duration length, Random random) throws Exception {
    drawTables(random);
    long deadline = System.nanoTime() + length.toNanos();
    BooleanSupplier end =
        () ->
            System.nanoTime() - deadline > 0
                && Stream.of(edits, refusals, lockedSeen).allMatch(each -> each.sum() > 0)
                && sharing == sharedSeen.sum() > 0;
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < EDITORS; i++) {
        String editor = "editor-" + i;
        Random own = new Random(random.nextLong());
        running.add(
            threads.submit(
                () -> {
                  editUntil(end, editor, own);
                  return editor;
                }));
      }
      for (int i = 0; i < OBSERVERS; i++) {
        running.add(threads.submit(() -> observeUntil(end)));
      }
      for (Future<?> one : running) {
        one.get();
      }
    }
    assertThat(answered(board()::list)).extracting(Item::status).containsOnly(NORMAL);
  }

  /** What happened, for a log. */
  @Override
  public String toString() {
    return "%,d edits, %,d refusals, %,d unknown, %,d locked tables seen, %,d of them shared"
        .formatted(edits.sum(), refusals.sum(), unknown.sum(), lockedSeen.sum(), sharedSeen.sum());
  }

  /** Parents are earlier tables, except in a cycle of some and in one that is its own parent. */
  private void drawTables(Random random) {
    for (int i = 0; i < TABLES; i++) {
      SortedSet<String> own = new TreeSet<>();
      for (int p = random.nextInt(4); p > 0 && i > 0; p--) {
        own.add("table-" + random.nextInt(i));
      }
      if (i < CYCLE) {
        own.add("table-" + (i + 1) % CYCLE);
      }
      if (i == CYCLE) {
        own.add("table-" + i);
      }
      parents.put("table-" + i, own);
    }
  }

  private StatusBoard<Status> board() {
    return new StatusBoard<>(
        store.get(), Status.RULES, TimeSource.system(), StatusBoardContract.PATIENCE);
  }

  private List<String> lockedWith(String table) {
    return parents.getOrDefault(table, Collections.emptySortedSet()).stream()
        .filter(parent -> !parent.equals(table))
        .toList();
  }

  private void editUntil(BooleanSupplier end, String editor, Random random)
      throws InterruptedException {
    StatusBoard<Status> board = board();
    while (!end.getAsBoolean()) {
      String table = "table-" + random.nextInt(TABLES);
      List<String> locked = lockedWith(table);
      TransitionResult<Status> result = transition(board, taken(editor, table, locked));
      if (result instanceof Refused<Status>(List<Item<Status>> inTheWay)) {
        assertInTheWay(table, locked, inTheWay);
        refusals.increment();
      } else if (took(result, board, editor, table)) {
        holdAlone(board, editor, table, locked);
        giveBack(board, editor, table, locked);
        edits.increment();
      }
    }
  }

  /** On a slow machine, a store may not answer in time, or all time may go by in conflicts. */
  private static TransitionResult<Status> transition(
      StatusBoard<Status> board, List<Change<Status>> changes) throws InterruptedException {
    try {
      return board.transition(changes);
    } catch (StoreUnavailableException | ContendedException e) {
      return new Unknown<>(OneLine.of(e));
    }
  }

  /** Asks until the store answers. */
  private static <T> T answered(Supplier<T> question) {
    @Nullable T answer = null;
    while (answer == null) {
      try {
        answer = question.get();
      } catch (StoreUnavailableException unused) {
        Thread.onSpinWait();
      }
    }
    return answer;
  }

  /** Whether it took; if nobody knows, the table itself shows whether the editor holds it. */
  private boolean took(
      TransitionResult<Status> result, StatusBoard<Status> board, String editor, String table) {
    return switch (result) {
      case Moved<Status> unused -> true;
      case Refused<Status> unused -> false;
      case Unknown<Status> unused -> {
        unknown.increment();
        yield isHeldBy(editor, board, table);
      }
    };
  }

  private static boolean isHeldBy(String editor, StatusBoard<Status> board, String table) {
    Item<Status> found = answered(() -> board.find(table));
    return found.status() == EDITING && editor.equals(found.editor());
  }

  /** Gives it back, again and again while that is unknown; one that came late may be refused. */
  private void giveBack(StatusBoard<Status> board, String editor, String table, List<String> locked)
      throws InterruptedException {
    while (true) {
      TransitionResult<Status> result = transition(board, givenBack(editor, table, locked));
      if (result instanceof Moved || !isHeldBy(editor, board, table)) {
        return;
      }
      assertThat(result).as("given back").isInstanceOf(Unknown.class);
      unknown.increment();
    }
  }

  private List<Change<Status>> taken(String editor, String table, List<String> locked) {
    return Stream.concat(
            Stream.of(Change.ofFree(table, NORMAL, EDITING, editor)),
            locked.stream()
                .map(
                    parent ->
                        sharing
                            ? Change.ofShared(parent, NORMAL, LOCKED, editor, table)
                            : Change.ofFree(parent, NORMAL, LOCKED, editor).onBehalfOf(table)))
        .toList();
  }

  private List<Change<Status>> givenBack(String editor, String table, List<String> locked) {
    return Stream.concat(
            Stream.of(Change.ofOwn(table, EDITING, NORMAL, editor)),
            locked.stream()
                .map(
                    parent ->
                        sharing
                            ? Change.ofOwnShare(parent, LOCKED, NORMAL, editor, table)
                            : Change.ofOwn(parent, LOCKED, NORMAL, editor, table)))
        .toList();
  }

  private void holdAlone(
      StatusBoard<Status> board, String editor, String table, List<String> locked) {
    List<String> alone =
        sharing ? List.of(table) : Stream.concat(Stream.of(table), locked.stream()).toList();
    List<String> shared = sharing ? locked : List.of();
    alone.forEach(
        one -> assertThat(editors.putIfAbsent(one, editor)).as("holder of %s", one).isNull());
    shared.forEach(one -> sharers.merge(one, 1, Integer::sum));
    Item<Status> held = answered(() -> board.find(table));
    assertThat(held.status()).isEqualTo(EDITING);
    assertThat(held.editor()).isEqualTo(editor);
    assertThat(sharers.getOrDefault(table, 0)).as("sharers of %s", table).isZero();
    shared.forEach(one -> assertThat(editors.get(one)).as("holder of %s", one).isNull());
    shared.forEach(one -> sharers.merge(one, -1, Integer::sum));
    alone.forEach(one -> assertThat(editors.remove(one)).as("holder of %s", one).isEqualTo(editor));
  }

  private static void assertInTheWay(
      String table, List<String> locked, List<Item<Status>> inTheWay) {
    assertThat(inTheWay).isNotEmpty();
    for (Item<Status> item : inTheWay) {
      String key = item.key().value();
      assertThat(key.equals(table) || locked.contains(key)).as("%s is among those", key).isTrue();
      assertThat(item.status()).isNotEqualTo(NORMAL);
      assertThat(item.editor()).startsWith("editor-");
      assertThat(item.since()).isNotNull();
      assertThat(item.lockedBy() != null || !item.shares().isEmpty())
          .isEqualTo(item.status() == LOCKED);
    }
  }

  /** A table that was locked before and after its child was looked at was locked then, too. */
  private long observeUntil(BooleanSupplier end) {
    StatusBoard<Status> board = board();
    while (!end.getAsBoolean()) {
      for (Item<Status> parent : answered(board::list)) {
        List<Item<Status>> children =
            Stream.concat(
                    Stream.ofNullable(parent.lockedBy()),
                    parent.shares().stream().map(Share::lockedBy))
                .map(child -> answered(() -> board.find(child)))
                .toList();
        if (parent.status() == LOCKED
            && parent.equals(answered(() -> board.find(parent.key().value())))) {
          assertThat(children).as("children of %s", parent).isNotEmpty();
          assertThat(children).extracting(Item::status).containsOnly(EDITING);
          if (!sharing) {
            assertThat(children).extracting(Item::change).containsExactly(parent.change());
          }
          lockedSeen.increment();
          if (children.size() > 1) {
            sharedSeen.increment();
          }
        }
      }
    }
    return lockedSeen.sum();
  }
}
