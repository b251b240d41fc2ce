package io.firstclaim.processor.service.config;

import io.firstclaim.processor.engine.setting.Secrets;
import io.firstclaim.processor.engine.setting.Setting;
import io.firstclaim.processor.engine.setting.WrongSettingException;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Names that look like settings of the service but are not. */
final class UnknownSettings {
  /** Variables that configure the log, which is there before everything else. */
  private static final Set<String> VARIABLES_ONLY =
      Set.of(ServiceCatalog.LOG_FORMAT.name(), ServiceCatalog.LOG_LEVEL.name());

  /**
   * What {@code lock} and {@code once} give the command that they run, which may be one of ours;
   * and the operator's own token, which {@code admin} takes.
   */
  private static final Set<String> OF_A_COMMAND =
      Set.of("FIRSTCLAIM_LOCK", "FIRSTCLAIM_TOKEN", "FIRSTCLAIM_ADMIN_TOKEN");

  /** What Kubernetes gives each container for a service named {@code firstclaim} or so. */
  private static final Pattern OF_A_SERVICE =
      Pattern.compile(
          "FIRSTCLAIM(_[A-Z0-9_]+)?_(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?"
              + "|PORT_\\d+_(TCP|UDP|SCTP)(_(ADDR|PORT|PROTO))?)");

  private static final Pattern PORT_OF_A_SERVICE = Pattern.compile("FIRSTCLAIM(_[A-Z0-9_]+)?_PORT");
  private static final Pattern ADDRESS = Pattern.compile("(tcp|udp|sctp)://.*|\\d+");

  private static final List<String> NAMES =
      ServiceCatalog.all().stream().map(Setting::name).toList();
  private static final List<String> VARIABLES =
      Stream.concat(ServiceCatalog.all().stream().map(Setting::variable), VARIABLES_ONLY.stream())
          .toList();

  private UnknownSettings() {}

  /**
   * A fault for each name that begins like the service's settings but is not one.
   *
   * @param variables all environment variables
   * @param properties all properties except those made from environment variables
   */
  static List<WrongSettingException> among(
      Map<String, String> variables, Map<String, String> properties) {
    return Stream.concat(
            new TreeMap<>(variables)
                .entrySet().stream()
                    .filter(variable -> variable.getKey().startsWith("FIRSTCLAIM_"))
                    .filter(variable -> !VARIABLES.contains(variable.getKey()))
                    .filter(variable -> !OF_A_COMMAND.contains(variable.getKey()))
                    .filter(variable -> !isOfKubernetes(variable.getKey(), variable.getValue()))
                    .map(variable -> fault(variable, VARIABLES)),
            new TreeMap<>(properties)
                .entrySet().stream()
                    .filter(property -> property.getKey().startsWith("firstclaim."))
                    .filter(property -> !NAMES.contains(property.getKey()))
                    .map(property -> fault(property, NAMES)))
        .toList();
  }

  private static boolean isOfKubernetes(String name, String value) {
    return OF_A_SERVICE.matcher(name).matches()
        || (PORT_OF_A_SERVICE.matcher(name).matches() && ADDRESS.matcher(value).matches());
  }

  private static WrongSettingException fault(Map.Entry<String, String> given, List<String> known) {
    String name = given.getKey();
    String remedy =
        VARIABLES_ONLY.contains(Setting.variable(name))
            ? "give it as the environment variable " + Setting.variable(name)
            : "there is no such setting; the nearest is " + nearest(name, known);
    return new WrongSettingException(name, Secrets.shown(name, given.getValue()), remedy);
  }

  static String nearest(String name, List<String> known) {
    return known.stream()
        .min(Comparator.comparingInt(candidate -> distance(name, candidate)))
        .orElseThrow();
  }

  /** The fewest insertions, deletions and replacements that turn one into the other. */
  static int distance(String one, String other) {
    int[] last = new int[other.length() + 1];
    for (int j = 0; j < last.length; j++) {
      last[j] = j;
    }
    for (int i = 1; i <= one.length(); i++) {
      int[] row = new int[last.length];
      row[0] = i;
      for (int j = 1; j < row.length; j++) {
        int replaced = last[j - 1] + (one.charAt(i - 1) == other.charAt(j - 1) ? 0 : 1);
        row[j] = Math.min(replaced, Math.min(last[j], row[j - 1]) + 1);
      }
      last = row;
    }
    return last[other.length()];
  }
}
