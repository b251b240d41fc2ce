package io.firstclaim.processor.audit;

import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.audit.api.Address;
import io.firstclaim.processor.audit.api.AuditSettings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

/** An audit as a process of its own, to be killed. */
final class AuditProcess {
  static final String STORE = "store-1";

  private AuditProcess() {}

  static AuditSettings settings(String bootstrapServers, Path directory, int port) {
    return settings("orders", bootstrapServers, directory, port);
  }

  static AuditSettings settings(
      String application, String bootstrapServers, Path directory, int port) {
    return new AuditSettings(
        application,
        application,
        "a",
        application + ".outcomes",
        application + ".violations",
        Duration.ofDays(8),
        Duration.ofMillis(1),
        new Address("127.0.0.1", port),
        directory,
        true,
        Map.of(
            "bootstrap.servers", bootstrapServers,
            "session.timeout.ms", 2_000,
            "heartbeat.interval.ms", 500));
  }

  /** Runs until it is killed: bootstrap servers, directory, port. */
  public static void main(String[] args) throws InterruptedException {
    AuditSettings settings = settings(args[0], Path.of(args[1]), Integer.parseInt(args[2]));
    new Audit(settings, TimeSource.system()).start(STORE);
    new CountDownLatch(1).await();
  }
}
