package io.firstclaim.processor.service.config;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.condition.Condition;
import io.micronaut.context.condition.ConditionContext;

/** Whether an instance takes records: all do but one that serves claims over HTTP alone. */
public final class TakesRecords implements Condition {
  @Override
  @SuppressWarnings("rawtypes") // the interface has the raw type
  public boolean matches(ConditionContext context) {
    return !(context.getBeanContext() instanceof ApplicationContext application
        && SettingsReader.servesClaimsAlone(application.getEnvironment()));
  }

  /** The opposite. */
  public static final class Not implements Condition {
    @Override
    @SuppressWarnings("rawtypes") // the interface has the raw type
    public boolean matches(ConditionContext context) {
      return !new TakesRecords().matches(context);
    }
  }
}
