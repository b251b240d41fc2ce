package io.firstclaim.processor.engine.setting;

import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;

/**
 * A setting as it is declared in a {@link Catalog}. Immutable; two settings are never equal.
 *
 * @param <T> what its values are
 */
public final class Setting<T> {
  private final String name;
  private final Syntax<T> syntax;
  private final Absent<T> absent;
  private final String meaning;

  Setting(String name, Syntax<T> syntax, Absent<T> absent, String meaning) {
    this.name = name;
    this.syntax = syntax;
    this.absent = absent;
    this.meaning = meaning;
  }

  /**
   * What holds when a setting is not given.
   *
   * @param words what that is, for people
   * @param value that holds; empty if the setting is required
   * @param remedy said when it is required and missing
   */
  record Absent<T>(String words, Function<Settings, Optional<T>> value, String remedy) {}

  /** The property that sets it, such as {@code firstclaim.claim.lease}. */
  public String name() {
    return name;
  }

  /** The environment variable that sets it. */
  public String variable() {
    return variable(name);
  }

  /** The environment variable that sets the property of this name. */
  public static String variable(String name) {
    return name.toUpperCase(Locale.ROOT).replace('.', '_').replace('-', '_');
  }

  /** What holds without it, in words or as a value; text in backquotes is typed as it is. */
  public String otherwise() {
    return absent.words();
  }

  /** What it means, as part of a sentence; text in backquotes is typed as it is. */
  public String meaning() {
    return meaning;
  }

  /**
   * The value that is written so.
   *
   * @throws WrongSettingException if there is none
   */
  public T parse(String text) {
    try {
      return syntax.parse(text);
    } catch (IllegalArgumentException e) {
      throw new WrongSettingException(name, text, String.valueOf(e.getMessage()));
    }
  }

  /** How this value is written. */
  public String text(T value) {
    return syntax.text(value);
  }

  Syntax<T> syntax() {
    return syntax;
  }

  Absent<T> absent() {
    return absent;
  }

  /** The name of the setting. */
  @Override
  public String toString() {
    return name;
  }
}
