package io.firstclaim.processor.service.log;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.joran.JoranConfigurator;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.joran.spi.JoranException;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The lines of the plain format, as the service's own configuration makes them. */
class PlainLogTest {
  private static final String FORGED = "bad\r\n2026-01-01 INFO \u001b[2J\u0085\u2028forged";
  private static final String ESCAPED = "bad??2026-01-01 INFO ?[2J??forged";

  private final LoggerContext context = new LoggerContext();

  @BeforeEach
  void configure() throws JoranException {
    context.setMDCAdapter(new ch.qos.logback.classic.util.LogbackMDCAdapter());
    JoranConfigurator configurator = new JoranConfigurator();
    configurator.setContext(context);
    configurator.doConfigure(Objects.requireNonNull(getClass().getResource("/logback.xml")));
  }

  @AfterEach
  void stop() {
    context.stop();
  }

  private String logged(String message, @Nullable Throwable thrown) {
    Logger root = context.getLogger(Logger.ROOT_LOGGER_NAME);
    var plain = (ConsoleAppender<ILoggingEvent>) root.getAppender("plain");
    var event = new LoggingEvent("caller", root, Level.WARN, message, thrown, null);
    event.setMDCPropertyMap(Map.of());
    return new String(plain.getEncoder().encode(event), UTF_8);
  }

  @Test
  void messageWithControlCharacters_isOneLine() {
    assertThat(logged(FORGED, null)).hasLineCount(1).endsWith(ESCAPED + System.lineSeparator());
  }

  @Test
  void exceptionsWithControlCharacters_forgeNoLine_andKeepTheirStacks() {
    var thrown = new IllegalArgumentException(FORGED, new IllegalStateException(FORGED));
    thrown.addSuppressed(new IllegalStateException(FORGED));

    String log = logged("Handler failed", thrown);

    assertThat(log)
        .contains("java.lang.IllegalArgumentException: " + ESCAPED)
        .contains("Caused by: java.lang.IllegalStateException: " + ESCAPED)
        .contains("Suppressed: java.lang.IllegalStateException: " + ESCAPED)
        .doesNotContain("\u001b", "\u0085", "\u2028");
    assertThat(log.lines().skip(1))
        .allMatch(
            line ->
                line.matches(
                    "\\s+(at .+|\\.\\.\\. \\d+ .*)|\\s*(Caused by: |Suppressed: )?java\\.lang\\.Ill.+"))
        .anyMatch(line -> line.contains("PlainLogTest"));
  }
}
