package io.firstclaim.stack.standin;

import io.firstclaim.stack.standin.Operand.Values;
import io.firstclaim.stack.standin.Value.Decimal;
import io.firstclaim.stack.standin.Value.Text;
import java.util.Map;
import java.util.Set;

/** What an item has to be like for a write. An item that is not there has no attributes. */
sealed interface Condition {
  /** The condition that every item fulfils. */
  record Always() implements Condition {}

  record Both(Condition left, Condition right) implements Condition {}

  record Either(Condition left, Condition right) implements Condition {}

  record Not(Condition condition) implements Condition {}

  record Exists(String attribute) implements Condition {}

  record Compared(Operand left, Sign sign, Operand right) implements Condition {}

  /** How two are compared. */
  enum Sign {
    EQUAL("="),
    DIFFERENT("<>"),
    AT_MOST("<="),
    AT_LEAST(">="),
    LESS("<"),
    MORE(">");

    private final String text;

    Sign(String text) {
      this.text = text;
    }
  }

  default boolean holds(Map<String, Value> item, Values values) {
    return switch (this) {
      case Always() -> true;
      case Both(Condition left, Condition right) ->
          left.holds(item, values) && right.holds(item, values);
      case Either(Condition left, Condition right) ->
          left.holds(item, values) || right.holds(item, values);
      case Not(Condition condition) -> !condition.holds(item, values);
      case Exists(String attribute) -> item.containsKey(attribute);
      case Compared(Operand left, Sign sign, Operand right) -> {
        Value first = left.of(item, values);
        Value second = right.of(item, values);
        yield (first == null || second == null)
            ? sign == Sign.DIFFERENT // what is missing is like nothing
            : compare(first, sign, second);
      }
    };
  }

  private static boolean compare(Value left, Sign sign, Value right) {
    return switch (sign) {
      case EQUAL -> left.equals(right);
      case DIFFERENT -> !left.equals(right);
      case LESS -> isInOrder(left, right) && order(left, right) < 0;
      case AT_MOST -> isInOrder(left, right) && order(left, right) <= 0;
      case MORE -> isInOrder(left, right) && order(left, right) > 0;
      case AT_LEAST -> isInOrder(left, right) && order(left, right) >= 0;
    };
  }

  /** Of different types, neither is less. */
  private static boolean isInOrder(Value left, Value right) {
    return left.type().equals(right.type());
  }

  private static int order(Value left, Value right) {
    if (left instanceof Decimal first && right instanceof Decimal second) {
      return first.value().compareTo(second.value());
    }
    if (left instanceof Text first && right instanceof Text second) {
      return first.value().compareTo(second.value());
    }
    throw Refusal.unknown("the order of values of type " + left.type());
  }

  /** Reads a whole one. */
  static Condition read(Tokens tokens, Set<String> used) {
    Condition left = readBoth(tokens, used);
    while (tokens.take("OR")) {
      left = new Either(left, readBoth(tokens, used));
    }
    return left;
  }

  private static Condition readBoth(Tokens tokens, Set<String> used) {
    Condition left = readOne(tokens, used);
    while (tokens.take("AND")) {
      left = new Both(left, readOne(tokens, used));
    }
    return left;
  }

  private static Condition readOne(Tokens tokens, Set<String> used) {
    if (tokens.take("NOT")) {
      return new Not(readOne(tokens, used));
    }
    if (tokens.take("(")) {
      Condition inner = read(tokens, used);
      tokens.require(")");
      return inner;
    }
    if (tokens.take("attribute_exists")) {
      return new Exists(inParentheses(tokens));
    }
    if (tokens.take("attribute_not_exists")) {
      return new Not(new Exists(inParentheses(tokens)));
    }
    Operand left = Operand.read(tokens, used);
    for (Sign sign : Sign.values()) {
      if (tokens.take(sign.text)) {
        return new Compared(left, sign, Operand.read(tokens, used));
      }
    }
    throw tokens.unknown();
  }

  private static String inParentheses(Tokens tokens) {
    tokens.require("(");
    String name = tokens.name();
    tokens.require(")");
    return name;
  }
}
