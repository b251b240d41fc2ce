package io.firstclaim.processor.audit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.firstclaim.lock.Moment;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.audit.api.Address;
import io.firstclaim.processor.audit.api.AuditSettings;
import io.firstclaim.processor.audit.api.AuditState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What an audit does before it reads anything; no broker is there. */
class AuditAtStartTest {
  private static final Duration PATIENCE = Duration.ofMinutes(5);

  @TempDir Path directory;

  private Audit started(Path state, TimeSource time) {
    Audit audit =
        new Audit(
            new AuditSettings(
                "orders",
                "orders",
                "a",
                "orders.outcomes",
                "orders.violations",
                Duration.ofDays(8),
                Duration.ofMinutes(5),
                new Address("127.0.0.1", 8080),
                state,
                false,
                Map.of(
                    "bootstrap.servers", "127.0.0.1:1",
                    "request.timeout.ms", 500,
                    "default.api.timeout.ms", 1_000)),
            time);
    audit.start("store-1");
    return audit;
  }

  /** Such as no memory left for a moment: nobody would know that there is no audit. */
  @Test
  void errorOfTheJvm_isToldByTheState() {
    TimeSource system = TimeSource.system();
    Audit audit =
        started(
            directory,
            new TimeSource() {
              @Override
              public Moment now() {
                return system.now();
              }

              @Override
              public void sleep(Duration duration) {
                throw new InternalError("of a test");
              }
            });

    await().atMost(PATIENCE).until(() -> audit.state() instanceof AuditState.Broken);
    assertThat(audit.state())
        .isEqualTo(new AuditState.Broken("java.lang.InternalError: of a test"));
    audit.stop(Duration.ofSeconds(10));
  }

  @Test
  void folderThatAnEarlierStartHasLeft_isDeleted() throws IOException {
    Path left = directory.resolve("orders-audit-a-host-1-0123abcd");
    Path lock = left.resolve("orders-audit-a").resolve(".lock");
    Path _ = Files.createDirectories(lock.getParent());
    Path _ = Files.createFile(lock);
    Path _ = Files.setLastModifiedTime(lock, FileTime.from(Instant.EPOCH));

    Audit audit = started(directory.resolve("orders-audit-a-host-1-4567cdef"), TimeSource.system());

    await().atMost(PATIENCE).until(() -> Files.notExists(left));
    audit.stop(Duration.ofSeconds(10));
  }
}
