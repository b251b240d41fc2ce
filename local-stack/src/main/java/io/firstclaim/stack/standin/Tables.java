package io.firstclaim.stack.standin;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The tables that there are. Thread-safe. */
final class Tables {
  private static final Pattern NAME = Pattern.compile("[a-zA-Z0-9_.-]{3,255}");
  private static final int LONGEST_KEY = 1024;

  private final Map<String, Table> tables = new ConcurrentHashMap<>();

  /**
   * One of them.
   *
   * @param keys the names of its key's attributes and their types, the partition's first
   * @param ttl the attribute by which items would be removed, which none ever is: DynamoDB too may
   *     take its time
   */
  record Table(String name, Map<String, String> keys, @Nullable String ttl) {
    /** The key that an item has. */
    Map<String, Value> keyOf(Map<String, Value> item) {
      if (keys.size() == 1) {
        String only = keys.keySet().iterator().next();
        return Map.of(only, part(only, item));
      }
      Map<String, Value> key = new LinkedHashMap<>();
      keys.keySet().forEach(name -> key.put(name, part(name, item)));
      return key;
    }

    /** A key that came as such, with nothing else. */
    Map<String, Value> key(Map<String, Value> key) {
      if (!key.keySet().equals(keys.keySet())) {
        throw Refusal.invalid("The provided key element does not match the schema");
      }
      return keyOf(key);
    }

    private Value part(String name, Map<String, Value> item) {
      Value value = item.get(name);
      if (value == null) {
        throw Refusal.invalid(
            "One or more parameter values were invalid: Missing the key %s in the item"
                .formatted(name));
      }
      if (!value.type().equals(keys.get(name))) {
        throw Refusal.invalid(
            "One or more parameter values were invalid: Type mismatch for key %s expected: %s actual: %s"
                .formatted(name, keys.get(name), value.type()));
      }
      if (value.size() == 0 || value.size() > 2 * LONGEST_KEY) {
        throw Refusal.invalid(
            "One or more parameter values are not valid: the key %s is empty or too long"
                .formatted(name));
      }
      return value;
    }
  }

  /** The names of all, in order. */
  Iterable<String> names() {
    return tables.keySet().stream().sorted().toList();
  }

  void create(Table table) {
    if (!NAME.matcher(table.name()).matches()) {
      throw Refusal.invalid(
          "Invalid table/index name. It has to be 3 to 255 characters of a-z, A-Z, 0-9, _, - and"
              + " .");
    }
    if (tables.putIfAbsent(table.name(), table) != null) {
      throw Refusal.of("ResourceInUseException", "Table already exists: " + table.name());
    }
  }

  Table get(String name) {
    Table table = tables.get(name);
    if (table == null) {
      throw Refusal.of("ResourceNotFoundException", "Requested resource not found: Table: " + name);
    }
    return table;
  }

  void delete(Table table) {
    tables.remove(table.name());
  }

  void enableTimeToLive(Table table, String attribute) {
    if (table.ttl() != null) {
      throw Refusal.invalid("TimeToLive is already enabled");
    }
    tables.put(table.name(), new Table(table.name(), table.keys(), attribute));
  }
}
