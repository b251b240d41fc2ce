package io.firstclaim.processor.service.log;

import io.firstclaim.processor.service.config.WrongSettingException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * The settings of the log. Its configuration reads them by itself, before everything else, and
 * takes a wrong format to mean no log at all and a wrong level to mean DEBUG.
 */
public final class LogSettings {
  private static final String FORMAT = "FIRSTCLAIM_LOG_FORMAT";
  private static final String LEVEL = "FIRSTCLAIM_LOG_LEVEL";
  private static final Set<String> LEVELS =
      Set.of("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "OFF", "ALL");

  private LogSettings() {}

  /** What is wrong with those among these environment variables. */
  public static List<WrongSettingException> faults(Map<String, String> environment) {
    List<WrongSettingException> faults = new ArrayList<>();
    String format = environment.getOrDefault(FORMAT, "plain");
    if (!format.equals("plain") && !format.equals("json")) {
      faults.add(new WrongSettingException(FORMAT, format, "give plain or json"));
    }
    String level = environment.getOrDefault(LEVEL, "INFO");
    if (!LEVELS.contains(level.toUpperCase(Locale.ROOT))) {
      faults.add(
          new WrongSettingException(
              LEVEL, level, "give one of TRACE, DEBUG, INFO, WARN, ERROR, OFF, ALL"));
    }
    return faults;
  }

  /** Keeps the log, which must not be there yet, silent, as its settings are wrong. */
  public static void silence() {
    System.setProperty(FORMAT, "plain");
    System.setProperty(LEVEL, "OFF");
  }
}
