package io.firstclaim.processor.service.config;

import io.firstclaim.lock.OneLine;
import org.jspecify.annotations.Nullable;

/** A setting stops the start. The message is one line: property, value, what would be right. */
public final class WrongSettingException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private static final int MAX_SHOWN = 200;

  /**
   * A fault of this property.
   *
   * @param value as it was given; null if it was not
   * @param remedy what would be right
   */
  public WrongSettingException(String property, @Nullable String value, String remedy) {
    super(
        value == null
            ? "%s is not set: %s".formatted(property, remedy)
            : "%s=%s: %s".formatted(property, OneLine.of(value, MAX_SHOWN), remedy));
  }
}
