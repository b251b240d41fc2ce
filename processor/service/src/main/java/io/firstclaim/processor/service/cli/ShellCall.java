package io.firstclaim.processor.service.cli;

import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.engine.setting.Syntax;
import io.firstclaim.processor.engine.setting.WrongSettingException;
import io.firstclaim.processor.service.config.ArgumentSettings;
import io.firstclaim.processor.service.config.SettingsReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A call of {@code lock} or {@code once}.
 *
 * @param name of the lock, or the ID
 * @param waits how long to wait for the lock; null for not at all
 * @param atMost after how long the command is ended; null for never
 * @param stores whether what the command prints is stored
 * @param command with its arguments
 */
record ShellCall(
    boolean isOnce,
    String name,
    @Nullable String waits,
    @Nullable String atMost,
    boolean stores,
    ArgumentSettings settings,
    List<String> command) {
  static final String WAIT = "--wait";
  static final String AT_MOST = "--at-most";
  static final String STORES = "--result-from-stdout";

  private static final Set<String> OF_LOCK = Set.of(WAIT, AT_MOST);

  /**
   * The call that these arguments are, if nothing is wrong with it. Picocli reads the others, and
   * tells what is wrong; it takes as long as all that comes after, as no AOT cache has its classes.
   */
  static Optional<ShellCall> of(List<String> arguments) {
    int end = arguments.indexOf("--");
    List<String> words = new ArrayList<>();
    List<String> given = new ArrayList<>();
    Map<String, String> options = new HashMap<>();
    for (int i = 0; i < end; i++) {
      String argument = arguments.get(i);
      String called = words.isEmpty() ? "" : words.getFirst();
      if (ArgumentSettings.isOne(argument)) {
        given.add(argument);
      } else if (called.equals("lock") && OF_LOCK.contains(argument) && i + 1 < end) {
        i++;
        options.put(argument, arguments.get(i));
      } else if (called.equals("once") && argument.equals(STORES)) {
        options.put(argument, "");
      } else {
        words.add(argument);
      }
    }
    boolean isOnce = !words.isEmpty() && words.getFirst().equals("once");
    boolean isRight =
        words.size() == 2
            && (isOnce || words.getFirst().equals("lock"))
            && !words.getLast().startsWith("-")
            && options.values().stream().noneMatch(value -> value.startsWith("-"))
            && end + 1 < arguments.size();
    return isRight
        ? Optional.of(
            new ShellCall(
                isOnce,
                words.getLast(),
                options.get(WAIT),
                options.get(AT_MOST),
                options.containsKey(STORES),
                ArgumentSettings.among(given),
                arguments.subList(end + 1, arguments.size())))
        : Optional.empty();
  }

  /** Runs the command, or says why not; the exit code. */
  int runOrSay(TimeSource time) {
    try {
      return run(time);
    } catch (Exception e) {
      FaultReport.tell(e);
      return 2;
    }
  }

  /** Runs the command; the exit code. */
  int run(TimeSource time) throws InterruptedException {
    Duration wait = waits == null ? Duration.ZERO : duration(WAIT, waits, Syntax.DURATION);
    Duration bound = atMost == null ? null : duration(AT_MOST, atMost, Syntax.LENGTH);
    try (ShellCommands commands =
        new ShellCommands(settings.read(SettingsReader::readStore), time)) {
      return isOnce
          ? commands.once(name, stores, command)
          : commands.lock(name, wait, bound, command);
    }
  }

  private static Duration duration(String option, String text, Syntax<Duration> syntax) {
    try {
      return syntax.parse(text);
    } catch (IllegalArgumentException e) {
      throw new WrongSettingException(option, text, String.valueOf(e.getMessage()));
    }
  }
}
