package io.firstclaim.processor.service.instance;

import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.audit.Audit;
import io.firstclaim.processor.service.config.Auditing;
import io.firstclaim.processor.service.config.ServiceSettings;
import io.micronaut.context.annotation.Factory;
import jakarta.inject.Singleton;

/** Makes the audit, which the service starts once it knows its lock store. */
@Factory
final class AuditBeans {
  @Singleton
  Audit audit(ServiceSettings settings, TimeSource time) {
    Auditing audit = settings.audit();
    return audit
        .off()
        .map(why -> Audit.off(audit.settings(), why, time))
        .orElseGet(() -> new Audit(audit.settings(), time));
  }
}
