package io.firstclaim.processor.engine.setting;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Settings as they were given, as values or as text. Each is read and checked when it is asked for
 * the first time. One that is wrong is noted and has no value, so that everything that is wrong can
 * be told at once. Not thread-safe.
 */
public final class Settings {
  private final Function<String, Optional<String>> texts;
  private final Map<Setting<?>, Object> given = new HashMap<>();
  private final Map<Setting<?>, Optional<Object>> values = new LinkedHashMap<>();
  private final List<WrongSettingException> faults = new ArrayList<>();

  private Settings(Function<String, Optional<String>> texts) {
    this.texts = texts;
  }

  /** Settings of which none is given yet. */
  public static Settings none() {
    return new Settings(_ -> Optional.empty());
  }

  /**
   * Settings that are given as text.
   *
   * @param texts the text of a name, if it has one; blank ones count as not given
   */
  public static Settings of(Function<String, Optional<String>> texts) {
    return new Settings(
        name -> texts.apply(name).map(String::strip).filter(text -> !text.isEmpty()));
  }

  /** The same settings as they were given, none of them read yet. */
  public Settings copy() {
    Settings copy = new Settings(texts);
    copy.given.putAll(given);
    return copy;
  }

  /** Gives this value to a setting, in place of any other. */
  public <T> void set(Setting<T> setting, T value) {
    given.put(setting, value);
    values.remove(setting);
  }

  /** Takes the values that these settings have there, their defaults among them. */
  public void takeOver(Collection<Setting<?>> settings, Settings there) {
    for (Setting<?> setting : settings) {
      Object value = there.get(setting);
      given.put(setting, value);
      values.put(setting, Optional.of(value));
    }
  }

  /** Whether a setting was given, right or wrong. */
  public boolean isGiven(Setting<?> setting) {
    return given.containsKey(setting) || texts.apply(setting.name()).isPresent();
  }

  /** The value of a setting, or its default; empty if it is wrong, which is then noted. */
  @SuppressWarnings("unchecked") // the value was made by the setting's own syntax
  public <T> Optional<T> find(Setting<T> setting) {
    if (!values.containsKey(setting)) {
      values.put(setting, read(setting).map(value -> value));
    }
    return (Optional<T>) values.getOrDefault(setting, Optional.empty());
  }

  /**
   * The value of a setting that is right.
   *
   * @throws WrongSettingException if it is not
   */
  public <T> T get(Setting<T> setting) {
    return find(setting)
        .orElseThrow(() -> new WrongSettingException(setting.name(), text(setting), "it is wrong"));
  }

  private <T> Optional<T> read(Setting<T> setting) {
    try {
      Optional<T> read = given(setting);
      if (read.isPresent()) {
        return read;
      }
    } catch (IllegalArgumentException e) {
      wrong(setting, String.valueOf(e.getMessage()));
      return Optional.empty();
    }
    return otherwise(setting);
  }

  @SuppressWarnings("unchecked") // the value is always of the type of its setting
  private <T> Optional<T> given(Setting<T> setting) {
    @Nullable T value = (T) given.get(setting);
    if (value == null) {
      return texts.apply(setting.name()).map(setting.syntax()::parse);
    }
    setting.syntax().check(value);
    return Optional.of(value);
  }

  private <T> Optional<T> otherwise(Setting<T> setting) {
    Optional<T> otherwise;
    try {
      otherwise = setting.absent().value().apply(this);
    } catch (WrongSettingException e) {
      return Optional.empty(); // what it follows from is wrong, and was noted as such
    }
    if (otherwise.isEmpty()) {
      wrong(setting, setting.absent().remedy());
    }
    return otherwise;
  }

  /** Reads these settings and says whether none is wrong, so that they can be checked together. */
  public boolean areRight(Setting<?>... settings) {
    boolean right = true;
    for (Setting<?> setting : settings) {
      right &= find(setting).isPresent();
    }
    return right;
  }

  /** What is made of three settings; empty if one of them is wrong. */
  public <A, B, C, R> Optional<R> make(
      Setting<A> a, Setting<B> b, Setting<C> c, Of3<A, B, C, R> of) {
    return areRight(a, b, c) ? Optional.of(of.make(get(a), get(b), get(c))) : Optional.empty();
  }

  /** What is made of four settings; empty if one of them is wrong. */
  public <A, B, C, D, R> Optional<R> make(
      Setting<A> a, Setting<B> b, Setting<C> c, Setting<D> d, Of4<A, B, C, D, R> of) {
    return areRight(a, b, c, d)
        ? Optional.of(of.make(get(a), get(b), get(c), get(d)))
        : Optional.empty();
  }

  /** Makes something of the values of three settings. */
  @FunctionalInterface
  public interface Of3<A, B, C, R> {
    /** What these values make. */
    R make(A a, B b, C c);
  }

  /** Makes something of the values of four settings. */
  @FunctionalInterface
  public interface Of4<A, B, C, D, R> {
    /** What these values make. */
    R make(A a, B b, C c, D d);
  }

  /** Notes that a setting, if it is right by itself, is wrong where this does not hold of it. */
  public <T> void require(Setting<T> setting, Predicate<T> holds, String remedy) {
    find(setting).filter(holds.negate()).ifPresent(_ -> wrong(setting, remedy));
  }

  /** Notes what is wrong with a setting. */
  public void wrong(Setting<?> setting, String remedy) {
    String text = text(setting);
    note(setting, text.isBlank() ? null : text, remedy);
  }

  /**
   * Notes what is wrong with a setting.
   *
   * @param value what is wrong of its value
   */
  public void wrong(Setting<?> setting, String value, String remedy) {
    note(setting, value, remedy);
  }

  private void note(Setting<?> setting, @Nullable String value, String remedy) {
    @Nullable String shown = value == null ? null : Secrets.shown(setting.name(), value);
    wrong(new WrongSettingException(setting.name(), shown, remedy));
    values.put(setting, Optional.empty());
  }

  /** Notes a fault that bears on no other setting. */
  public void wrong(WrongSettingException fault) {
    faults.add(fault);
  }

  /** A setting's value as it is written, right or wrong; empty if there is none. */
  public <T> String text(Setting<T> setting) {
    Optional<String> asGiven =
        given.containsKey(setting) ? Optional.empty() : texts.apply(setting.name());
    return asGiven.or(() -> valueOf(setting).map(setting.syntax()::text)).orElse("");
  }

  @SuppressWarnings("unchecked") // the value is always of the type of its setting
  private <T> Optional<T> valueOf(Setting<T> setting) {
    Optional<Object> value = Optional.ofNullable(given.get(setting));
    return (Optional<T>) value.or(() -> values.getOrDefault(setting, Optional.empty()));
  }

  /**
   * Does nothing if everything is right so far.
   *
   * @throws WrongSettingsException with all faults
   */
  public void requireRight() {
    if (!faults.isEmpty()) {
      throw new WrongSettingsException(faults);
    }
  }

  /** The settings that were asked for, as they are written, without secrets. */
  public Map<String, String> inForce() {
    Map<String, String> inForce = new LinkedHashMap<>();
    for (Setting<?> setting : values.keySet()) {
      String text = text(setting);
      if (!text.isEmpty()) {
        inForce.put(setting.name(), Secrets.shown(setting.name(), text));
      }
    }
    return inForce;
  }

  /** Whether a setting was ever asked for. */
  public boolean isUsed(Setting<?> setting) {
    return values.containsKey(setting);
  }
}
