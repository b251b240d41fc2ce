package io.firstclaim.processor.service.config;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.condition.Condition;
import io.micronaut.context.condition.ConditionContext;

/** Whether an instance serves claims over HTTP. */
public final class ServesClaims implements Condition {
  @Override
  @SuppressWarnings("rawtypes") // the interface has the raw type
  public boolean matches(ConditionContext context) {
    return context.getBeanContext() instanceof ApplicationContext application
        && SettingsReader.servesClaims(application.getEnvironment());
  }
}
