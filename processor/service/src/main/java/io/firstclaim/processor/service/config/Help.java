package io.firstclaim.processor.service.config;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** How the service is used, for people. */
public final class Help {
  private static final String USAGE =
      """
      Firstclaim processes each Kafka record once across zones.

      java -jar firstclaim.jar [-PROPERTY=VALUE ...]           one instance of the service
      java -jar firstclaim.jar probe [-PROPERTY=VALUE ...]     tries the lock store
      java -jar firstclaim.jar claim ID [-PROPERTY=VALUE ...]  says what the lock store has for a record
      java -jar firstclaim.jar dataset list|verify|repair [-PROPERTY=VALUE ...]
                                                             reads, checks and mends the dataset
      java -jar firstclaim.jar admin COMMAND                 asks and steers a running instance
      java -jar firstclaim.jar --help | --version

      Settings are arguments, system properties or environment variables: firstclaim.claim.lease is
      FIRSTCLAIM_CLAIM_LEASE. In brackets: what holds without it.

      """;

  private Help() {}

  /** The usage, and a line for each setting. */
  public static String text() {
    List<Setting> settings =
        Stream.concat(Setting.all().stream(), Setting.ofOthers().stream()).toList();
    int width = settings.stream().mapToInt(setting -> setting.name().length()).max().orElse(1);
    String line = "%-" + width + "s  [%s] %s";
    return settings.stream()
        .map(
            setting ->
                line.formatted(setting.name(), setting.otherwise(), setting.meaning())
                    .replace("`", ""))
        .collect(Collectors.joining(System.lineSeparator(), USAGE, ""));
  }
}
