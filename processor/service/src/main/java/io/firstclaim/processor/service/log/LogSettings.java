package io.firstclaim.processor.service.log;

import io.firstclaim.processor.service.config.WrongSettingException;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * The settings of the log. Its configuration reads them by itself, before all others, and takes a
 * wrong format for no log at all and a wrong level for DEBUG.
 */
public final class LogSettings {
  private static final String FORMAT = "FIRSTCLAIM_LOG_FORMAT";
  private static final String LEVEL = "FIRSTCLAIM_LOG_LEVEL";
  private static final Set<String> LEVELS =
      Set.of("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "OFF", "ALL");

  private LogSettings() {}

  /**
   * Checks them.
   *
   * @throws WrongSettingException if one is wrong
   */
  public static void check(Map<String, String> environment) {
    String format = environment.getOrDefault(FORMAT, "plain");
    if (!format.equals("plain") && !format.equals("json")) {
      throw new WrongSettingException(FORMAT, format, "give plain or json");
    }
    String level = environment.getOrDefault(LEVEL, "INFO");
    if (!LEVELS.contains(level.toUpperCase(Locale.ROOT))) {
      throw new WrongSettingException(
          LEVEL, level, "give one of TRACE, DEBUG, INFO, WARN, ERROR, OFF, ALL");
    }
  }
}
