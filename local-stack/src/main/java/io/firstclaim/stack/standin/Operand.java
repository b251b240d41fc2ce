package io.firstclaim.stack.standin;

import io.firstclaim.stack.standin.Value.Decimal;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What is compared in a condition, or assigned in an update. */
sealed interface Operand {
  /** An attribute of the item. */
  record Attribute(String name) implements Operand {}

  /** A value that came with the request, by its name. */
  record Named(String name) implements Operand {}

  /** A value that came with a statement, by its place. */
  record Parameter(int index) implements Operand {}

  record IfNotExists(Attribute attribute, Operand otherwise) implements Operand {}

  record Sum(Operand left, Operand right, boolean minus) implements Operand {}

  /** The values that came with a request or a statement. */
  record Values(Map<String, Value> named, List<Value> parameters) {
    static final Values NONE = new Values(Map.of(), List.of());

    /**
     * All that are named are there, and no others.
     *
     * @throws Refusal if not
     */
    void requireExactly(Set<String> names) {
      for (String name : names) {
        if (!named.containsKey(name)) {
          throw Refusal.invalid(
              "An expression attribute value used in expression is not defined: " + name);
        }
      }
      for (String name : named.keySet()) {
        if (!names.contains(name)) {
          throw Refusal.invalid(
              "Value provided in ExpressionAttributeValues unused in expressions: " + name);
        }
      }
    }
  }

  /** The operand's value, given the item as it is; null if the item has no such attribute. */
  default @Nullable Value of(Map<String, Value> item, Values values) {
    return switch (this) {
      case Attribute(String name) -> item.get(name);
      case Named(String name) -> values.named().get(name);
      case Parameter(int index) -> values.parameters().get(index);
      case IfNotExists(Attribute attribute, Operand otherwise) -> {
        Value there = attribute.of(item, values);
        yield there == null ? otherwise.of(item, values) : there;
      }
      case Sum(Operand left, Operand right, boolean minus) -> {
        Decimal first = number(left.of(item, values));
        Decimal second = number(right.of(item, values));
        yield new Decimal(
            minus ? first.value().subtract(second.value()) : first.value().add(second.value()));
      }
    };
  }

  private static Decimal number(@Nullable Value value) {
    return switch (value) {
      case null ->
          throw Refusal.invalid(
              "The provided expression refers to an attribute that does not exist in the item");
      case Decimal number -> number;
      default ->
          throw Refusal.invalid("An operand in the update expression has an incorrect data type");
    };
  }

  /** Reads an operand, and leaves what may follow it. */
  static Operand read(Tokens tokens, Set<String> used) {
    Operand left = readOne(tokens, used);
    if (tokens.take("+")) {
      return new Sum(left, readOne(tokens, used), false);
    }
    return tokens.take("-") ? new Sum(left, readOne(tokens, used), true) : left;
  }

  private static Operand readOne(Tokens tokens, Set<String> used) {
    var value = tokens.value();
    if (value.isPresent()) {
      used.add(value.get());
      return new Named(value.get());
    }
    var parameter = tokens.parameter();
    if (parameter.isPresent()) {
      return new Parameter(parameter.get());
    }
    if (tokens.take("if_not_exists")) {
      tokens.require("(");
      Attribute attribute = new Attribute(tokens.name());
      tokens.require(",");
      Operand otherwise = readOne(tokens, used);
      tokens.require(")");
      return new IfNotExists(attribute, otherwise);
    }
    return new Attribute(tokens.name());
  }
}
