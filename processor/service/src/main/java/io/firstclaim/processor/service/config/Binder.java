package io.firstclaim.processor.service.config;

import io.micronaut.core.beans.BeanIntrospection;
import io.micronaut.core.type.Argument;
import io.micronaut.core.value.PropertyResolver;
import io.micronaut.validation.validator.Validator;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Fills the {@link Properties} and gathers what is wrong with them. Micronaut itself would stop at
 * the first that does not convert.
 */
final class Binder {
  private final PropertyResolver environment;
  private final Validator validator = Validator.getInstance();
  private final List<WrongSettingException> faults = new ArrayList<>();
  private final Set<String> atFault = new HashSet<>();
  private final Map<String, String> inForce = new LinkedHashMap<>();

  Binder(PropertyResolver environment) {
    this.environment = environment;
  }

  /** The text of a property, if it has one that is not blank. */
  Optional<String> text(String property) {
    return environment
        .getProperty(property, String.class)
        .map(String::strip)
        .filter(text -> !text.isEmpty());
  }

  /** The properties of a room. A wrong one is replaced by its default, or by nothing. */
  <T> T bind(Class<T> room) {
    BeanIntrospection<T> introspection = BeanIntrospection.getIntrospection(room);
    Argument<?>[] arguments = introspection.getConstructorArguments();
    @Nullable Object[] values = new Object[arguments.length];
    for (int i = 0; i < arguments.length; i++) {
      values[i] = value(room, arguments[i]);
    }
    return introspection.instantiate(values);
  }

  private @Nullable Object value(Class<?> room, Argument<?> argument) {
    String property = Setting.name(room, argument);
    Optional<String> given = text(property);
    Optional<String> otherwise = Setting.defaultOf(argument);
    try {
      Optional<String> text = given.or(() -> otherwise);
      @Nullable Object value = text.map(it -> Text.parse(it, argument)).orElse(null);
      var violations = validator.validateValue(room, argument.getName(), value);
      if (violations.isEmpty()) {
        text.ifPresent(it -> inForce.put(property, Secrets.shown(property, it)));
        return value;
      }
      wrong(property, given.orElse(null), violations.iterator().next().getMessage());
    } catch (IllegalArgumentException e) {
      wrong(property, given.orElse(null), String.valueOf(e.getMessage()));
    }
    if (otherwise.isPresent()) {
      return Text.parse(otherwise.get(), argument);
    }
    return Setting.isRequired(argument) ? Text.nothing(argument) : null;
  }

  /** Notes what is wrong with a property. */
  void wrong(String property, @Nullable String value, String remedy) {
    atFault.add(property);
    wrong(
        new WrongSettingException(
            property, value == null ? null : Secrets.shown(property, value), remedy));
  }

  /** Notes a fault that bears on no other setting. */
  void wrong(WrongSettingException fault) {
    faults.add(fault);
  }

  /** Whether none of these is wrong, so that they can be checked against each other. */
  boolean areRight(String... properties) {
    return Stream.of(properties).noneMatch(atFault::contains);
  }

  /** Adds a setting that was worked out to those shown as in force. */
  void force(String property, String value) {
    inForce.put(property, Secrets.shown(property, value));
  }

  /** This binder's settings in force, without secrets. */
  Map<String, String> inForce() {
    return Collections.unmodifiableMap(inForce);
  }

  /**
   * Does nothing if everything is right.
   *
   * @throws WrongSettingsException with all faults so far
   */
  void requireRight() {
    if (!faults.isEmpty()) {
      throw new WrongSettingsException(faults);
    }
  }
}
