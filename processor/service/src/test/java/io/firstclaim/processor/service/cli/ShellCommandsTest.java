package io.firstclaim.processor.service.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.deduplicator.Attempted;
import io.firstclaim.lock.deduplicator.Verdict;
import java.util.List;
import org.junit.jupiter.api.Test;

class ShellCommandsTest {
  /**
   * A wrapper may clean up after a command that was ended, and come back for one that never ran.
   */
  @Test
  void claimThatIsLostBeforeItsCommandBegins_isNotHad() {
    var once = new ShellCommands.Once("night", false, List.of("true"), TimeSource.system());

    int exit = once.exitCode(new Attempted(new Verdict.Leave(), new SettleResult.Lost("b")));

    assertThat(exit).isEqualTo(ShellCommands.NOT_HAD);
  }
}
