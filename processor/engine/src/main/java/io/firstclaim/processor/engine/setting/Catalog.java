package io.firstclaim.processor.engine.setting;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * Settings in the order in which they are declared. There is no other way to make one, so none can
 * be left out of the help and the documentation. For one thread, such as that which loads the class
 * with the declarations.
 */
public final class Catalog {
  private final List<Setting<?>> settings = new ArrayList<>();

  /** All settings so far. */
  public List<Setting<?>> all() {
    return List.copyOf(settings);
  }

  /**
   * Declares a setting that must be given.
   *
   * @param remedy said when it is not
   * @param meaning as part of a sentence
   */
  public <T> Setting<T> required(String name, Syntax<T> syntax, String remedy, String meaning) {
    return requiredWhere(name, syntax, "required", remedy, meaning);
  }

  /**
   * Declares a setting that must be given where it is asked for.
   *
   * @param where it is required, in words
   * @param remedy said when it is not given
   */
  public <T> Setting<T> requiredWhere(
      String name, Syntax<T> syntax, String where, String remedy, String meaning) {
    return derived(name, syntax, where, _ -> Optional.empty(), remedy, meaning);
  }

  /** Declares a setting with a default. */
  public <T> Setting<T> withDefault(String name, Syntax<T> syntax, T value, String meaning) {
    return derived(name, syntax, "`" + syntax.text(value) + "`", _ -> value, meaning);
  }

  /**
   * Declares a setting whose default is worked out, often from other settings.
   *
   * @param words what the default is, for people
   * @param value the default
   */
  public <T> Setting<T> derived(
      String name, Syntax<T> syntax, String words, Function<Settings, T> value, String meaning) {
    return derived(name, syntax, words, given -> Optional.of(value.apply(given)), "", meaning);
  }

  /**
   * Declares a setting that has a default only now and then, and else must be given.
   *
   * @param words what the default is, for people
   * @param value the default, if there is one
   * @param remedy said when there is none
   */
  public <T> Setting<T> derived(
      String name,
      Syntax<T> syntax,
      String words,
      Function<Settings, Optional<T>> value,
      String remedy,
      String meaning) {
    Setting<T> setting =
        new Setting<>(name, syntax, new Setting.Absent<>(words, value, remedy), meaning);
    settings.add(setting);
    return setting;
  }
}
