package io.firstclaim.processor.service.health;

import io.firstclaim.processor.audit.Audit;
import io.firstclaim.processor.audit.api.AuditState;
import io.firstclaim.processor.service.config.TakesRecords;
import io.micronaut.context.annotation.Requires;
import io.micronaut.core.async.publisher.Publishers;
import io.micronaut.health.HealthStatus;
import io.micronaut.management.health.indicator.HealthIndicator;
import io.micronaut.management.health.indicator.HealthResult;
import io.micronaut.management.health.indicator.annotation.Readiness;
import jakarta.inject.Singleton;
import java.util.Map;
import org.reactivestreams.Publisher;

/** What the audit is doing: a detail, as records are processed without it, too. */
@Singleton
@Readiness
@Requires(condition = TakesRecords.class)
class AuditHealth implements HealthIndicator {
  private final Audit audit;

  AuditHealth(Audit audit) {
    this.audit = audit;
  }

  @Override
  public Publisher<HealthResult> getResult() {
    Map<String, Object> details =
        switch (audit.state()) {
          case AuditState.Off(String why) -> Map.of("running", false, "off", why);
          case AuditState.Starting(String what) -> Map.of("running", false, "waitsFor", what);
          case AuditState.Running _ -> Map.of("running", true);
          case AuditState.Broken(String fault) -> Map.of("running", false, "fault", fault);
        };
    return Publishers.just(HealthResult.builder("audit", HealthStatus.UP).details(details).build());
  }
}
