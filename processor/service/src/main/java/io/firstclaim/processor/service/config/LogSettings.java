package io.firstclaim.processor.service.config;

import static io.firstclaim.processor.service.config.ServiceCatalog.LOG_FORMAT;
import static io.firstclaim.processor.service.config.ServiceCatalog.LOG_LEVEL;

import io.firstclaim.processor.engine.setting.Setting;
import io.firstclaim.processor.engine.setting.WrongSettingException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The settings of the log. Its configuration reads them by itself, before everything else, and
 * takes a wrong format to mean no log at all and a wrong level to mean DEBUG.
 */
public final class LogSettings {
  private LogSettings() {}

  /** What is wrong with the settings of the log among these environment variables. */
  static List<WrongSettingException> faults(Map<String, String> environment) {
    return Stream.of(LOG_FORMAT, LOG_LEVEL)
        .flatMap(setting -> fault(setting, environment.get(setting.name())).stream())
        .toList();
  }

  private static Optional<WrongSettingException> fault(
      Setting<String> setting, @Nullable String text) {
    try {
      String _ = text == null ? "" : setting.parse(text);
      return Optional.empty();
    } catch (WrongSettingException e) {
      return Optional.of(e);
    }
  }

  /**
   * Keeps the log silent if its settings are wrong, until they are told with the others. To be
   * called before the first logger is made.
   */
  public static void silenceIfWrong(Map<String, String> environment) {
    if (!faults(environment).isEmpty()) {
      System.setProperty(LOG_FORMAT.name(), "plain");
      System.setProperty(LOG_LEVEL.name(), "OFF");
    }
  }
}
