package io.firstclaim.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Has a {@code @Scheduled} method run under a mutex, so that one instance at a time is at it. It is
 * renewed while the method runs, whose thread is interrupted if it is lost, or after {@code
 * firstclaim.job.timeout}.
 *
 * {@snippet :
 * @Scheduled(fixedDelayString = "10s")
 * @Exclusive(name = "sweep")
 * void sweep() { ... }
 * }
 *
 * <p>A run that finds it held does not take place. That keeps runs apart, and has none of them
 * happen only once: whoever comes a second after a short run runs again. For a cron job that is to
 * run once each time, take {@link Deduplicated}, or both: then a run waits for the mutex.
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
public @interface Exclusive {
  /**
   * Names the mutex; two methods of one name exclude each other. That of {@code
   * mutexes.of("sweep")} is the same. At most 1024 bytes.
   */
  String name();
}
