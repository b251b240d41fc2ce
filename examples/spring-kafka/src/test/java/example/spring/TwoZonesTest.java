package example.spring;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.testkit.process.ChildJvm;
import io.firstclaim.lock.testkit.process.JvmCommand;
import io.firstclaim.lock.testkit.process.JvmTuning;
import io.firstclaim.stack.server.DynamoDbServer;
import io.firstclaim.stack.server.KafkaBroker;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Both zones on a real broker and a table of DynamoDB Local; one is killed half-way. */
class TwoZonesTest {
  /** How many payments come at a time. */
  private static final int BATCH = 50;

  private static final Duration LIMIT = Duration.ofMinutes(10);

  @TempDir private Path ledgers;

  @Test
  void eachPaymentIsMadeOnce_thoughItComesTwiceToEachZone_andOneIsKilled() throws Exception {
    try (KafkaBroker broker = KafkaBroker.start(JvmTuning.SHORT_RUN);
        DynamoDbServer table = DynamoDbServer.start(JvmTuning.SHORT_RUN)) {
      broker.createTopic("payments", 2);
      int payments = 0;
      try (ChildJvm a = start("a", broker, table);
          ChildJvm b = start("b", broker, table)) {
        // Whichever zone starts first would else have paid all before the other has begun.
        while (paid("a").size() < BATCH / 10) {
          assertThat(a.isAlive()).as(a.logTail()).isTrue();
          int sent = sendTwice(broker, payments);
          payments = sent;
          b.awaitReady("done with these", () -> allPaid().size() == sent, LIMIT);
        }
        int all = sendTwice(broker, payments);
        a.kill();
        payments = all;
        b.awaitReady("done with all", () -> allPaid().size() == all, LIMIT);
      }
      List<String> killed = paid("a");
      List<String> other = paid("b");
      Set<String> twice = new HashSet<>(killed);
      twice.retainAll(other);

      assertThat(killed).doesNotHaveDuplicates();
      assertThat(other).doesNotHaveDuplicates();
      assertThat(allPaid())
          .isEqualTo(
              IntStream.range(0, payments).mapToObj(i -> "id-" + i).collect(Collectors.toSet()));
      // Only that which it had just made may be made again, as nobody knew that it was.
      assertThat(twice).isSubsetOf(killed.getLast());
    }
  }

  /** Sends the next payments after so many; returns how many there are then. */
  private static int sendTwice(KafkaBroker broker, int after) {
    try (var producer = broker.producer()) {
      for (int i = 0; i < 2 * BATCH; i++) {
        int payment = after + i % BATCH;
        var sent = new ProducerRecord<String, String>("payments", payment + " EUR");
        sent.headers().add("payment-id", ("id-" + payment).getBytes(UTF_8));
        var _ = producer.send(sent);
      }
    }
    return after + BATCH;
  }

  private Set<String> allPaid() {
    Set<String> all = new HashSet<>(paid("a"));
    all.addAll(paid("b"));
    return all;
  }

  private List<String> paid(String zone) {
    Path ledger = ledgers.resolve(zone);
    try {
      return Files.exists(ledger)
          ? Files.readAllLines(ledger).stream().map(line -> line.split(" ", -1)[0]).toList()
          : List.of();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private ChildJvm start(String zone, KafkaBroker broker, DynamoDbServer table) {
    JvmCommand command =
        JvmCommand.ofMain(
                "zone-" + zone, System.getProperty("java.class.path"), Application.class.getName())
            .withJvmArgs(JvmTuning.SHORT_RUN.jvmArgs())
            .withArgs(
                List.of(
                    "--zone=" + zone,
                    "--ledger=" + ledgers.resolve(zone),
                    "--spring.kafka.bootstrap-servers=" + broker.bootstrapServers(),
                    "--firstclaim.claim.lease=20s")) // longer than a busy machine stands still
            .withEnv(table.environment());
    return ChildJvm.start(command, ledgers.resolve("zone-" + zone + ".log"));
  }
}
