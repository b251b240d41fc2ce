package io.firstclaim.processor.engine.setting;

import java.net.URI;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * How the values of a setting are written, and which of them are right. Immutable and thread-safe.
 *
 * @param <T> what the values are
 */
public final class Syntax<T> {
  private static final int MOST = 1_000_000;
  private static final Pattern MEGABYTES = Pattern.compile("([1-9]\\d{0,5})MB");

  /** Any text. */
  public static final Syntax<String> TEXT = new Syntax<>(text -> text, text -> text);

  /** {@code true} or {@code false}. */
  public static final Syntax<Boolean> FLAG = new Syntax<>(Syntax::flag, String::valueOf);

  /** A number of things: one to a million. */
  public static final Syntax<Integer> COUNT = number(1, MOST, "give a number from 1 to " + MOST);

  /** A duration of zero or more. */
  public static final Syntax<Duration> DURATION =
      new Syntax<>(DurationText::parse, DurationText::of)
          .where(DurationText::isSensible, DurationText.REMEDY);

  /** A duration of more than zero. */
  public static final Syntax<Duration> LENGTH =
      DURATION.where(Duration::isPositive, DurationText.REMEDY);

  /** The name of a Kafka topic. */
  public static final Syntax<String> TOPIC =
      text("(?!\\.{1,2}$)[a-zA-Z0-9._-]{1,249}", "a topic has 1 to 249 of a-z A-Z 0-9 . _ -");

  /** An address of the web. */
  public static final Syntax<URI> URL = new Syntax<>(Syntax::url, URI::toString);

  private final Function<String, T> parser;
  private final Function<T, String> writer;
  private final Consumer<T> check;

  private Syntax(Function<String, T> parser, Function<T, String> writer, Consumer<T> check) {
    this.parser = parser;
    this.writer = writer;
    this.check = check;
  }

  /**
   * A syntax of its own.
   *
   * @param parser throws an {@link IllegalArgumentException} that says what would be right
   * @param writer its reverse
   */
  public Syntax(Function<String, T> parser, Function<T, String> writer) {
    this(parser, writer, _ -> {});
  }

  /** Text that matches a regular expression. */
  public static Syntax<String> text(String regex, String remedy) {
    return TEXT.where(Pattern.compile(regex).asMatchPredicate(), remedy);
  }

  /** A whole number. */
  public static Syntax<Integer> number(int least, int most, String remedy) {
    return new Syntax<Integer>(text -> integer(text, remedy), String::valueOf)
        .where(value -> least <= value && value <= most, remedy);
  }

  /** A size in bytes, which is written in megabytes. */
  public static Syntax<Long> size(String remedy) {
    return new Syntax<>(text -> bytes(text, remedy), bytes -> (bytes >> 20) + "MB")
        .where(bytes -> bytes > 0, remedy);
  }

  /** One of the constants of a type; {@code DEAD_LETTER} is written {@code dead-letter}. */
  public static <E extends Enum<E>> Syntax<E> choice(Class<E> type) {
    String remedy =
        Stream.of(type.getEnumConstants())
            .map(Syntax::text)
            .collect(Collectors.joining(", ", "give one of ", ""));
    return choice(type, remedy);
  }

  /** One of the constants of a type. */
  public static <E extends Enum<E>> Syntax<E> choice(Class<E> type, String remedy) {
    return new Syntax<>(
        text ->
            Stream.of(type.getEnumConstants())
                .filter(choice -> text(choice).equals(text))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(remedy)),
        Syntax::text);
  }

  /** Several, with commas between them, or none. */
  public static <T> Syntax<List<T>> list(Syntax<T> of) {
    return new Syntax<>(
        list ->
            Arrays.stream(list.split(","))
                .map(String::strip)
                .filter(entry -> !entry.isEmpty())
                .map(of::parse)
                .toList(),
        list -> list.stream().map(of::text).collect(Collectors.joining(",")),
        list -> list.forEach(of::check));
  }

  /** A value, or a word that stands for none. */
  public static <T> Syntax<Optional<T>> optional(String none, Syntax<T> of) {
    return new Syntax<>(
        text -> text.equals(none) ? Optional.empty() : Optional.of(of.parse(text)),
        value -> value.map(of::text).orElse(none),
        value -> value.ifPresent(of::check));
  }

  /** The same, for values of which this holds too. */
  public Syntax<T> where(Predicate<? super T> holds, String remedy) {
    return new Syntax<>(
        parser,
        writer,
        check.andThen(
            value -> {
              if (!holds.test(value)) {
                throw new IllegalArgumentException(remedy);
              }
            }));
  }

  /**
   * The value that is written so.
   *
   * @throws IllegalArgumentException if there is none; the message says what would be right
   */
  public T parse(String text) {
    T value = parser.apply(text);
    check(value);
    return value;
  }

  /**
   * Does nothing if a value is right.
   *
   * @throws IllegalArgumentException if it is not; the message says what would be right
   */
  public void check(T value) {
    check.accept(value);
  }

  /** A value as it is written. */
  public String text(T value) {
    return writer.apply(value);
  }

  private static boolean flag(String text) {
    return switch (text.toLowerCase(Locale.ROOT)) {
      case "true" -> true;
      case "false" -> false;
      default -> throw new IllegalArgumentException("give true or false");
    };
  }

  private static int integer(String text, String remedy) {
    try {
      return Integer.parseInt(text);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(remedy, e);
    }
  }

  private static long bytes(String text, String remedy) {
    Matcher megabytes = MEGABYTES.matcher(text);
    if (!megabytes.matches()) {
      throw new IllegalArgumentException(remedy);
    }
    return Long.parseLong(megabytes.group(1)) << 20;
  }

  private static URI url(String text) {
    try {
      return URI.create(text);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "give an http or https URL, such as http://127.0.0.1:8000/records", e);
    }
  }

  private static String text(Enum<?> choice) {
    return choice.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
