package io.firstclaim.processor.service.config;

import java.util.List;
import java.util.stream.Collectors;

/** Wrong settings stop the start: all of them, at once. */
public final class WrongSettingsException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  WrongSettingsException(List<WrongSettingException> faults) {
    super(
        faults.stream()
            .map(fault -> String.valueOf(fault.getMessage()))
            .distinct()
            .collect(Collectors.joining("\n")));
  }

  /** What is wrong, a line each: property, value, what would be right. */
  public List<String> lines() {
    return String.valueOf(getMessage()).lines().toList();
  }
}
