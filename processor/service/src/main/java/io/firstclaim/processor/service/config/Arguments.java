package io.firstclaim.processor.service.config;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What the service was called with.
 *
 * @param command what to do
 * @param settings those that were given, by property
 * @param id of the record that is asked for; null with all commands but {@link Command#CLAIM}
 */
public record Arguments(Command command, Map<String, Object> settings, @Nullable String id) {
  private static final Pattern SETTING = Pattern.compile("--?([a-z][a-zA-Z0-9-]*\\..+?)=(.*)");

  /** What the service can be told to do. */
  public enum Command {
    /** To process records. */
    SERVE,
    /** To try the lock store. */
    PROBE,
    /** To say what the lock store has for a record. */
    CLAIM,
    /** To say how it is used. */
    HELP,
    /** To say its version. */
    VERSION
  }

  /**
   * Reads the arguments: {@code probe}, {@code claim ID}, {@code --help}, {@code --version} and
   * settings such as {@code -firstclaim.zone=a} or {@code --firstclaim.zone=a}.
   *
   * @throws WrongSettingException if one is none of these
   */
  public static Arguments parse(String... args) {
    Command command = Command.SERVE;
    Map<String, Object> settings = new LinkedHashMap<>();
    String id = null;
    for (int i = 0; i < args.length; i++) {
      String arg = args[i];
      Matcher setting = SETTING.matcher(arg);
      if (setting.matches()) {
        settings.put(setting.group(1), setting.group(2));
      } else {
        command =
            switch (arg) {
              case "probe" -> Command.PROBE;
              case "claim" -> Command.CLAIM;
              case "-h", "-help", "--help", "help" -> Command.HELP;
              case "-V", "-version", "--version", "version" -> Command.VERSION;
              default ->
                  throw new WrongSettingException(
                      "argument",
                      arg,
                      "give none, probe to try the lock store, claim ID to read it, dataset to read"
                          + " or mend the dataset, admin, --help, --version, or settings such as"
                          + " -firstclaim.zone=a");
            };
        if (command == Command.CLAIM) {
          if (++i == args.length) {
            throw new WrongSettingException("argument", arg, "give the record's ID after it");
          }
          id = args[i]; // whatever it looks like
        }
      }
    }
    return new Arguments(command, Map.copyOf(settings), id);
  }

  /**
   * Settings among other arguments.
   *
   * @param settings those that were given, by property
   * @param others the rest, in their order
   */
  public record Mixed(Map<String, Object> settings, List<String> others) {}

  /** Takes the settings out of the arguments of a command that has options of its own. */
  public static Mixed mixed(String... args) {
    Map<String, Object> settings = new LinkedHashMap<>();
    List<String> others = new ArrayList<>();
    for (String arg : args) {
      Matcher setting = SETTING.matcher(arg);
      if (setting.matches()) {
        settings.put(setting.group(1), setting.group(2));
      } else {
        others.add(arg);
      }
    }
    return new Mixed(Map.copyOf(settings), List.copyOf(others));
  }
}
