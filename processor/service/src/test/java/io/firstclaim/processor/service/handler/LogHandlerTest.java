package io.firstclaim.processor.service.handler;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.firstclaim.lock.RecordId;
import io.firstclaim.processor.handler.HandlerResult;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

final class LogHandlerTest {
  private final Logger logger = (Logger) LoggerFactory.getLogger(LogHandler.class);
  private final ListAppender<ILoggingEvent> lines = new ListAppender<>();

  @BeforeEach
  void listen() {
    logger.setLevel(Level.INFO);
    lines.start();
    logger.addAppender(lines);
  }

  @AfterEach
  void leave() {
    logger.detachAppender(lines);
  }

  @Test
  void record_isOneLine_withoutItsContent() {
    assertThat(new LogHandler().handle(TestContext.of("secret"))).isEqualTo(HandlerResult.done());
    assertThat(lines.list)
        .singleElement()
        .satisfies(
            line -> {
              assertThat(line.getLevel()).isEqualTo(Level.INFO);
              assertThat(line.getFormattedMessage())
                  .isEqualTo("Record order-1 from orders.v1-3@4711: 6 bytes, attempt 2, token 42");
            });
  }

  @Test
  void nullValueAndHostileId_areOneLineToo() {
    new LogHandler().handle(TestContext.of((byte[]) null).with(RecordId.of("a\r\nb{}")));
    assertThat(lines.list)
        .singleElement()
        .extracting(ILoggingEvent::getFormattedMessage)
        .isEqualTo("Record a%0D%0Ab{} from orders.v1-3@4711: no value, attempt 2, token 42");
  }
}
