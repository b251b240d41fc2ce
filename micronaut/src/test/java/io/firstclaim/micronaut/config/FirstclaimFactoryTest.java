package io.firstclaim.micronaut.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.deduplicator.Deduplicator;
import io.firstclaim.lock.deduplicator.RunResult;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.lock.mutex.Mutexes;
import io.firstclaim.micronaut.config.FirstclaimSettings.BackendName;
import io.micronaut.context.ApplicationContext;
import io.micronaut.context.ApplicationContextBuilder;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class FirstclaimFactoryTest {
  private static ApplicationContextBuilder application(String... settings) {
    Map<String, Object> all = new HashMap<>();
    all.put("kafka.enabled", false);
    for (int i = 0; i < settings.length; i += 2) {
      all.put(settings[i], settings[i + 1]);
    }
    return ApplicationContext.builder().deduceEnvironment(false).properties(all);
  }

  private static void refused(ApplicationContextBuilder application, String fault, String remedy) {
    Throwable thrown =
        catchThrowable(
            () -> {
              try (ApplicationContext started = application.start()) {
                assertThat(started.isRunning()).isTrue();
              }
            });
    StartRefusedException refusal = null;
    for (Throwable each = thrown; each != null; each = each.getCause()) {
      refusal = each instanceof StartRefusedException found ? found : refusal;
    }
    assertThat(refusal).as("%s", thrown).isNotNull().hasMessageContaining(fault);
    assertThat(Objects.requireNonNull(refusal).remedy()).contains(remedy);
  }

  private static ClaimStore memory(String namespace) {
    return new MemoryClaimStore(ClaimSettings.of(namespace, "own"), TimeSource.system());
  }

  @Test
  void workRunsOnce_andMutexesAreHeld_onTheChosenStore() throws Exception {
    try (ApplicationContext context = application("firstclaim.claim.backend", "memory").start()) {
      Deduplicator deduplicator = context.getBean(Deduplicator.class);
      RecordId id = RecordId.of("payment-1");
      assertThat(deduplicator.run(id, Fingerprint.none(), lease -> "paid"))
          .isEqualTo(new RunResult.Ran("paid"));
      assertThat(deduplicator.run(id, Fingerprint.none(), lease -> "twice"))
          .isInstanceOf(RunResult.DoneBefore.class);

      Mutexes mutexes = context.getBean(Mutexes.class);
      try (var held = mutexes.of("nightly").acquire(Duration.ZERO).orElseThrow()) {
        assertThat(mutexes.of("nightly").acquire(Duration.ZERO)).isEmpty();
        assertThat(held.token()).isPositive();
      }
    }
  }

  @Test
  void settings_haveTheServicesNames() {
    try (ApplicationContext context =
        application(
                "firstclaim.claim.backend", "memory",
                "micronaut.application.name", "shop",
                "firstclaim.instance", "a1",
                "firstclaim.claim.lease", "12s",
                "firstclaim.claim.max-skew", "700ms",
                "firstclaim.claim.retention", "20d",
                "firstclaim.retry.max-attempts", "3")
            .start()) {
      assertThat(context.getBean(ClaimSettings.class))
          .isEqualTo(
              new ClaimSettings(
                  "shop",
                  "a1",
                  Duration.ofSeconds(12),
                  Duration.ofMillis(700),
                  Duration.ofDays(20)));
      assertThat(context.getBean(Deduplicator.class).retry().maxAttempts()).isEqualTo(3);
    }
  }

  @Test
  void settingThatIsNone_stopsTheStart() {
    refused(
        application("firstclaim.claim.backend", "memory", "firstclaim.claim.leese", "12s"),
        "firstclaim.claim.leese is none of the settings",
        "docs/micronaut.md");
  }

  @Test
  void settingsThatCannotBeKept_stopTheStart() {
    refused(
        application("firstclaim.claim.backend", "memory", "firstclaim.claim.lease", "1s"),
        "lease 1s is too short",
        "at least 3s");
    refused(
        application("firstclaim.claim.backend", "memory", "firstclaim.retry.max-attempts", "0"),
        "firstclaim.retry.*",
        "give 1 or more");
    refused(
        application("firstclaim.claim.backend", "s3"),
        "firstclaim.claim.s3.bucket is not set",
        "name the bucket");
  }

  @Test
  void missingStore_stopsTheStart() {
    ClaimSettings claims = ClaimSettings.of("shop", "a1");
    List<Backend> memory = List.of(new MemoryBackend(claims));
    assertThatThrownBy(() -> store(null, memory))
        .isInstanceOf(StartRefusedException.class)
        .hasMessageContaining("there is nothing that claims could be kept in")
        .hasMessageContaining("add io.firstclaim:firstclaim-lock-dynamodb");
    assertThatThrownBy(() -> store(BackendName.S3, memory))
        .isInstanceOf(StartRefusedException.class)
        .hasMessageContaining("whose module is not there")
        .hasMessageContaining("add io.firstclaim:firstclaim-lock-s3");
  }

  private static ClaimStore store(@Nullable BackendName name, List<Backend> backends) {
    Duration some = Duration.ofMinutes(1);
    return new FirstclaimFactory()
        .store(
            new FirstclaimSettings.Claim(name, null, some, true, some, some, false),
            backends,
            TimeSource.system());
  }

  @Test
  void ambiguousStore_stopsTheStart() {
    refused(application(), "there are several", "give dynamodb or s3");
    refused(
        application().singletons(memory("one"), memory("other")),
        "none of them is primary",
        "@Primary");
  }

  @Test
  void beansOfOnesOwn_win() {
    ClaimStore own = memory("own");
    Deduplicator deduplicator = Deduplicator.builder(own, TimeSource.system()).build();
    try (ApplicationContext context = application().singletons(own, deduplicator).start()) {
      assertThat(context.getBean(ClaimStore.class)).isSameAs(own);
      assertThat(context.getBean(Deduplicator.class)).isSameAs(deduplicator);
    }
  }
}
