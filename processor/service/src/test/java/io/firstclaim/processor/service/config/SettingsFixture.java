package io.firstclaim.processor.service.config;

import io.firstclaim.processor.service.handler.OwnHandlers;
import io.micronaut.context.ApplicationContext;
import io.micronaut.context.env.Environment;
import io.micronaut.context.env.MapPropertySource;
import io.micronaut.context.env.PropertySource;
import io.micronaut.context.env.PropertySource.PropertyConvention;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;

/**
 * Reads settings as the service does, from what a test gives beside the least that it needs, and
 * from nothing that the machine has. Each of some hundred variants takes a context of its own, so
 * they are started here: {@code @MicronautTest} has one for a whole class, and it has the settings
 * of {@code application-test.properties}, of which none would ever be missing.
 */
final class SettingsFixture {
  static final String DURATION = "give a duration such as 500ms, 30s, 5m, 12h or 8d";
  static final String TOPIC = "a topic has 1 to 249 of a-z A-Z 0-9 . _ -";

  static final Map<String, Object> LEAST =
      Map.of(
          "firstclaim.zone", "a",
          "firstclaim.input.topics", "orders",
          "firstclaim.input.record-id", "header:ce_id,key",
          "firstclaim.handler.type", "log",
          "kafka.bootstrap.servers", "localhost:9092");

  static ServiceSettings read(PropertySource... sources) {
    try (ApplicationContext context = start(sources)) {
      return SettingsReader.read(context.getEnvironment(), context.getBean(OwnHandlers.class));
    }
  }

  static <T> T read(Function<Environment, T> reader, PropertySource... sources) {
    try (ApplicationContext context = start(sources)) {
      return reader.apply(context.getEnvironment());
    }
  }

  private static ApplicationContext start(PropertySource... sources) {
    return ApplicationContext.builder()
        .deduceEnvironment(false)
        .environmentPropertySource(false)
        .banner(false)
        .propertySources(sources)
        .start();
  }

  static ServiceSettings read(Map<String, Object> more) {
    Map<String, Object> all = new HashMap<>(LEAST);
    all.putAll(more);
    return read(MapPropertySource.of("test", all));
  }

  static ServiceSettings read(String property, String value) {
    return read(Map.of(property, value));
  }

  static ServiceSettings readWithout(String property) {
    return readWithout(property, Map.of());
  }

  static ServiceSettings readWithout(String property, Map<String, Object> more) {
    Map<String, Object> all = new HashMap<>(LEAST);
    all.remove(property);
    all.putAll(more);
    return read(MapPropertySource.of("test", all));
  }

  static ServiceSettings readS3(Map<String, Object> more) {
    Map<String, Object> all =
        new HashMap<>(
            Map.of("firstclaim.claim.backend", "s3", "firstclaim.claim.s3.bucket", "my-claims"));
    all.putAll(more);
    return read(all);
  }

  static PropertySource variables(Map<String, Object> variables) {
    return new MapPropertySource("variables", variables) {
      @Override
      public PropertyConvention getConvention() {
        return PropertyConvention.ENVIRONMENT_VARIABLE;
      }
    };
  }

  private SettingsFixture() {}
}
