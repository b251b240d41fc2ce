package example.tables;

import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.board.Item;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A table as it is shown. What editors gave is in one line, without characters that hide or reorder
 * text; it is no HTML.
 *
 * @param editor who moved it to its status
 * @param lockedBy the child that is edited, if it is locked
 * @param since when it came to its status
 * @param change names the transition that moved it there
 */
record Row(
    String table,
    List<String> parents,
    TableStatus status,
    @Nullable String editor,
    @Nullable String lockedBy,
    @Nullable String since,
    @Nullable String change) {

  static Row of(Item<TableStatus> item) {
    String table = item.key().value();
    return new Row(
        table,
        Tables.PARENTS.getOrDefault(table, List.of()),
        item.status(),
        item.editor() == null ? null : OneLine.of(item.editor()),
        item.lockedBy() == null ? null : OneLine.of(item.lockedBy()),
        Objects.toString(item.since(), null),
        Objects.toString(item.change(), null));
  }

  static Row untouched(String table) {
    return new Row(
        table,
        Tables.PARENTS.getOrDefault(table, List.of()),
        TableStatus.NORMAL,
        null,
        null,
        null,
        null);
  }

  /** What it is, for people. */
  String inWords() {
    return switch (status) {
      case NORMAL -> table + " is not being edited";
      case EDITING -> "%s is edited by %s since %s".formatted(table, editor, since);
      case LOCKED ->
          "%s is locked on behalf of %s, which %s edits since %s"
              .formatted(table, lockedBy, editor, since);
    };
  }
}
