package io.firstclaim.spring.jobs;

import io.firstclaim.listener.OncePerFireTime;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.deduplicator.Deduplicator;
import io.firstclaim.lock.mutex.Mutexes;
import io.firstclaim.spring.Deduplicated;
import io.firstclaim.spring.Exclusive;
import java.lang.annotation.Annotation;
import java.lang.reflect.UndeclaredThrowableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.beans.factory.config.EmbeddedValueResolver;
import org.springframework.context.SmartLifecycle;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.annotation.Schedules;
import org.springframework.scheduling.annotation.SchedulingConfigurer;
import org.springframework.scheduling.concurrent.ConcurrentTaskScheduler;
import org.springframework.scheduling.config.CronTask;
import org.springframework.scheduling.config.FixedDelayTask;
import org.springframework.scheduling.config.FixedRateTask;
import org.springframework.scheduling.config.IntervalTask;
import org.springframework.scheduling.config.ScheduledTaskRegistrar;
import org.springframework.scheduling.support.CronTrigger;

/**
 * Puts claims around the jobs before Spring schedules them. One that runs once for each fire time
 * is scheduled here instead, on a thread of its own, since it may wait long for other instances.
 *
 * <p>As the application stops, such a job is interrupted and given back, for another instance to
 * begin it again; as it is started once more, the jobs go on at their next fire times. Thread-safe.
 */
final class Jobs implements SchedulingConfigurer, SmartLifecycle, Ordered {
  private final JobFinder finder;
  private final Supplier<Deduplicator> deduplicators;
  private final Mutexes mutexes;
  private final TimeSource time;
  private final Duration timeout;
  private final ConfigurableBeanFactory beans;
  private final List<Due> due = new ArrayList<>();
  private final List<ScheduledExecutorService> threads = new ArrayList<>();

  /** That of the jobs while they run, which none of them has a use for once it is closed. */
  private @Nullable Deduplicator deduplicator;

  /** A job that runs once for each fire time, with Spring's own task for it. */
  private record Due(String name, Job job, CronTask task) {}

  /**
   * The jobs of an application.
   *
   * @param deduplicators asked for one as the jobs start, for them alone; closed as they stop
   * @param timeout how long one may run
   */
  Jobs(
      JobFinder finder,
      Supplier<Deduplicator> deduplicators,
      Mutexes mutexes,
      TimeSource time,
      Duration timeout,
      ConfigurableBeanFactory beans) {
    this.finder = finder;
    this.deduplicators = deduplicators;
    this.mutexes = mutexes;
    this.time = time;
    this.timeout = timeout;
    this.beans = beans;
  }

  @Override
  public synchronized void configureTasks(ScheduledTaskRegistrar registrar) {
    Set<Job> met = new HashSet<>();
    List<CronTask> cron = new ArrayList<>();
    for (CronTask task : registrar.getCronTaskList()) {
      Job job = met(task.getRunnable(), met);
      if (job == null) {
        cron.add(task);
      } else if (job.onceAs() == null) {
        cron.add(new CronTask(exclusive(job, task.getRunnable()), (CronTrigger) task.getTrigger()));
      } else {
        add(new Due(job.onceAs(), job, task));
      }
    }
    List<IntervalTask> rates = new ArrayList<>();
    for (IntervalTask task : registrar.getFixedRateTaskList()) {
      Job job = met(task.getRunnable(), met);
      rates.add(
          job == null
              ? task
              : new FixedRateTask(
                  exclusive(job, task.getRunnable()),
                  task.getIntervalDuration(),
                  task.getInitialDelayDuration()));
    }
    List<IntervalTask> delays = new ArrayList<>();
    for (IntervalTask task : registrar.getFixedDelayTaskList()) {
      Job job = met(task.getRunnable(), met);
      delays.add(
          job == null
              ? task
              : new FixedDelayTask(
                  exclusive(job, task.getRunnable()),
                  task.getIntervalDuration(),
                  task.getInitialDelayDuration()));
    }
    finder.all().values().forEach(job -> requireMet(job, met));
    registrar.setCronTasksList(cron);
    registrar.setFixedRateTasksList(rates);
    registrar.setFixedDelayTasksList(delays);
    finder.scheduled();
  }

  private @Nullable Job met(Runnable task, Set<Job> met) {
    Job job = finder.all().get(task.toString());
    if (job != null) {
      met.add(job);
    }
    return job;
  }

  /** What Spring schedules of it must have been met here, or it would run without claims. */
  private void requireMet(Job job, Set<Job> met) {
    if (!met.contains(job) && !isOff(job)) {
      Class<? extends Annotation> annotation =
          job.onceAs() == null ? Exclusive.class : Deduplicated.class;
      throw JobFinder.refused(
          annotation,
          job.method(),
          "it is not among the tasks that Spring schedules for its class",
          "let its bean be no JDK proxy (spring.aop.proxy-target-class=true)");
    }
  }

  private boolean isOff(Job job) {
    EmbeddedValueResolver values = new EmbeddedValueResolver(beans);
    return AnnotatedElementUtils.getMergedRepeatableAnnotations(
            job.method(), Scheduled.class, Schedules.class)
        .stream()
        .allMatch(
            schedule -> Scheduled.CRON_DISABLED.equals(values.resolveStringValue(schedule.cron())));
  }

  private ExclusiveRun exclusive(String name) {
    return new ExclusiveRun(mutexes.of(name).atMost(timeout));
  }

  private Runnable exclusive(Job job, Runnable task) {
    return job.mutex() == null ? task : exclusive(job.mutex()).orNotAtAll(task);
  }

  private void add(Due one) {
    due.add(one);
    if (deduplicator != null) {
      schedule(one, deduplicator);
    }
  }

  private void schedule(Due one, Deduplicator deduplicator) {
    String mutex = one.job.mutex();
    CronTask task = one.task;
    ExclusiveRun exclusive = mutex == null ? null : exclusive(mutex);
    DueJob job =
        new DueJob(
            new OncePerFireTime(one.name, deduplicator, time),
            task.getTrigger(),
            lease -> {
              try {
                if (exclusive == null) {
                  task.getRunnable().run();
                } else if (!exclusive.run(task.getRunnable(), timeout)) {
                  throw new IllegalStateException("its mutex was not free within " + timeout);
                }
                return null;
              } catch (UndeclaredThrowableException e) {
                throw thrown(e);
              }
            });
    ScheduledExecutorService thread =
        Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("firstclaim-job-" + one.name).factory());
    threads.add(thread);
    var unused = new ConcurrentTaskScheduler(thread).schedule(job, job);
  }

  /** What a scheduled method threw, without what was put around it. */
  private static Exception thrown(UndeclaredThrowableException wrapped) {
    return wrapped.getUndeclaredThrowable() instanceof Exception own ? own : wrapped;
  }

  /** At the first start no job is known yet: each is scheduled when Spring's own are. */
  @Override
  public synchronized void start() {
    if (deduplicator == null) {
      Deduplicator opened = deduplicators.get();
      deduplicator = opened;
      due.forEach(one -> schedule(one, opened));
    }
  }

  /** Claims are closed first: work that is interrupted before that has failed if it wraps that. */
  @Override
  public synchronized void stop() {
    Deduplicator opened = deduplicator;
    if (opened != null) {
      opened.close();
      threads.forEach(ScheduledExecutorService::shutdownNow);
      threads.clear();
      deduplicator = null;
    }
  }

  @Override
  public synchronized boolean isRunning() {
    return deduplicator != null;
  }

  /** This runs after all others that add tasks. */
  @Override
  public int getOrder() {
    return LOWEST_PRECEDENCE;
  }
}
