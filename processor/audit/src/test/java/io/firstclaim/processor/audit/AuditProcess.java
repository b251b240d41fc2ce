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

  /** Kafka's default: nobody is put out of the group only as the machine is busy. */
  private static final int SESSION_MILLIS = 45_000;

  /** For the process that is killed: so soon another has its partitions. */
  private static final int SHORT_SESSION_MILLIS = 2_000;

  private AuditProcess() {}

  static AuditSettings settings(String bootstrapServers, Path directory, int port) {
    return settings("orders", bootstrapServers, directory, port);
  }

  static AuditSettings settings(
      String application, String bootstrapServers, Path directory, int port) {
    return settings(application, bootstrapServers, directory, port, SESSION_MILLIS);
  }

  private static AuditSettings settings(
      String application, String bootstrapServers, Path directory, int port, int sessionMillis) {
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
            "session.timeout.ms", sessionMillis,
            "heartbeat.interval.ms", 500));
  }

  /** Runs until it is killed: bootstrap servers, directory, port. */
  public static void main(String[] args) throws InterruptedException {
    AuditSettings settings =
        settings(
            "orders", args[0], Path.of(args[1]), Integer.parseInt(args[2]), SHORT_SESSION_MILLIS);
    new Audit(settings, TimeSource.system()).start(STORE);
    new CountDownLatch(1).await();
  }
}
