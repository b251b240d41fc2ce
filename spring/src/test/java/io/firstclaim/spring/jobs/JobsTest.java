package io.firstclaim.spring.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.deduplicator.RunListener;
import io.firstclaim.lock.deduplicator.RunResult;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.lock.testkit.fault.FaultyStore;
import io.firstclaim.spring.Deduplicated;
import io.firstclaim.spring.Exclusive;
import io.firstclaim.spring.Mutexes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

/** Applications whose jobs are due each second, by their real schedulers; claims they share. */
class JobsTest {
  private final MemoryClaimStore.Claims claims = new MemoryClaimStore.Claims();
  private final List<ConfigurableApplicationContext> applications = new ArrayList<>();
  private final Desk desk = new Desk();

  /** What a run does. */
  @FunctionalInterface
  interface Work {
    void run(int call) throws Exception;
  }

  /** What the test and the jobs of all its applications share. */
  static final class Desk {
    private final AtomicInteger calls = new AtomicInteger();
    private final AtomicInteger atOnce = new AtomicInteger();
    private final AtomicInteger most = new AtomicInteger();
    private final AtomicReference<Work> work = new AtomicReference<>(call -> {});

    /** How the runs of each fire time ended. */
    private final Map<RecordId, Queue<RunResult>> ends = new ConcurrentHashMap<>();

    void call() throws Exception {
      most.accumulateAndGet(atOnce.incrementAndGet(), Math::max);
      try {
        work.get().run(calls.incrementAndGet());
      } finally {
        atOnce.decrementAndGet();
      }
    }

    /** How the runs of a fire time ended so far, at which an instance is, and another waits. */
    Optional<Queue<RunResult>> busy() {
      return ends.values().stream()
          .filter(each -> each.stream().allMatch(RunResult.Busy.class::isInstance))
          .findAny();
    }

    long settled(Class<? extends RunResult> how, int times) {
      return ends.values().stream()
          .filter(each -> each.stream().filter(how::isInstance).count() == times)
          .count();
    }
  }

  static class EachSecond {
    private final Desk desk;

    EachSecond(Desk desk) {
      this.desk = desk;
    }

    @Scheduled(cron = "* * * * * *")
    @Deduplicated(name = "each-second")
    void run() throws Exception {
      desk.call();
    }
  }

  static class Apart {
    private final Desk desk;

    Apart(Desk desk) {
      this.desk = desk;
    }

    @Scheduled(fixedDelay = 1)
    @Exclusive(name = "apart")
    void delay() throws Exception {
      desk.call();
    }

    @Scheduled(fixedRate = 10)
    @Exclusive(name = "apart")
    void rate() throws Exception {
      desk.call();
    }

    @Scheduled(cron = "* * * * * *")
    @Exclusive(name = "apart")
    void cron() throws Exception {
      desk.call();
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableScheduling
  @EnableAutoConfiguration(
      excludeName = {
        "io.awspring.cloud.autoconfigure.core.AwsAutoConfiguration",
        "io.awspring.cloud.autoconfigure.core.CredentialsProviderAutoConfiguration",
        "org.springframework.boot.kafka.autoconfigure.KafkaAutoConfiguration",
        "io.firstclaim.spring.kafka.FirstclaimKafkaAutoConfiguration"
      })
  static class Application {
    @Bean
    RunListener runs(Desk desk) {
      return (id, result, took) ->
          desk.ends.computeIfAbsent(id, _ -> new ConcurrentLinkedQueue<>()).add(result);
    }
  }

  private FaultyStore store() {
    return new FaultyStore(
        new MemoryClaimStore(
            claims,
            new ClaimSettings(
                "shop",
                "i" + applications.size(),
                Duration.ofSeconds(3),
                Duration.ofMillis(500),
                Duration.ofDays(1)),
            TimeSource.system()));
  }

  private ConfigurableApplicationContext run(ClaimStore store, Class<?> jobs, String... settings) {
    ConfigurableApplicationContext application =
        new SpringApplicationBuilder(Application.class, jobs)
            .web(WebApplicationType.NONE)
            .properties(
                "firstclaim.retry.max-attempts=2",
                "firstclaim.retry.backoff=50ms",
                "firstclaim.retry.max-backoff=50ms",
                "spring.main.banner-mode=off",
                "logging.level.root=ERROR")
            .properties(settings)
            .initializers(
                context -> {
                  context.getBeanFactory().registerSingleton("desk", desk);
                  context.getBeanFactory().registerSingleton("store", store);
                })
            .run();
    applications.add(application);
    return application;
  }

  @AfterEach
  void close() {
    applications.forEach(ConfigurableApplicationContext::close);
  }

  private static void eventually(java.util.concurrent.Callable<Boolean> holds) {
    Awaitility.await()
        .pollInterval(Duration.ofMillis(20))
        .atMost(Duration.ofMinutes(10))
        .until(holds);
  }

  @Test
  void eachFireTime_isRunOnce_amongAllInstances() {
    run(store(), EachSecond.class, "spring.threads.virtual.enabled=true");
    run(store(), EachSecond.class);
    eventually(() -> desk.settled(RunResult.DoneBefore.class, 1) >= 2);
    close();

    assertThat(desk.ends.values())
        .allSatisfy(
            ends ->
                assertThat(ends).filteredOn(RunResult.Ran.class::isInstance).hasSizeLessThan(2));
    assertThat(desk.settled(RunResult.Ran.class, 1)).isEqualTo(desk.calls.get());
    assertThat(desk.ends.keySet())
        .allSatisfy(
            id -> assertThat(id.text()).matches("each-second@\\d+-\\d+-\\d+T\\d+:\\d+:\\d+Z"));
  }

  @Test
  void runThatFails_isTriedAgain_thenGivenUp_andTheNextFireTimeIsRun() {
    desk.work.set(
        call -> {
          if (call <= 3) {
            throw new Exception("no bill today");
          }
        });
    run(store(), EachSecond.class);
    eventually(() -> desk.settled(RunResult.Ran.class, 1) >= 2);
    close();

    assertThat(desk.settled(RunResult.Failed.class, 1)).isEqualTo(2); // the second one went well
    assertThat(desk.settled(RunResult.GivenUp.class, 1)).isOne();
  }

  @Test
  void runWhoseInstanceStops_isTakenOver_byTheOneThatWaits() {
    CountDownLatch never = new CountDownLatch(1);
    AtomicBoolean stopped = new AtomicBoolean();
    // Well within a second, so that both are free at the next, and as long as the other waits.
    desk.work.set(
        call -> {
          boolean takesOver = stopped.get();
          for (int looks = 0; !takesOver && (looks < 25 || desk.busy().isPresent()); looks++) {
            var _ = never.await(20, TimeUnit.MILLISECONDS);
          }
        });
    run(store(), EachSecond.class);
    run(store(), EachSecond.class);
    eventually(() -> desk.atOnce.get() == 1 && desk.busy().isPresent());
    Queue<RunResult> ends = desk.busy().orElseThrow();
    var busy = (RunResult.Busy) ends.element();
    stopped.set(true);

    applications.get(busy.by().equals("i0") ? 0 : 1).close();
    eventually(() -> ends.stream().anyMatch(RunResult.Ran.class::isInstance));
  }

  @Test
  void storeThatIsAway_skipsNoFireTime() {
    FaultyStore store = store();
    store.setDenies(true);
    run(store, EachSecond.class);
    eventually(() -> store.calls(FaultyStore.Op.CLAIM) >= 2);
    RecordId first = store.claims().iterator().next().id();
    assertThat(desk.calls).hasValue(0);

    store.setDenies(false);
    eventually(() -> desk.ends.containsKey(first));

    assertThat(desk.ends.get(first)).hasSize(1).first().isInstanceOf(RunResult.Ran.class);
  }

  @Test
  void exclusiveRuns_areApart_whateverTheirSchedule() {
    run(store(), Apart.class, "spring.task.scheduling.pool.size=3");
    run(store(), Apart.class, "spring.threads.virtual.enabled=true");
    eventually(() -> desk.calls.get() >= 200);

    assertThat(desk.most).hasValue(1);
  }

  @Test
  void exclusiveRun_doesNotTakePlace_whileAnotherHoldsItsMutex() throws Exception {
    try (Mutexes others = new Mutexes(store(), TimeSource.system());
        var held = others.of("apart").acquire(Duration.ZERO).orElseThrow()) {
      FaultyStore store = store();
      run(store, Apart.class);
      eventually(() -> store.calls(FaultyStore.Op.CLAIM) >= 3);
      assertThat(desk.calls).hasValue(0);
      assertThat(held.isHeld()).isTrue();
    }
    eventually(() -> desk.calls.get() > 0);
  }
}
