package io.firstclaim.stack.standin;

import io.firstclaim.stack.standin.Condition.Both;
import io.firstclaim.stack.standin.Condition.Compared;
import io.firstclaim.stack.standin.Condition.Sign;
import io.firstclaim.stack.standin.Operand.Attribute;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** A statement of PartiQL that writes one item. */
sealed interface Statement {
  String table();

  /** The number of values that must come with the statement. */
  int parameters();

  /**
   * An item where none is.
   *
   * @param attributes their values
   */
  record Insert(String table, int parameters, Map<String, Operand> attributes)
      implements Statement {}

  /** A change of the item with that key, on a condition. */
  record Change(
      String table, int parameters, Update update, Condition where, Map<String, Operand> equal)
      implements Statement {}

  static Statement read(String text) {
    Tokens tokens = new Tokens(text);
    Set<String> used = new HashSet<>();
    if (tokens.take("INSERT")) {
      tokens.require("INTO");
      String table = tokens.name();
      tokens.require("VALUE");
      tokens.require("{");
      Map<String, Operand> attributes = new LinkedHashMap<>();
      do {
        String name = tokens.text();
        tokens.require(":");
        attributes.put(name, Operand.read(tokens, used));
      } while (tokens.take(","));
      tokens.require("}");
      requireEnd(tokens, used);
      return new Insert(table, tokens.parameters(), attributes);
    }
    tokens.require("UPDATE");
    String table = tokens.name();
    Update update = Update.readOfStatement(tokens, used);
    tokens.require("WHERE");
    Condition where = Condition.read(tokens, used);
    requireEnd(tokens, used);
    Map<String, Operand> equal = new HashMap<>();
    equal(where, equal);
    return new Change(table, tokens.parameters(), update, where, equal);
  }

  private static void requireEnd(Tokens tokens, Set<String> used) {
    if (!tokens.isOver() || !used.isEmpty()) {
      throw tokens.unknown();
    }
  }

  /** What must be equal to what, whichever way the condition holds. */
  private static void equal(Condition where, Map<String, Operand> equal) {
    switch (where) {
      case Both(Condition left, Condition right) -> {
        equal(left, equal);
        equal(right, equal);
      }
      case Compared(Attribute(String name), Sign sign, Operand value) when sign == Sign.EQUAL ->
          equal.put(name, value);
      default -> {}
    }
  }

  /** The value of an attribute of the key, which a change must name. */
  static Optional<Operand> keyOf(Change change, String attribute) {
    return Optional.ofNullable(change.equal().get(attribute));
  }
}
