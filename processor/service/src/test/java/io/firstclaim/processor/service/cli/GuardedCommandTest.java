package io.firstclaim.processor.service.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GuardedCommandTest {
  @TempDir Path folder;

  /** A command that needs four seconds to end in good order; it runs. */
  private GuardedCommand tidyingUp() throws Exception {
    Path runs = folder.resolve("runs");
    String script =
        "trap 'sleep 4; exit 0' TERM; echo > %s; while true; do sleep 0.1; done".formatted(runs);
    GuardedCommand command = GuardedCommand.start(List.of("sh", "-c", script), Map.of(), false);
    await().atMost(Duration.ofMinutes(2)).until(() -> Files.exists(runs));
    return command;
  }

  @Test
  void commandWhoseLeaseIsSoonAnothers_isKilledBeforeThat() throws Exception {
    GuardedCommand command = tidyingUp();

    command.stop(Duration.ofMillis(10));

    assertThat(command.await()).isEqualTo(128 + 9);
    assertThat(command.isStopped()).isTrue();
    command.close();
  }

  @Test
  void commandWhoseLeaseAnotherMayHaveByNow_isKilledAtOnce() throws Exception {
    GuardedCommand command = tidyingUp();

    command.stop(Duration.ofSeconds(-1));

    assertThat(command.await()).isEqualTo(128 + 9);
    command.close();
  }
}
