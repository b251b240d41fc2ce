package io.firstclaim.processor.audit.api;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;

/**
 * What an audit is made with.
 *
 * @param application whose records it watches
 * @param namespace of their claims
 * @param zone whose instances share the work; each zone has an audit of its own
 * @param outcomesTopic what it reads
 * @param violationsTopic where it says what must not have happened
 * @param retention how long the lock store keeps what is done: as long, two outcomes are compared
 * @param stuckAfter a record that was begun is stuck when it is not settled for so long
 * @param address where the other instances find this one's answers
 * @param directory for its state, of no other process; what is lost there is restored from Kafka
 * @param keepsState whether the next start finds the directory again; if not, it is deleted at the
 *     stop
 * @param kafka passed to the Kafka clients; holds secrets
 */
public record AuditSettings(
    String application,
    String namespace,
    String zone,
    String outcomesTopic,
    String violationsTopic,
    Duration retention,
    Duration stuckAfter,
    Address address,
    Path directory,
    boolean keepsState,
    Map<String, Object> kafka) {
  /** What the violations topic of this application is called. */
  public static String violationsTopicOf(String application) {
    return application + ".violations";
  }

  /** Keeps a copy of what is passed to Kafka. */
  public AuditSettings {
    kafka = Map.copyOf(kafka);
  }

  /** Leaves out what is passed to the Kafka clients. */
  @Override
  public String toString() {
    return "AuditSettings[application=%s, zone=%s, outcomesTopic=%s, directory=%s]"
        .formatted(application, zone, outcomesTopic, directory);
  }
}
