package io.firstclaim.lock.dynamodb;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.testkit.process.ChildJvm;
import io.firstclaim.lock.testkit.process.JvmCommand;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** Effects that are written with a completion happen once, whenever their process is killed. */
@Timeout(900)
class EffectsOfKilledProcessesTest {
  private static final boolean SOAK = Boolean.getBoolean("soak");
  private static final int RECORDS = SOAK ? 10_000 : 400;
  private static final int KILLS = SOAK ? 30 : 4;

  private final String namespace = "effects-" + Nonce.random();
  private final Random random = new Random();
  @TempDir private Path logs;

  private ChildJvm start(int number) {
    JvmCommand command =
        JvmCommand.ofMain(
                "counting-" + number,
                System.getProperty("java.class.path"),
                CountingProcess.class.getName())
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
    try (ChildJvm steady = start(started++)) {
      for (int i = 0; i < KILLS && steady.isAlive(); i++) {
        try (ChildJvm victim = start(started++)) {
          boolean _ = victim.waitFor(Duration.ofMillis(1_000 + random.nextInt(1_500)));
          victim.kill();
        }
      }
      assertThat(steady.waitFor(Duration.ofMinutes(10))).isTrue();
      assertThat(steady.exitCode()).as(steady.logTail()).isZero();
    }

    int sum = 0;
    for (int i = 0; i < CountingProcess.COUNTERS; i++) {
      var item = item(CountingProcess.counter(namespace, i));
      sum += Integer.parseInt(item.get("counted").n());
    }
    assertThat(sum).isEqualTo(RECORDS);
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
