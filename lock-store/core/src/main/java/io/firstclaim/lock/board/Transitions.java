package io.firstclaim.lock.board;

import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The legal moves of a board's items. Immutable.
 *
 * @param initial the status of an item that nobody has ever moved; items in it are nobody's
 * @param table which statuses may follow each; from a status without an entry no move leads away. A
 *     status may follow itself, as when an item changes hands
 */
public record Transitions<S extends Enum<S>>(S initial, Map<S, Set<S>> table) {
  /** Copies the table. */
  public Transitions {
    Map<S, Set<S>> copy = new EnumMap<>(initial.getDeclaringClass());
    for (Map.Entry<S, Set<S>> entry : table.entrySet()) {
      EnumSet<S> targets = EnumSet.noneOf(initial.getDeclaringClass());
      targets.addAll(entry.getValue());
      copy.put(entry.getKey(), Collections.unmodifiableSet(targets));
    }
    table = Collections.unmodifiableMap(copy);
  }

  /** The statuses that may follow this one. */
  public Set<S> from(S status) {
    return table.getOrDefault(status, Set.of());
  }

  /** The status of this name. */
  Optional<S> named(String name) {
    return Arrays.stream(initial.getDeclaringClass().getEnumConstants())
        .filter(status -> status.name().equals(name))
        .findAny();
  }
}
