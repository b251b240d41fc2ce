package io.firstclaim.spring.jobs;

import io.firstclaim.lock.RecordId;
import io.firstclaim.spring.Deduplicated;
import io.firstclaim.spring.Exclusive;
import io.firstclaim.spring.autoconfigure.EarlyReturn;
import io.firstclaim.spring.autoconfigure.StartRefusedException;
import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.PriorityOrdered;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.annotation.Schedules;

/**
 * Finds the jobs among the beans, and refuses those that cannot be kept. It sees each bean before
 * Spring schedules its methods. Thread-safe.
 */
final class JobFinder implements BeanPostProcessor, PriorityOrdered {
  private static final String LISTENER = "org.springframework.kafka.annotation.KafkaListener";
  private static final String HANDLER = "org.springframework.kafka.annotation.KafkaHandler";

  private final Map<String, Job> byTask = new ConcurrentHashMap<>();
  private final Map<String, Method> byName = new ConcurrentHashMap<>();
  private volatile boolean scheduled;

  /** The jobs, by what Spring's tasks that call them are as text. */
  Map<String, Job> all() {
    return byTask;
  }

  /** Those that are found from now on come too late. */
  void scheduled() {
    scheduled = true;
  }

  @Override
  public Object postProcessAfterInitialization(Object bean, String name) {
    Class<?> type = AopUtils.getTargetClass(bean);
    MethodIntrospector.selectMethods(
            type, (MethodIntrospector.MetadataLookup<Boolean>) JobFinder::isAnnotated)
        .keySet()
        .forEach(method -> found(method, type));
    return bean;
  }

  private static @Nullable Boolean isAnnotated(Method method) {
    boolean is = of(method, Deduplicated.class) != null || of(method, Exclusive.class) != null;
    return is ? true : null;
  }

  private void found(Method method, Class<?> type) {
    Deduplicated once = of(method, Deduplicated.class);
    Exclusive exclusive = of(method, Exclusive.class);
    Set<Scheduled> schedules =
        AnnotatedElementUtils.getMergedRepeatableAnnotations(
            method, Scheduled.class, Schedules.class);
    if (schedules.isEmpty()) {
      require(
          exclusive == null,
          Exclusive.class,
          method,
          "the method has no @Scheduled, so nothing keeps its calls apart",
          "put it on a scheduled method, or acquire mutexes.of(name) in the method");
      require(
          isPresent(method, LISTENER) || isPresent(method, HANDLER),
          Deduplicated.class,
          method,
          "the method has no @KafkaListener and no @Scheduled, so nothing deduplicates its calls",
          "put it on a listener or a job, or call Deduplicator.run in the method");
      return;
    }
    Class<? extends Annotation> first = once == null ? Exclusive.class : Deduplicated.class;
    require(
        !EarlyReturn.is(method, type),
        first,
        method,
        "it returns before its work ends",
        "let it return void, and wait for its work in it");
    require(
        !scheduled,
        first,
        method,
        "its bean is made after the application's jobs were scheduled",
        "let the bean be a singleton, and not lazy");
    if (once != null) {
      requireOnce(once, schedules, method);
    }
    if (exclusive != null) {
      requireExclusive(exclusive, schedules, method);
    }
    Job job =
        new Job(
            method, once == null ? null : once.name(), exclusive == null ? null : exclusive.name());
    // As ScheduledMethodRunnable has it.
    byTask.put(method.getDeclaringClass().getName() + "." + method.getName(), job);
  }

  private void requireOnce(Deduplicated once, Set<Scheduled> schedules, Method method) {
    require(
        schedules.stream().noneMatch(schedule -> schedule.cron().isEmpty()),
        Deduplicated.class,
        method,
        "no two instances have the fire times of a fixed rate or delay in common",
        "give it a cron expression, or take @Exclusive, which has one instance at a time run it");
    require(
        once.id().isEmpty(),
        Deduplicated.class,
        method,
        "it has the id '%s', and the ID of a job is its fire time".formatted(once.id()),
        "leave the id away");
    require(
        once.name().matches("[a-zA-Z0-9._-]{1,100}"),
        Deduplicated.class,
        method,
        "the name '%s' is not 1 to 100 of a-z A-Z 0-9 . _ -".formatted(once.name()),
        "give another");
    Method other = byName.putIfAbsent(once.name(), method);
    require(
        other == null || (other.equals(method) && !scheduledTwice(method)),
        Deduplicated.class,
        method,
        "its name '%s' is that of %s, and each would skip what the other has done"
            .formatted(once.name(), other),
        "give each a name of its own, and each a method that one bean has");
  }

  private boolean scheduledTwice(Method method) {
    return byTask.values().stream().anyMatch(job -> job.method().equals(method));
  }

  private static void requireExclusive(
      Exclusive exclusive, Set<Scheduled> schedules, Method method) {
    require(
        schedules.stream()
            .noneMatch(
                schedule ->
                    schedule.cron().isEmpty()
                        && schedule.fixedRate() < 0
                        && schedule.fixedRateString().isEmpty()
                        && schedule.fixedDelay() < 0
                        && schedule.fixedDelayString().isEmpty()),
        Exclusive.class,
        method,
        "it runs but once after the start of each instance, whoever holds the mutex by then",
        "acquire mutexes.of(name) in the method, and wait for it");
    try {
      var unused = RecordId.of(exclusive.name());
    } catch (IllegalArgumentException e) {
      throw refused(
          Exclusive.class, method, String.valueOf(e.getMessage()), "give it another name");
    }
  }

  private static <A extends Annotation> @Nullable A of(Method method, Class<A> annotation) {
    return AnnotatedElementUtils.findMergedAnnotation(method, annotation);
  }

  private static boolean isPresent(Method method, String annotation) {
    return MergedAnnotations.from(method, MergedAnnotations.SearchStrategy.TYPE_HIERARCHY)
        .isPresent(annotation);
  }

  private static void require(
      boolean holds,
      Class<? extends Annotation> annotation,
      Method method,
      String fault,
      String remedy) {
    if (!holds) {
      throw refused(annotation, method, fault, remedy);
    }
  }

  static StartRefusedException refused(
      Class<? extends Annotation> annotation, Method method, String fault, String remedy) {
    return new StartRefusedException(
        "@%s cannot be kept on %s: %s"
            .formatted(annotation.getSimpleName(), method, Objects.requireNonNull(fault)),
        remedy);
  }

  /** This runs before the post-processor that schedules. */
  @Override
  public int getOrder() {
    return HIGHEST_PRECEDENCE;
  }
}
