package io.firstclaim.processor.service.admin;

import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.service.config.ServiceSettings;
import io.firstclaim.processor.service.redrive.Redrives;
import io.micronaut.context.annotation.Factory;
import jakarta.inject.Singleton;

/** How the parts of the admin API are made. */
@Factory
final class AdminBeans {
  @Singleton
  Acts acts(Redrives redrives, ServiceSettings settings, TimeSource time) {
    return new Acts(redrives.log(), settings.engine(), time);
  }
}
