package io.firstclaim.stack.standin;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The words of an expression or a statement, one after the other. For one reading. */
final class Tokens {
  private static final Pattern TOKEN =
      Pattern.compile(
          "\\s*(?:(?<name>[A-Za-z_][A-Za-z0-9_]*)|(?<value>:[A-Za-z_][A-Za-z0-9_]*)"
              + "|\"(?<quoted>[^\"]*)\"|'(?<text>[^']*)'|(?<sign><>|<=|>=|[=<>()+,{}?:-]))");

  private final String all;
  private final Matcher matcher;
  private Kind kind = Kind.END;
  private String word = "";
  private int parameters;

  private enum Kind {
    NAME("name"),
    VALUE("value"),
    QUOTED("quoted"),
    TEXT("text"),
    SIGN("sign"),
    END("");

    private final String group;

    Kind(String group) {
      this.group = group;
    }
  }

  Tokens(String all) {
    this.all = all;
    this.matcher = TOKEN.matcher(all);
    next();
  }

  private void next() {
    if (!matcher.lookingAt()) {
      if (!all.substring(matcher.regionStart()).isBlank()) {
        throw unknown();
      }
      kind = Kind.END;
      word = "";
      return;
    }
    for (Kind each : Kind.values()) {
      String found = each == Kind.END ? null : matcher.group(each.group);
      if (found != null) {
        kind = each;
        word = found;
      }
    }
    matcher.region(matcher.end(), all.length());
  }

  boolean isOver() {
    return kind == Kind.END;
  }

  /** Goes on if the next one is this sign or, in whatever case, this word. */
  boolean take(String wanted) {
    boolean is =
        (kind == Kind.SIGN && word.equals(wanted))
            || (kind == Kind.NAME && word.equalsIgnoreCase(wanted));
    if (is) {
      next();
    }
    return is;
  }

  void require(String wanted) {
    if (!take(wanted)) {
      throw unknown();
    }
  }

  /** The name of an attribute or a function, quoted or not. */
  String name() {
    if (kind != Kind.NAME && kind != Kind.QUOTED) {
      throw unknown();
    }
    String name = word;
    next();
    return name;
  }

  /** A text in single quotes. */
  String text() {
    if (kind != Kind.TEXT) {
      throw unknown();
    }
    String text = word;
    next();
    return text;
  }

  /** The name of a value, if that is what comes next. */
  Optional<String> value() {
    if (kind != Kind.VALUE) {
      return Optional.empty();
    }
    String name = word;
    next();
    return Optional.of(name);
  }

  /** The number of a question mark, from 0, if that is what comes next. */
  Optional<Integer> parameter() {
    return take("?") ? Optional.of(parameters++) : Optional.empty();
  }

  /** How many question marks there were. */
  int parameters() {
    return parameters;
  }

  Refusal unknown() {
    return Refusal.unknown("'%s' in: %s".formatted(word, all));
  }
}
