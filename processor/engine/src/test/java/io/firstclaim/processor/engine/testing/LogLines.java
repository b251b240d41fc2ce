package io.firstclaim.processor.engine.testing;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/** What a class logs while this is open: level, blank, message; from INFO on. */
public final class LogLines implements AutoCloseable {
  /** For who uses this: a logger is its whole JVM's. */
  public static final String WHY_ALONE = "what others log would be among the lines";

  private final Logger logger;
  private final @Nullable Level before;
  private final Queue<String> lines = new ConcurrentLinkedQueue<>();
  private final AppenderBase<ILoggingEvent> appender =
      new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
          lines.add(event.getLevel() + " " + event.getFormattedMessage());
        }
      };

  /** The lines of this class from now on. */
  public LogLines(String className) {
    logger = (Logger) LoggerFactory.getLogger(className);
    before = logger.getLevel();
    logger.setLevel(Level.INFO);
    logger.setAdditive(false);
    appender.start();
    logger.addAppender(appender);
  }

  /** Those of this level. */
  public List<String> of(String level) {
    return lines.stream().filter(line -> line.startsWith(level + " ")).toList();
  }

  @Override
  public void close() {
    logger.detachAppender(appender);
    logger.setAdditive(true);
    logger.setLevel(before);
  }
}
