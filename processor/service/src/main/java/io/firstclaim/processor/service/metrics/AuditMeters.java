package io.firstclaim.processor.service.metrics;

import io.firstclaim.processor.audit.Audit;
import io.firstclaim.processor.audit.api.AuditState;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.List;

/**
 * What an audit has found, which is there only while the audit runs: whoever does not look has not
 * found that there is nothing. Thread-safe.
 */
final class AuditMeters {
  private final MeterRegistry registry;
  private final Audit audit;
  private List<Meter> findings = List.of();

  private AuditMeters(MeterRegistry registry, Audit audit) {
    this.registry = registry;
    this.audit = audit;
  }

  /** Adds them, and has them come and go with the audit. */
  static void bind(MeterRegistry registry, Audit audit) {
    AuditMeters meters = new AuditMeters(registry, audit);
    Gauge.builder("firstclaim.audit.running", () -> meters.isRunning() ? 1 : 0)
        .description("1 while the audit reads outcomes; 0 while it starts or has failed")
        .register(registry);
    audit.onChange(meters::changed);
    meters.changed();
  }

  private boolean isRunning() {
    return audit.state() instanceof AuditState.Running;
  }

  private synchronized void changed() {
    if (isRunning() && findings.isEmpty()) {
      LastKnown violations = new LastKnown(Double.NaN, audit::violations);
      LastKnown stuck = new LastKnown(Double.NaN, audit::stuck);
      findings =
          List.of(
              FunctionCounter.builder("firstclaim.violations", audit, _ -> violations.now())
                  .description("Records of which the audit has found what must not have happened")
                  .register(registry),
              Gauge.builder("firstclaim.stuck", stuck::now)
                  .description("Records that were begun and have not been settled for too long")
                  .register(registry));
    } else if (!isRunning()) {
      findings.forEach(registry::remove);
      findings = List.of();
    }
  }
}
