package io.firstclaim.stack.standin;

import io.firstclaim.stack.standin.Operand.Values;
import io.firstclaim.stack.standin.Value.Decimal;
import io.firstclaim.stack.standin.Value.Texts;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What an update does to an item, each step by what the item was before. */
record Update(List<Step> steps) {
  /** A step of an update. */
  sealed interface Step {
    record Assign(String attribute, Operand value) implements Step {}

    record Remove(String attribute) implements Step {}

    /** Adds a number to a number, or texts to a set. */
    record Add(String attribute, Operand value) implements Step {}
  }

  /** The item as the update leaves it. */
  Map<String, Value> of(Map<String, Value> item, Values values) {
    Map<String, Value> next = new HashMap<>(item);
    for (Step step : steps) {
      switch (step) {
        case Step.Assign(String attribute, Operand operand) -> {
          Value value = operand.of(item, values);
          if (value == null) {
            throw Refusal.invalid(
                "The provided expression refers to an attribute that does not exist in the item");
          }
          next.put(attribute, value);
        }
        case Step.Remove(String attribute) -> next.remove(attribute);
        case Step.Add(String attribute, Operand operand) ->
            next.put(attribute, sum(item.get(attribute), operand.of(item, values)));
      }
    }
    return next;
  }

  private static Value sum(@Nullable Value there, @Nullable Value more) {
    if (more instanceof Decimal(BigDecimal number)) {
      if (there == null) {
        return more;
      }
      if (there instanceof Decimal(BigDecimal before)) {
        return new Decimal(before.add(number));
      }
    }
    if (more instanceof Texts(Set<String> texts)) {
      if (there == null) {
        return more;
      }
      if (there instanceof Texts(Set<String> before)) {
        Set<String> all = new LinkedHashSet<>(before);
        all.addAll(texts);
        return new Texts(all);
      }
    }
    throw Refusal.invalid("An operand in the update expression has an incorrect data type");
  }

  /** Reads one of DynamoDB's own, {@code SET a = :b, c = :d REMOVE e ADD f :g}. */
  static Update read(Tokens tokens, Set<String> used) {
    List<Step> steps = new ArrayList<>();
    while (!tokens.isOver()) {
      if (tokens.take("SET")) {
        do {
          steps.add(assign(tokens, used));
        } while (tokens.take(","));
      } else if (tokens.take("REMOVE")) {
        do {
          steps.add(new Step.Remove(tokens.name()));
        } while (tokens.take(","));
      } else if (tokens.take("ADD")) {
        do {
          steps.add(new Step.Add(tokens.name(), Operand.read(tokens, used)));
        } while (tokens.take(","));
      } else {
        throw tokens.unknown();
      }
    }
    requireDistinct(steps);
    return new Update(List.copyOf(steps));
  }

  /** Reads one of PartiQL's, {@code SET a=? SET b=? REMOVE c}, as far as it goes. */
  static Update readOfStatement(Tokens tokens, Set<String> used) {
    List<Step> steps = new ArrayList<>();
    while (true) {
      if (tokens.take("SET")) {
        steps.add(assign(tokens, used));
      } else if (tokens.take("REMOVE")) {
        steps.add(new Step.Remove(tokens.name()));
      } else {
        requireDistinct(steps);
        return new Update(List.copyOf(steps));
      }
    }
  }

  private static Step assign(Tokens tokens, Set<String> used) {
    String attribute = tokens.name();
    tokens.require("=");
    return new Step.Assign(attribute, Operand.read(tokens, used));
  }

  private static void requireDistinct(List<Step> steps) {
    long distinct = steps.stream().map(Update::attribute).distinct().count();
    if (distinct != steps.size()) {
      throw Refusal.invalid("Two document paths overlap with each other");
    }
  }

  private static String attribute(Step step) {
    return switch (step) {
      case Step.Assign(String attribute, Operand _) -> attribute;
      case Step.Remove(String attribute) -> attribute;
      case Step.Add(String attribute, Operand _) -> attribute;
    };
  }

  /** The attributes that the update writes to. */
  List<String> attributes() {
    return steps.stream().map(Update::attribute).toList();
  }
}
