package io.firstclaim.processor.audit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.firstclaim.lock.TimeSource;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.slf4j.LoggerFactory;

/** What an audit says of the folder that it is to keep its state in. */
@Isolated("what others log would be among the lines")
final class AuditStateFolderTest {
  private static final Path IN_MEMORY = Path.of("/dev/shm");

  private final Logger logger = (Logger) LoggerFactory.getLogger(Audit.class);
  private final ListAppender<ILoggingEvent> lines = new ListAppender<>();

  @TempDir Path onDisk;

  @BeforeEach
  void listen() {
    logger.setLevel(Level.WARN);
    lines.start();
    logger.addAppender(lines);
  }

  @AfterEach
  void leave() {
    logger.detachAppender(lines);
  }

  /** What an audit warns of at its start with its state in this folder. */
  private List<String> warnings(Path folder) {
    var audit =
        new Audit(AuditProcess.settings("orders", "127.0.0.1:1", folder, 1), TimeSource.system());
    audit.start(AuditProcess.STORE);
    List<String> warnings =
        List.copyOf(lines.list).stream()
            .filter(line -> line.getLevel() == Level.WARN)
            .map(ILoggingEvent::getFormattedMessage)
            .filter(message -> message.startsWith("firstclaim.audit.directory"))
            .toList();
    audit.stop(Duration.ofSeconds(10));
    return warnings;
  }

  @Test
  void folderInMemory_isWarnedOf_withItsBound() {
    assumeThat(IN_MEMORY).isDirectory();

    assertThat(warnings(IN_MEMORY.resolve("audit")))
        .singleElement()
        .asString()
        .matches(
            "firstclaim.audit.directory=/dev/shm/audit: it is in memory \\(tmpfs of [\\d,]+ MB, for"
                + " some [\\d,]+ records within firstclaim.claim.retention\\); give a folder on a"
                + " disk, as what is full ends the audit");
  }

  @Test
  void folderOnADisk_isNotWarnedOf() {
    assertThat(warnings(onDisk)).isEmpty();
  }
}
