package io.firstclaim.micronaut;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.firstclaim.micronaut.config.StartRefusedException;
import io.micronaut.context.ApplicationContext;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Starts of applications with claims in memory, some of which are refused. */
public final class Starts {
  private Starts() {}

  /**
   * An application.
   *
   * @param own settings
   * @param more of them: names and values in turn
   */
  public static ApplicationContext start(Map<String, Object> own, String... more) {
    Map<String, Object> all = new HashMap<>(own);
    all.put("firstclaim.claim.backend", "memory");
    for (int i = 0; i < more.length; i += 2) {
      all.put(more[i], more[i + 1]);
    }
    return ApplicationContext.builder().deduceEnvironment(false).properties(all).start();
  }

  /** What such a start throws; null if nothing. */
  public static @Nullable Throwable thrown(Map<String, Object> own, String... more) {
    return catchThrowable(
        () -> {
          try (ApplicationContext started = start(own, more)) {
            assertThat(started.isRunning()).isTrue();
          }
        });
  }

  /** Such a start is refused, for this fault and with this remedy. */
  public static void assertRefused(
      Map<String, Object> own, String fault, String remedy, String... more) {
    Throwable thrown = thrown(own, more);
    StartRefusedException refusal = null;
    for (Throwable each = thrown; each != null; each = each.getCause()) {
      refusal = each instanceof StartRefusedException found ? found : refusal;
    }
    assertThat(refusal).as("%s", thrown).isNotNull().hasMessageContaining(fault);
    assertThat(Objects.requireNonNull(refusal).remedy()).contains(remedy);
  }
}
