package example.claims;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.testkit.process.ChildJvm;
import io.firstclaim.lock.testkit.process.JvmCommand;
import io.firstclaim.lock.testkit.process.JvmTuning;
import io.firstclaim.stack.server.DynamoDbServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NightlyBillingTest {
  @TempDir Path directory;

  private String run(DynamoDbServer server, String name) {
    JvmCommand command =
        JvmCommand.ofMain(
                name, System.getProperty("java.class.path"), "example.claims.NightlyBilling")
            .withJvmArgs(JvmTuning.SHORT_RUN.jvmArgs())
            .withArgs(List.of("alice", "bob"))
            .withEnv(server.environment());
    try (ChildJvm child = ChildJvm.start(command, directory.resolve(name + ".log"))) {
      assertThat(child.waitFor(Duration.ofMinutes(10))).isTrue();
      assertThat(child.exitCode()).as(child::logTail).isZero();
      return child.logTail();
    }
  }

  @Test
  void customerBilledByOneHost_isNotBilledAgainByTheNext() {
    try (DynamoDbServer server = DynamoDbServer.start(JvmTuning.SHORT_RUN)) {
      assertThat(run(server, "first"))
          .contains("alice: Ran[result=invoice of alice, token 1]", "bob: Ran");
      assertThat(run(server, "second"))
          .contains("alice: DoneBefore", "invoice of alice, token 1", "bob: DoneBefore")
          .doesNotContain(": Ran");
    }
  }
}
