package io.firstclaim.stack.standin;

import io.firstclaim.stack.standin.DynamoDbInMemory.WriteListener;
import io.firstclaim.stack.standin.Operand.Values;
import io.firstclaim.stack.standin.Refusal.Reason;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The items of all tables. Each write is on a condition, and atomic. Thread-safe. */
final class Items {
  private static final int LOCKS = 1024;

  /** The largest size of an item, in bytes. */
  private static final int LARGEST = 400 * 1024;

  /** The largest size of all items of a transaction together, in bytes. */
  private static final int LARGEST_TRANSACTION = 4 << 20;

  /** The most bytes that a character takes in UTF-8. */
  private static final int WIDEST = 3;

  private final Map<Place, Map<String, Value>> items = new ConcurrentHashMap<>();
  private final @Nullable WriteListener listener;
  private final Lock[] locks =
      Stream.generate(ReentrantLock::new).limit(LOCKS).toArray(Lock[]::new);

  Items(@Nullable WriteListener listener) {
    this.listener = listener;
  }

  /** Where an item is. */
  record Place(String table, Map<String, Value> key) {
    private int lock() {
      int hash = hashCode();
      return (hash ^ hash >>> 16) & (LOCKS - 1);
    }
  }

  /** What to write. */
  sealed interface Change {
    record Put(Map<String, Value> item) implements Change {}

    record Updated(Update update) implements Change {}

    record Delete() implements Change {}

    /** A write that changes nothing: its condition is all that counts. */
    record Check() implements Change {}
  }

  /**
   * A write.
   *
   * @param told whether the item is shown where the condition fails
   */
  record Write(Place place, Change change, Condition condition, Values values, boolean told) {}

  @Nullable Map<String, Value> find(Place place) {
    return items.get(place);
  }

  /** All items of a table, in no order. */
  List<Map<String, Value>> of(String table) {
    return items.entrySet().stream()
        .filter(each -> each.getKey().table().equals(table))
        .map(Map.Entry::getValue)
        .toList();
  }

  /** Forgets a table's. */
  void drop(String table) {
    items.keySet().removeIf(place -> place.table().equals(table));
  }

  /**
   * Writes.
   *
   * @return the item as it was; empty if there was none
   * @throws Refusal if the condition fails, or the item would be none
   */
  Map<String, Value> write(Write write) {
    Lock lock = locks[write.place().lock()];
    lock.lock();
    try {
      Map<String, Value> before = items.getOrDefault(write.place(), Map.of());
      store(write.place(), next(write, before));
      return before;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Writes all or nothing.
   *
   * @param isRepeated asked while no other can write there: whether it has been done before, and
   *     nothing is to be done
   * @param done called before any other can write there
   * @throws Refusal if a condition fails, with a reason for each
   */
  void writeAll(List<Write> writes, BooleanSupplier isRepeated, Runnable done) {
    int[] needed =
        writes.stream().mapToInt(write -> write.place().lock()).distinct().sorted().toArray();
    for (int each : needed) {
      locks[each].lock();
    }
    try {
      if (isRepeated.getAsBoolean()) {
        return;
      }
      List<Reason> reasons = new ArrayList<>();
      Map<Place, Map<String, Value>> next = new HashMap<>();
      for (Write write : writes) {
        try {
          Map<String, Value> before = items.getOrDefault(write.place(), Map.of());
          next.put(write.place(), next(write, before));
          reasons.add(new Reason("None", null, null));
        } catch (Refusal e) {
          reasons.add(new Reason(e.code(), e.text(), e.item()));
        }
      }
      if (reasons.stream().anyMatch(reason -> !reason.code().equals("None"))) {
        throw Refusal.cancelled(reasons);
      }
      if (next.values().stream().mapToInt(Items::size).sum() > LARGEST_TRANSACTION) {
        throw Refusal.invalid("The items of a transaction are at most 4 MB together");
      }
      next.forEach(this::store);
      done.run();
    } finally {
      for (int each : needed) {
        locks[each].unlock();
      }
    }
  }

  /** Two writes of one item are no transaction. */
  static void requireDistinct(List<Write> writes) {
    Set<Place> places = new HashSet<>();
    for (Write write : writes) {
      if (!places.add(write.place())) {
        throw Refusal.invalid("Transaction request cannot include multiple operations on one item");
      }
    }
  }

  private void store(Place place, Map<String, Value> item) {
    Map<String, Value> before = item.isEmpty() ? items.remove(place) : items.put(place, item);
    if (listener != null) {
      listener.wrote(place.table(), texts(before == null ? Map.of() : before), texts(item));
    }
  }

  private static Map<String, String> texts(Map<String, Value> item) {
    Map<String, String> texts = HashMap.newHashMap(item.size());
    item.forEach((name, value) -> texts.put(name, value.text()));
    return texts;
  }

  /** The item after the write; empty if there is none. */
  private static Map<String, Value> next(Write write, Map<String, Value> before) {
    if (!write.condition().holds(before, write.values())) {
      throw Refusal.condition(write.told() && !before.isEmpty() ? before : null);
    }
    return switch (write.change()) {
      case Change.Put(Map<String, Value> item) -> sized(item, "Item size");
      case Change.Updated(Update update) -> {
        Map<String, Value> item = update.of(before, write.values());
        item.putAll(write.place().key());
        yield sized(item, "Item size to update");
      }
      case Change.Delete() -> Map.of();
      case Change.Check() -> before;
    };
  }

  private static Map<String, Value> sized(Map<String, Value> item, String what) {
    int characters = 0;
    for (Map.Entry<String, Value> attribute : item.entrySet()) {
      characters += attribute.getKey().length() + length(attribute.getValue());
    }
    if (characters > LARGEST / WIDEST && size(item) > LARGEST) {
      throw Refusal.invalid(what + " has exceeded the maximum allowed size");
    }
    return item;
  }

  /** Not more than its bytes, and not less than a third of them. */
  private static int length(Value value) {
    return value instanceof Value.Text(String text) ? text.length() : value.size();
  }

  private static int size(Map<String, Value> item) {
    return item.entrySet().stream()
        .mapToInt(each -> Value.bytes(each.getKey()) + each.getValue().size())
        .sum();
  }
}
