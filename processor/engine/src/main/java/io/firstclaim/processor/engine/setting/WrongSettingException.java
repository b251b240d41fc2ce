package io.firstclaim.processor.engine.setting;

import io.firstclaim.lock.OneLine;
import org.jspecify.annotations.Nullable;

/** A setting is wrong. The message is one line: name, value, what would be right. */
public final class WrongSettingException extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  private static final int MAX_SHOWN = 200;

  /**
   * A fault of the setting of this name.
   *
   * @param value as it was given, without secrets; null if it was not
   * @param remedy what would be right
   */
  public WrongSettingException(String name, @Nullable String value, String remedy) {
    super(
        value == null
            ? "%s is not set: %s".formatted(name, remedy)
            : "%s=%s: %s".formatted(name, OneLine.of(value, MAX_SHOWN), remedy));
  }
}
