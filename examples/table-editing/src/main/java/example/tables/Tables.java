package example.tables;

import static example.tables.TableStatus.EDITING;
import static example.tables.TableStatus.LOCKED;
import static example.tables.TableStatus.NORMAL;

import io.firstclaim.lock.board.Change;
import io.firstclaim.lock.board.Expected;
import io.firstclaim.lock.board.Expected.Held;
import io.firstclaim.lock.board.Expected.Seen;
import io.firstclaim.lock.board.Item;
import io.firstclaim.lock.board.ItemKey;
import io.firstclaim.lock.board.StatusBoard;
import io.firstclaim.lock.board.TransitionResult;
import io.firstclaim.lock.board.TransitionResult.Refused;
import io.firstclaim.lock.board.Transitions;
import jakarta.inject.Singleton;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * The tables and who edits them. Whoever edits a table locks its parents with it, all or none,
 * until it is normal again. Thread-safe.
 */
@Singleton
final class Tables {
  /** The parents of each table, those that its foreign keys point to. */
  static final Map<String, List<String>> PARENTS =
      Map.of(
          "A", List.of("B", "C"),
          "B", List.of(),
          "C", List.of(),
          "D", List.of("C"),
          "E", List.of("F"),
          "F", List.of("E"),
          "S", List.of("S"));

  static final Transitions<TableStatus> TRANSITIONS =
      new Transitions<>(
          NORMAL,
          Map.of(
              NORMAL, Set.of(EDITING, LOCKED),
              EDITING, Set.of(NORMAL, EDITING),
              LOCKED, Set.of(NORMAL)));

  private final StatusBoard<TableStatus> board;

  Tables(StatusBoard<TableStatus> board) {
    this.board = board;
  }

  /** The tables that were ever edited or locked. */
  List<Item<TableStatus>> touched() {
    return board.list();
  }

  TransitionResult<TableStatus> edit(String table, String editor) throws InterruptedException {
    List<Change<TableStatus>> changes = new ArrayList<>();
    changes.add(Change.ofFree(table, NORMAL, EDITING, editor));
    for (String parent : otherParents(table)) {
      changes.add(Change.ofFree(parent, NORMAL, LOCKED, editor).onBehalfOf(table));
    }
    return board.transition(changes);
  }

  /**
   * Saves a table's text in one transaction with the table's own move, and goes on editing it. Who
   * was freed meanwhile saves nothing, even one who has come back and saves from the old page.
   *
   * @param seen the change by which the editor saw that it is edited: the last edit or save
   */
  TransitionResult<TableStatus> save(String table, String editor, String seen, String text)
      throws InterruptedException {
    Item<TableStatus> edited = board.find(table);
    if (!isStillEdited(edited, seen) || !editor.equals(edited.editor())) {
      return new Refused<>(List.of(edited));
    }
    return board.transition(
        List.of(Change.ofSeen(edited, EDITING, editor)), Texts.saved(table, text));
  }

  TransitionResult<TableStatus> finish(String table, String editor) throws InterruptedException {
    return setNormal(table, new Held<>(EDITING, editor, null), editor, editor);
  }

  /**
   * Sets a table and its parents normal again, whoever edits it.
   *
   * @param seen the change by which the operator saw that it is edited; if there has been another
   *     since, nothing is freed
   */
  TransitionResult<TableStatus> free(String table, String operator, String seen)
      throws InterruptedException {
    Item<TableStatus> edited = board.find(table);
    if (!isStillEdited(edited, seen)) {
      return new Refused<>(List.of(edited));
    }
    String editor = Objects.requireNonNull(edited.editor());
    return setNormal(table, new Seen<>(edited), editor, operator);
  }

  private static boolean isStillEdited(Item<TableStatus> table, String seen) {
    return table.status() == EDITING && seen.equals(String.valueOf(table.change()));
  }

  private TransitionResult<TableStatus> setNormal(
      String table, Expected<TableStatus> edited, String editor, String by)
      throws InterruptedException {
    List<Change<TableStatus>> changes = new ArrayList<>();
    changes.add(new Change<>(ItemKey.of(table), edited, NORMAL, by, null));
    for (String parent : otherParents(table)) {
      var locked = new Held<>(LOCKED, editor, table);
      changes.add(new Change<>(ItemKey.of(parent), locked, NORMAL, by, null));
    }
    return board.transition(changes);
  }

  /** The parents without the table itself, which may be its own. */
  private static List<String> otherParents(String table) {
    return PARENTS.getOrDefault(table, List.of()).stream()
        .filter(parent -> !parent.equals(table))
        .toList();
  }
}
