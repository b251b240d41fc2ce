package io.firstclaim.spring.jobs;

import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.deduplicator.RetryPolicy;
import io.firstclaim.lock.deduplicator.RunListener;
import io.firstclaim.lock.mutex.Mutexes;
import io.firstclaim.spring.autoconfigure.FirstclaimAutoConfiguration;
import io.firstclaim.spring.autoconfigure.FirstclaimProperties;
import io.firstclaim.spring.autoconfigure.StartRefusedException;
import java.time.Duration;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.context.annotation.Bean;

/**
 * Has {@link io.firstclaim.spring.Deduplicated} and {@link io.firstclaim.spring.Exclusive} work on
 * scheduled jobs.
 */
@AutoConfiguration(after = FirstclaimAutoConfiguration.class)
public class FirstclaimJobsAutoConfiguration {
  /** Made by Spring. */
  FirstclaimJobsAutoConfiguration() {}

  @Bean
  static JobFinder firstclaimJobFinder() {
    return new JobFinder();
  }

  @Bean
  Jobs firstclaimJobs(
      JobFinder finder,
      FirstclaimProperties properties,
      ClaimStore store,
      Mutexes mutexes,
      RetryPolicy retry,
      TimeSource time,
      ObjectProvider<RunListener> listeners,
      ConfigurableBeanFactory beans) {
    Duration timeout = properties.job().timeout();
    if (!timeout.isPositive()) {
      throw new StartRefusedException(
          "firstclaim.job.timeout is " + timeout, "give a positive time, such as 1h");
    }
    return new Jobs(
        finder,
        () ->
            FirstclaimAutoConfiguration.deduplicator(store, time, properties, listeners)
                .retry(retry)
                .atMost(timeout)
                .build(),
        mutexes,
        time,
        timeout,
        beans);
  }
}
