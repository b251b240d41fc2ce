package io.firstclaim.processor.service.cli;

import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.processor.dataset.UnreadableException;
import io.firstclaim.processor.engine.api.ShortRetentionException;
import io.firstclaim.processor.engine.api.TopicRefusedException;
import io.firstclaim.processor.engine.setting.WrongSettingException;
import io.firstclaim.processor.engine.setting.WrongSettingsException;
import io.micronaut.http.server.exceptions.ServerStartupException;
import io.opentelemetry.sdk.autoconfigure.spi.ConfigurationException;
import java.util.List;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.AuthorizationException;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/** What is told of a fault that ends a command or the service. */
public final class FaultReport {
  private FaultReport() {}

  /** Tells what the matter is, in one line, or in one for each wrong setting. */
  public static void tell(Throwable fault) {
    LoggerFactory.getLogger(FaultReport.class).debug("Told in one line", fault);
    List<String> lines =
        fault instanceof WrongSettingsException wrong ? wrong.lines() : List.of(reason(fault));
    lines.forEach(line -> System.err.println("firstclaim: " + line));
  }

  /**
   * The one line that helps: that of the innermost fault written for people, or of the last one.
   */
  private static String reason(Throwable fault) {
    Throwable last = fault;
    for (@Nullable Throwable t = fault; t != null; t = t.getCause()) {
      last = t;
      if (t instanceof WrongSettingException
          || t instanceof StoreRefusedException
          || t instanceof TopicRefusedException
          || t instanceof StoreUnavailableException
          || t instanceof UnreadableException) {
        break;
      }
      if (t instanceof ShortRetentionException) {
        return OneLine.of(
            "firstclaim.claim.retention: %s (firstclaim.input.replay-horizon)"
                .formatted(t.getMessage()));
      }
      if (t instanceof ConfigException) {
        return OneLine.of("a setting under kafka: " + t.getMessage());
      }
      if (t instanceof ConfigurationException && t.getMessage() != null) {
        return OneLine.of(
            "a setting under otel: " + t.getMessage().replaceFirst("(?s)headers=.*", "headers"));
      }
      if (t instanceof AuthenticationException || t instanceof AuthorizationException) {
        return OneLine.of(
            "Kafka refuses the service: %s; check kafka.security.protocol, kafka.sasl.* and kafka.ssl.*"
                .formatted(t.getMessage()));
      }
      if (t instanceof ServerStartupException && t.getCause() != null) {
        return OneLine.of(
            "micronaut.server.port: %s; choose another one".formatted(t.getCause().getMessage()));
      }
    }
    return OneLine.of(last.getMessage() == null ? last.toString() : last.getMessage());
  }
}
