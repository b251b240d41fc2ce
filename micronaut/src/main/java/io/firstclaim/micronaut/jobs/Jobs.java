package io.firstclaim.micronaut.jobs;

import io.firstclaim.listener.OncePerFireTime;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.deduplicator.Deduplicator;
import io.firstclaim.lock.deduplicator.RetryPolicy;
import io.firstclaim.lock.deduplicator.RunListener;
import io.firstclaim.lock.mutex.Mutex;
import io.firstclaim.lock.mutex.Mutexes;
import io.firstclaim.micronaut.Deduplicated;
import io.firstclaim.micronaut.Exclusive;
import io.firstclaim.micronaut.config.AdvisedMethod;
import io.firstclaim.micronaut.config.FirstclaimSettings;
import io.firstclaim.micronaut.config.StartRefusedException;
import io.micronaut.context.BeanContext;
import io.micronaut.context.annotation.Context;
import io.micronaut.context.event.ShutdownEvent;
import io.micronaut.core.annotation.AnnotationValue;
import io.micronaut.inject.BeanDefinition;
import io.micronaut.inject.ExecutableMethod;
import io.micronaut.runtime.event.annotation.EventListener;
import io.micronaut.scheduling.annotation.Scheduled;
import io.micronaut.scheduling.cron.CronExpression;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.ZoneId;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The application's jobs that run under claims. Made before the first of them is scheduled, it
 * refuses those that cannot be kept. As the application stops, a job at work is interrupted and
 * given back, for another instance to begin it again. Thread-safe.
 */
@Context
final class Jobs {
  private static final String LISTENER =
      "io.micronaut.configuration.kafka.annotation.KafkaListener";
  private static final String ASYNC = "io.micronaut.scheduling.annotation.Async";
  private static final String ONCE = "Deduplicated";
  private static final String EXCLUSIVE = "Exclusive";

  private final Deduplicator deduplicator;
  private final Mutexes mutexes;
  private final TimeSource time;
  private final Duration timeout;
  private final Map<AdvisedMethod, DueJob> once = new HashMap<>();
  private final Map<String, AdvisedMethod> byName = new HashMap<>();

  Jobs(
      BeanContext context,
      FirstclaimSettings.Claim claim,
      FirstclaimSettings.Job job,
      ClaimStore store,
      Mutexes mutexes,
      RetryPolicy retry,
      TimeSource time,
      List<RunListener> listeners) {
    timeout = job.timeout();
    if (!timeout.isPositive()) {
      throw new StartRefusedException(
          "firstclaim.job.timeout is " + timeout, "give a positive time, such as 1h");
    }
    this.mutexes = mutexes;
    this.time = time;
    deduplicator =
        Deduplicator.builder(store, time)
            .retry(retry)
            .renew(claim.renew())
            .atMost(timeout)
            .listener((id, result, took) -> listeners.forEach(told -> told.ended(id, result, took)))
            .build();
    for (BeanDefinition<?> bean : context.getAllBeanDefinitions()) {
      for (ExecutableMethod<?, ?> method : bean.getExecutableMethods()) {
        if (method.hasAnnotation(Deduplicated.class) || method.hasAnnotation(Exclusive.class)) {
          found(AdvisedMethod.of(method), method);
        }
      }
    }
  }

  private void found(AdvisedMethod key, ExecutableMethod<?, ?> method) {
    List<AnnotationValue<Scheduled>> schedules = method.getAnnotationValuesByType(Scheduled.class);
    if (schedules.isEmpty()) {
      key.require(
          !method.hasAnnotation(Exclusive.class),
          EXCLUSIVE,
          "the method has no @Scheduled, so nothing keeps its calls apart",
          "put it on a scheduled method, or acquire mutexes.of(name) in the method");
      key.require(
          method.hasStereotype(LISTENER),
          ONCE,
          "the method has no @KafkaListener and no @Scheduled, so nothing deduplicates its calls",
          "put it on a listener or a job, or call Deduplicator.run in the method");
      return;
    }
    boolean isOnce = method.hasAnnotation(Deduplicated.class);
    key.require(
        method.getReturnType().isVoid() && !method.isSuspend() && !method.hasStereotype(ASYNC),
        isOnce ? ONCE : EXCLUSIVE,
        "it returns something, or before its work ends",
        "let it return void, and wait for its work in it");
    if (method.hasAnnotation(Exclusive.class)) {
      requireExclusive(key, method, schedules);
    }
    if (isOnce) {
      foundOnce(key, method, schedules);
    }
  }

  private static void requireExclusive(
      AdvisedMethod key,
      ExecutableMethod<?, ?> method,
      List<AnnotationValue<Scheduled>> schedules) {
    key.require(
        schedules.stream()
            .noneMatch(
                schedule ->
                    text(schedule, "cron").isEmpty()
                        && text(schedule, "fixedRate").isEmpty()
                        && text(schedule, "fixedDelay").isEmpty()),
        EXCLUSIVE,
        "it runs but once after the start of each instance, whoever holds the mutex by then",
        "acquire mutexes.of(name) in the method, and wait for it");
    try {
      var unused = RecordId.of(method.stringValue(Exclusive.class, "name").orElse(""));
    } catch (IllegalArgumentException e) {
      throw key.refused(EXCLUSIVE, String.valueOf(e.getMessage()), "give it another name");
    }
  }

  private void foundOnce(
      AdvisedMethod key,
      ExecutableMethod<?, ?> method,
      List<AnnotationValue<Scheduled>> schedules) {
    String name = method.stringValue(Deduplicated.class, "name").orElse("");
    String id = method.stringValue(Deduplicated.class, "id").orElse("");
    key.require(
        schedules.stream().noneMatch(schedule -> text(schedule, "cron").isEmpty()),
        ONCE,
        "no two instances have the fire times of a fixed rate or delay in common",
        "give it a cron expression, or take @Exclusive, which has one instance at a time run it");
    key.require(
        schedules.size() == 1,
        ONCE,
        "it has several schedules, and is not told which of them calls it",
        "give each a method of its own");
    key.require(
        id.isEmpty(),
        ONCE,
        "it has the id '%s', and the ID of a job is its fire time".formatted(id),
        "leave the id away");
    key.require(
        name.matches("[a-zA-Z0-9._-]{1,100}"),
        ONCE,
        "the name '%s' is not 1 to 100 of a-z A-Z 0-9 . _ -".formatted(name),
        "give another");
    AdvisedMethod other = byName.putIfAbsent(name, key);
    key.require(
        other == null,
        ONCE,
        "its name '%s' is that of %s, and each would skip what the other has done"
            .formatted(name, other),
        "give each a name of its own, and each a method that one bean has");
    once.put(
        key,
        new DueJob(
            name, new OncePerFireTime(name, deduplicator, time), times(key, schedules.getFirst())));
  }

  private FireTimes times(AdvisedMethod key, AnnotationValue<Scheduled> schedule) {
    String zone = text(schedule, "zoneId");
    try {
      return new FireTimes(
          CronExpression.create(text(schedule, "cron")),
          zone.isEmpty() ? ZoneId.systemDefault() : ZoneId.of(zone),
          time);
    } catch (IllegalArgumentException | DateTimeException e) {
      throw key.refused(ONCE, String.valueOf(e.getMessage()), "mend its @Scheduled");
    }
  }

  private static String text(AnnotationValue<Scheduled> schedule, String member) {
    return schedule.stringValue(member).orElse("");
  }

  /** The job that this method is, once for each of its fire times. */
  DueJob of(ExecutableMethod<?, ?> method) {
    DueJob job = once.get(AdvisedMethod.of(method));
    if (job == null) {
      throw new IllegalStateException(
          "%s is deduplicated by nothing: its bean was not there when the application started"
              .formatted(AdvisedMethod.of(method)));
    }
    return job;
  }

  /** The mutex of this name, held for as long as a job may run. */
  Mutex mutex(String name) {
    return mutexes.of(name).atMost(timeout);
  }

  Duration timeout() {
    return timeout;
  }

  /** Claims are closed first: work that is interrupted before that has failed if it wraps that. */
  @EventListener
  void stop(ShutdownEvent unused) {
    deduplicator.close();
    once.values().forEach(DueJob::close);
  }
}
