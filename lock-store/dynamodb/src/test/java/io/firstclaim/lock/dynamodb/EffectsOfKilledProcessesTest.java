package io.firstclaim.lock.dynamodb;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.testkit.Soak;
import io.firstclaim.lock.testkit.process.ChildJvm;
import io.firstclaim.lock.testkit.process.JvmCommand;
import io.firstclaim.lock.testkit.process.JvmTuning;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** Effects that are written with a completion happen once, whenever their process is killed. */
@Timeout(1500)
@Execution(ExecutionMode.CONCURRENT) // it has nothing in this JVM
class EffectsOfKilledProcessesTest {
  private static final int RECORDS = Soak.times(500, 10_000);
  private static final int KILLS = Soak.times(1, 20);

  private final String namespace = "effects-" + Nonce.random();
  private final Random random = new Random();
  @TempDir private Path logs;

  private ChildJvm start(int number) {
    JvmCommand command =
        JvmCommand.ofMain(
                "counting-" + number,
                System.getProperty("java.class.path"),
                CountingProcess.class.getName())
            .withJvmArgs(JvmTuning.SHORT_RUN.jvmArgs())
            .withArgs(
                List.of(
                    LocalDynamoDb.endpoint().toString(),
                    namespace,
                    "process-" + number,
                    Integer.toString(RECORDS)));
    return ChildJvm.start(command, logs.resolve(number + ".log"));
  }

  @Test
  void countersEqualTheRecords_howeverManyProcessesAreKilled() {
    int started = 0;
    for (int i = 0; i < KILLS; i++) {
      try (ChildJvm first = start(started++);
          ChildJvm second = start(started++)) {
        awaitWork(first);
        awaitWork(second);
        boolean _ = first.waitFor(Duration.ofMillis(200 + random.nextInt(800)));
        first.kill();
        second.kill();
      }
    }
    try (ChildJvm last = start(started)) {
      assertThat(last.waitFor(Duration.ofMinutes(10))).isTrue();
      assertThat(last.exitCode()).as(last.logTail()).isZero();
    }

    int sum = 0;
    for (int i = 0; i < CountingProcess.COUNTERS; i++) {
      var item = item(CountingProcess.counter(namespace, i));
      sum += Integer.parseInt(Objects.requireNonNull(item.get("counted")).n());
    }
    assertThat(sum).isEqualTo(RECORDS);
  }

  private static void awaitWork(ChildJvm process) {
    process.awaitReady(
        "its first record",
        () -> process.logTail().contains(CountingProcess.COUNTING),
        Duration.ofMinutes(5));
  }

  private static Map<String, AttributeValue> item(String key) {
    return LocalDynamoDb.client()
        .getItem(
            get ->
                get.tableName(LocalDynamoDb.TABLE)
                    .key(Map.of(Items.KEY, Items.text(key)))
                    .consistentRead(true))
        .item();
  }
}
