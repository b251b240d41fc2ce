package io.firstclaim.processor.service.config;

import io.micronaut.context.annotation.ConfigurationProperties;
import io.micronaut.core.annotation.AnnotationMetadata;
import io.micronaut.core.beans.BeanIntrospection;
import io.micronaut.core.bind.annotation.Bindable;
import io.micronaut.core.naming.NameUtils;
import io.micronaut.core.type.Argument;
import jakarta.validation.constraints.NotEmpty;
import jakarta.validation.constraints.NotNull;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A setting of the service as people see it.
 *
 * @param name of the property, such as {@code firstclaim.claim.lease}
 * @param otherwise what holds without it, in words or as a value
 * @param meaning what it means; text in backquotes is typed as it is
 */
public record Setting(String name, String otherwise, String meaning) {

  /** All settings that the service knows, in the order in which they are documented. */
  public static List<Setting> all() {
    return Properties.ALL.stream().flatMap(Setting::of).toList();
  }

  /**
   * Settings of other things that matter: the Kafka clients, the AWS SDK, OpenTelemetry, Micronaut
   * and the log.
   */
  public static List<Setting> ofOthers() {
    return List.of(
        new Setting(
            "kafka.*",
            "`kafka.bootstrap.servers` is required",
            "passed to the Kafka clients as they are, such as `KAFKA_BOOTSTRAP_SERVERS`, SASL, TLS;"
                + " `KAFKA_GROUP_PROTOCOL=consumer` for KIP-848"),
        new Setting(
            "AWS_*",
            "the AWS SDK's",
            "`AWS_REGION`, profiles, roles, `AWS_ENDPOINT_URL_DYNAMODB`, `AWS_ENDPOINT_URL_S3`"),
        new Setting(
            "otel.*",
            "nothing is traced",
            "OpenTelemetry's own: `OTEL_TRACES_EXPORTER=otlp` traces each delivery and sends the"
                + " spans to `OTEL_EXPORTER_OTLP_ENDPOINT`, by default"
                + " `http://localhost:4317`; see Tracing below"),
        new Setting(
            "micronaut.server.host",
            "`127.0.0.1`",
            "of health, metrics, the admin API and its page"),
        new Setting(
            "micronaut.server.port", "`8080`", "of health, metrics, the admin API and its page"),
        new Setting(
            "FIRSTCLAIM_LOG_FORMAT", "`plain`", "`plain` or `json`; environment variable only"),
        new Setting(
            "FIRSTCLAIM_LOG_LEVEL",
            "`INFO`",
            "`TRACE`, `DEBUG`, `INFO`, `WARN`, `ERROR` or `OFF`; environment variable only"));
  }

  /** The environment variable that sets it. */
  public String variable() {
    return name.toUpperCase(Locale.ROOT).replace('.', '_').replace('-', '_');
  }

  private static Stream<Setting> of(Class<?> room) {
    return Stream.of(BeanIntrospection.getIntrospection(room).getConstructorArguments())
        .map(
            argument ->
                new Setting(
                    name(room, argument),
                    otherwise(argument),
                    argument.getAnnotationMetadata().stringValue(Meaning.class).orElseThrow()));
  }

  /** The names of a room's settings. */
  static List<String> names(Class<?> room) {
    return of(room).map(Setting::name).toList();
  }

  static String name(Class<?> room, Argument<?> argument) {
    String prefix =
        BeanIntrospection.getIntrospection(room)
            .stringValue(ConfigurationProperties.class)
            .orElseThrow();
    return prefix + "." + NameUtils.hyphenate(argument.getName());
  }

  static Optional<String> defaultOf(Argument<?> argument) {
    return argument
        .getAnnotationMetadata()
        .stringValue(Bindable.class, "defaultValue")
        .filter(text -> !text.isEmpty());
  }

  private static String otherwise(Argument<?> argument) {
    AnnotationMetadata metadata = argument.getAnnotationMetadata();
    return metadata
        .stringValue(Meaning.class, "otherwise")
        .filter(text -> !text.isEmpty())
        .or(() -> defaultOf(argument).map(text -> "`" + text + "`"))
        .orElseGet(() -> isRequired(argument) ? "required" : "none");
  }

  static boolean isRequired(Argument<?> argument) {
    AnnotationMetadata metadata = argument.getAnnotationMetadata();
    return metadata.hasAnnotation(NotEmpty.class) || metadata.hasAnnotation(NotNull.class);
  }
}
