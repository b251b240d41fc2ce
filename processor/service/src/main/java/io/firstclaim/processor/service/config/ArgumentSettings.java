package io.firstclaim.processor.service.config;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.env.CommandLinePropertySource;
import io.micronaut.context.env.Environment;
import io.micronaut.context.env.PropertySource;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The settings among the arguments, such as {@code -firstclaim.zone=a} or {@code
 * --firstclaim.zone=a}. They come before those of system properties and environment variables.
 *
 * @param byName as they were given
 */
public record ArgumentSettings(Map<String, Object> byName) {
  private static final Pattern SETTING = Pattern.compile("--?([a-z][a-zA-Z0-9-]*\\..+?)=(.*)");

  /** Whether an argument is a setting. */
  public static boolean isOne(String argument) {
    return SETTING.matcher(argument).matches();
  }

  /** The settings among these arguments. */
  public static ArgumentSettings among(Collection<String> arguments) {
    Map<String, Object> byName = new LinkedHashMap<>();
    for (String argument : arguments) {
      Matcher setting = SETTING.matcher(argument);
      if (setting.matches()) {
        byName.put(setting.group(1), setting.group(2));
      }
    }
    return new ArgumentSettings(Map.copyOf(byName));
  }

  /** A context that is not started yet. Its classes are the service's and those added to them. */
  public ApplicationContext context(ClassLoader classes) {
    return ApplicationContext.builder()
        .classLoader(classes)
        .propertySources(PropertySource.of("arguments", byName, CommandLinePropertySource.POSITION))
        .banner(false)
        .bootstrapEnvironment(false)
        .build();
  }

  /** What is read of the settings, of whatever origin, without a service. */
  public <T> T read(Function<Environment, T> reader) {
    try (Environment environment =
        context(ArgumentSettings.class.getClassLoader()).getEnvironment()) {
      environment.start();
      return reader.apply(environment);
    }
  }
}
