package io.firstclaim.processor.service.log;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.joran.JoranConfigurator;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.classic.util.LogbackMDCAdapter;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.joran.spi.JoranException;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The lines of both formats, as the service's own configuration makes them. */
class LogFormatTest {
  private static final String FORGED = "bad\r\n2026-01-01 INFO \u001b[2J\u0085\u2028forged";
  private static final String ESCAPED = "bad??2026-01-01 INFO ?[2J??forged";

  private final LoggerContext context = new LoggerContext();
  private Map<String, String> mdc = Map.of();

  LogFormatTest() {
    context.setMDCAdapter(new LogbackMDCAdapter());
  }

  @AfterEach
  void stop() {
    context.stop();
  }

  private String plain(String message, @Nullable Throwable thrown) throws JoranException {
    return logged("plain", message, thrown);
  }

  private String logged(
      String format, String message, @Nullable Throwable thrown, Object... arguments)
      throws JoranException {
    context.putProperty("FIRSTCLAIM_LOG_FORMAT", format);
    JoranConfigurator configurator = new JoranConfigurator();
    configurator.setContext(context);
    configurator.doConfigure(Objects.requireNonNull(getClass().getResource("/logback.xml")));
    Logger root = context.getLogger(Logger.ROOT_LOGGER_NAME);
    var appender = (ConsoleAppender<ILoggingEvent>) root.getAppender(format);
    var event = new LoggingEvent("caller", root, Level.WARN, message, thrown, arguments);
    event.setMDCPropertyMap(mdc);
    return new String(appender.getEncoder().encode(event), UTF_8);
  }

  @Test
  void messageWithControlCharacters_isOneLine() throws JoranException {
    assertThat(plain(FORGED, null)).hasLineCount(1).endsWith(ESCAPED + System.lineSeparator());
  }

  @Test
  void exceptionsWithControlCharacters_forgeNoLine_andKeepTheirStacks() throws JoranException {
    var thrown = new IllegalArgumentException(FORGED, new IllegalStateException(FORGED));
    thrown.addSuppressed(new IllegalStateException(FORGED));

    String log = plain("Handler failed", thrown);

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
        .anyMatch(line -> line.contains("LogFormatTest"));
  }

  @Test
  void linesAboutATracedRecord_carryTheTrace() throws JoranException {
    mdc = Map.of("id", "order-1", "trace_id", "0af7651916cd43dd8448eb211c80319c");

    assertThat(plain("Gave it up", null))
        .contains(" id=order-1 trace=0af7651916cd43dd8448eb211c80319c Gave it up");
    assertThat(logged("json", "Gave it up", null))
        .contains("\"trace_id\":\"0af7651916cd43dd8448eb211c80319c\"");
  }

  @Test
  void linesAboutNoRecord_nameNone() throws JoranException {
    assertThat(plain("Started", null)).doesNotContain("id=", "token=", "trace=");
  }

  @Test
  void jsonLine_carriesTheMessageWithItsArguments_escaped() throws JoranException {
    String line = logged("json", "Gave {} up: {}", null, "order-1", FORGED);

    assertThat(line)
        .hasLineCount(1)
        .contains("\"formattedMessage\":\"Gave order-1 up: bad\\r\\n")
        .doesNotContain("\u001b");
  }
}
