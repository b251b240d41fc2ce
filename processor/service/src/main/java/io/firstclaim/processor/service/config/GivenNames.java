package io.firstclaim.processor.service.config;

import io.firstclaim.processor.engine.setting.WrongSettingException;
import io.micronaut.context.env.Environment;
import io.micronaut.context.env.PropertySource;
import io.micronaut.context.env.PropertySource.PropertyConvention;
import io.micronaut.core.naming.NameUtils;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Everything given under the service's names, right or wrong.
 *
 * @param variables environment variables, as they are
 * @param properties all others, their names in kebab case
 */
record GivenNames(Map<String, String> variables, Map<String, String> properties) {

  static GivenNames of(Environment environment) {
    Map<String, String> variables = new HashMap<>();
    Map<String, String> properties = new HashMap<>();
    for (PropertySource source : environment.getPropertySources()) {
      boolean ofVariables = source.getConvention() == PropertyConvention.ENVIRONMENT_VARIABLE;
      for (String name : source) {
        if (ofVariables) {
          variables.put(name, String.valueOf(source.get(name)));
        } else if (name.startsWith("firstclaim")) {
          properties.put(kebab(name), String.valueOf(source.get(name)));
        }
      }
    }
    return new GivenNames(variables, properties);
  }

  /** A fault for each name that is not a setting of the service. */
  List<WrongSettingException> unknown() {
    return UnknownSettings.among(variables, properties);
  }

  /** Turns {@code input.recordId[0]} into {@code input.record-id}. */
  private static String kebab(String name) {
    return Arrays.stream(name.replaceFirst("\\[\\d+]$", "").split("\\."))
        .map(NameUtils::hyphenate)
        .collect(Collectors.joining("."));
  }
}
