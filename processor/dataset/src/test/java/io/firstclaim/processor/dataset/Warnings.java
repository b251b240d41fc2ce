package io.firstclaim.processor.dataset;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/** What a class warns of while this is open, in tests that run beside this one too. */
final class Warnings implements AutoCloseable {
  private final Logger logger;
  private final @Nullable Level before;
  private final Queue<String> lines = new ConcurrentLinkedQueue<>();
  private final AppenderBase<ILoggingEvent> appender =
      new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
          if (event.getLevel() == Level.WARN) {
            lines.add(event.getFormattedMessage());
          }
        }
      };

  Warnings(Class<?> of) {
    logger = (Logger) LoggerFactory.getLogger(of);
    before = logger.getLevel();
    logger.setLevel(Level.WARN);
    logger.setAdditive(false);
    appender.start();
    logger.addAppender(appender);
  }

  /** Those in which this is said, such as a bucket of the test's own. */
  List<String> with(String text) {
    return lines.stream().filter(line -> line.contains(text)).toList();
  }

  @Override
  public void close() {
    logger.detachAppender(appender);
    logger.setAdditive(true);
    logger.setLevel(before);
  }
}
