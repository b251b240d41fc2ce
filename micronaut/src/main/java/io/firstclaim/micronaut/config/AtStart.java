package io.firstclaim.micronaut.config;

import io.firstclaim.lock.deduplicator.Deduplicator;
import io.firstclaim.lock.mutex.Mutexes;
import io.micronaut.context.annotation.Context;
import io.micronaut.context.env.Environment;
import io.micronaut.context.env.EnvironmentPropertySource;
import io.micronaut.context.env.PropertySource;
import io.micronaut.context.event.ShutdownEvent;
import io.micronaut.core.annotation.Order;
import io.micronaut.core.naming.NameUtils;
import io.micronaut.core.order.Ordered;
import io.micronaut.runtime.event.annotation.EventListener;
import java.util.Set;

/**
 * Has the store opened, and the settings' names looked at, before anything else of the application
 * starts: without a store nothing may run as if it were claimed. At the stop it has work under way
 * interrupted before the first bean is destroyed, as its consumers' threads are awaited then.
 */
@Context
@Order(Ordered.HIGHEST_PRECEDENCE)
final class AtStart {
  private static final String OURS = "firstclaim.";
  private static final Set<String> NAMES =
      Set.of(
          "application",
          "zone",
          "instance",
          "claim.backend",
          "claim.namespace",
          "claim.lease",
          "claim.renew",
          "claim.max-skew",
          "claim.retention",
          "claim.create",
          "claim.dynamodb.table",
          "claim.dynamodb.batch",
          "claim.s3.bucket",
          "claim.s3.prefix",
          "handler.timeout",
          "retry.max-attempts",
          "retry.backoff",
          "retry.max-backoff",
          "dead-letter.topic",
          "web.max-request",
          "web.max-answer",
          "job.timeout");

  private final Deduplicator deduplicator;

  AtStart(Environment environment, Deduplicator deduplicator, Mutexes unused) {
    this.deduplicator = deduplicator;
    environment.getPropertySources().forEach(AtStart::requireKnown);
  }

  /** A variable of the environment stands for many names, so those are not looked at. */
  private static void requireKnown(PropertySource source) {
    if (source instanceof EnvironmentPropertySource) {
      return;
    }
    for (String name : source) {
      if (name.startsWith(OURS)
          && !NAMES.contains(NameUtils.hyphenate(name.substring(OURS.length()), true))) {
        throw new StartRefusedException(
            name + " is none of the settings", "docs/micronaut.md lists them");
      }
    }
  }

  @EventListener
  void stop(ShutdownEvent unused) {
    deduplicator.close();
  }
}
