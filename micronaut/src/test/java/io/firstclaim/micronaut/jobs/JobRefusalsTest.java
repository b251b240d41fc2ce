package io.firstclaim.micronaut.jobs;

import io.firstclaim.micronaut.Deduplicated;
import io.firstclaim.micronaut.Exclusive;
import io.firstclaim.micronaut.Starts;
import io.micronaut.context.annotation.Requires;
import io.micronaut.scheduling.annotation.Async;
import io.micronaut.scheduling.annotation.Scheduled;
import jakarta.inject.Singleton;
import java.util.Map;
import org.junit.jupiter.api.Test;

class JobRefusalsTest {
  private static void refused(String job, String fault, String remedy, String... settings) {
    Starts.assertRefused(Map.of("job", job, "kafka.enabled", false), fault, remedy, settings);
  }

  @Requires(property = "job", value = "unscheduled")
  @Singleton
  static class Unscheduled {
    @Deduplicated(name = "unscheduled")
    void run() {}
  }

  @Requires(property = "job", value = "unscheduled-exclusive")
  @Singleton
  static class UnscheduledExclusive {
    @Exclusive(name = "unscheduled")
    void run() {}
  }

  @Test
  void methodsThatAreNoJobs_areRefused() {
    refused("unscheduled", "no @KafkaListener and no @Scheduled", "call Deduplicator.run");
    refused("unscheduled-exclusive", "no @Scheduled, so nothing keeps", "acquire mutexes.of(name)");
  }

  @Requires(property = "job", value = "rate")
  @Singleton
  static class Rate {
    @Scheduled(fixedRate = "1s")
    @Deduplicated(name = "rate")
    void run() {}
  }

  @Requires(property = "job", value = "twice")
  @Singleton
  static class Twice {
    @Scheduled(cron = "0 0 3 * * *")
    @Scheduled(cron = "0 0 5 * * *")
    @Deduplicated(name = "twice")
    void run() {}
  }

  @Requires(property = "job", value = "once-after-start")
  @Singleton
  static class OnceAfterStart {
    @Scheduled(initialDelay = "1s")
    @Exclusive(name = "once")
    void run() {}
  }

  @Test
  void schedulesThatInstancesDoNotShare_areRefused() {
    refused("rate", "fire times of a fixed rate", "@Exclusive");
    refused("twice", "it has several schedules", "a method of its own");
    refused("once-after-start", "runs but once after the start", "acquire mutexes.of(name)");
  }

  @Requires(property = "job", value = "later")
  @Singleton
  static class Later {
    @Async
    @Scheduled(cron = "0 0 3 * * *")
    @Deduplicated(name = "later")
    void run() {}
  }

  @Requires(property = "job", value = "returns")
  @Singleton
  static class Returns {
    @Scheduled(fixedDelay = "1s")
    @Exclusive(name = "returns")
    int run() {
      return 1;
    }
  }

  @Test
  void jobsThatReturnSomething_orEarly_areRefused() {
    refused("later", "before its work ends", "return void");
    refused("returns", "it returns something", "return void");
  }

  @Requires(property = "job", value = "identified")
  @Singleton
  static class Identified {
    @Scheduled(cron = "0 0 3 * * *")
    @Deduplicated(name = "identified", id = "key")
    void run() {}
  }

  @Requires(property = "job", value = "misnamed")
  @Singleton
  static class Misnamed {
    @Scheduled(cron = "0 0 3 * * *")
    @Deduplicated(name = "a b")
    void run() {}
  }

  @Requires(property = "job", value = "namesakes")
  @Singleton
  static class Namesakes {
    @Scheduled(cron = "0 0 3 * * *")
    @Deduplicated(name = "same")
    void one() {}

    @Scheduled(cron = "0 0 4 * * *")
    @Deduplicated(name = "same")
    void other() {}
  }

  @Requires(property = "job", value = "nameless")
  @Singleton
  static class Nameless {
    @Scheduled(fixedDelay = "1s")
    @Exclusive(name = "")
    void run() {}
  }

  @Test
  void namesAndIdsThatAreNone_areRefused() {
    refused("identified", "the ID of a job is its fire time", "leave the id away");
    refused("misnamed", "the name 'a b' is not", "give another");
    refused("namesakes", "each would skip what the other has done", "a name of its own");
    refused("nameless", "@Exclusive cannot be kept", "give it another name");
    refused(
        "none",
        "firstclaim.job.timeout is PT0S",
        "a positive time",
        "firstclaim.job.timeout",
        "0s");
  }
}
