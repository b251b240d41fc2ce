package io.firstclaim.processor.engine.setting;

import java.util.List;
import java.util.stream.Collectors;

/** Settings are wrong: all that are, at once. The message has a line for each. */
public final class WrongSettingsException extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  WrongSettingsException(List<WrongSettingException> faults) {
    super(
        faults.stream()
            .map(fault -> String.valueOf(fault.getMessage()))
            .distinct()
            .collect(Collectors.joining("\n")));
  }

  /** What is wrong, a line each: name, value, what would be right. */
  public List<String> lines() {
    return String.valueOf(getMessage()).lines().toList();
  }
}
