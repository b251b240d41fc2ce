package io.firstclaim.processor.service.config;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.env.Environment;
import io.micronaut.context.env.MapPropertySource;
import io.micronaut.context.env.PropertySource;
import io.micronaut.context.env.PropertySource.PropertyConvention;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** Reads settings as the service does, from what a test gives beside the least that it needs. */
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

  /** A handler of the user's, beside those of the service. */
  private static final KnownHandlers OWN =
      new KnownHandlers() {
        @Override
        public List<String> names() {
          return List.of("mine");
        }

        @Override
        public boolean has(String name) {
          return names().contains(name);
        }
      };

  static ServiceSettings read(PropertySource... sources) {
    return read(environment -> SettingsReader.read(environment, OWN), sources);
  }

  static <T> T read(Function<Environment, T> reader, PropertySource... sources) {
    try (Environment environment =
        ApplicationContext.builder()
            .deduceEnvironment(false)
            .environmentPropertySource(false)
            .banner(false)
            .propertySources(sources)
            .build()
            .getEnvironment()) {
      environment.start();
      return reader.apply(environment);
    }
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
    Map<String, Object> all = new HashMap<>(LEAST);
    all.remove(property);
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
