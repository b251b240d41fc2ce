package io.firstclaim.processor.audit;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.testkit.process.ChildJvm;
import io.firstclaim.lock.testkit.process.JvmCommand;
import io.firstclaim.lock.testkit.process.JvmTuning;
import io.firstclaim.processor.audit.api.Address;
import io.firstclaim.processor.audit.api.AuditAnswer;
import io.firstclaim.processor.audit.api.AuditState;
import io.firstclaim.processor.audit.api.Coverage;
import io.firstclaim.processor.audit.api.Dead;
import io.firstclaim.processor.audit.api.Found;
import io.firstclaim.processor.audit.api.Listing;
import io.firstclaim.processor.audit.api.Minute;
import io.firstclaim.processor.audit.api.Minutes;
import io.firstclaim.processor.audit.api.Stuck;
import io.firstclaim.processor.audit.api.Violation;
import io.firstclaim.processor.audit.api.ViolationKind;
import io.firstclaim.processor.audit.topology.OutcomesTopology;
import io.firstclaim.processor.engine.api.Outcome;
import io.firstclaim.processor.engine.api.Outcome.Kind;
import io.firstclaim.processor.engine.api.OutcomeMessage;
import io.firstclaim.stack.server.KafkaBroker;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The audit on a real broker: its answers, its processes killed, its work shared. */
class AuditTest {
  private static final int PARTITIONS = 3;
  private static final int OUTCOMES = Boolean.getBoolean("soak") ? 100_000 : 500;

  /** A partition with more state moves once it is restored elsewhere, minutes later. */
  private static final int MOVED_AT_ONCE = 10_000;

  private static final Duration PATIENCE = Duration.ofMinutes(5);

  @TempDir static Path directory;
  private static KafkaBroker broker;
  private static int lastPort = 8080;

  private final List<Audit> audits = new ArrayList<>();
  private Producer<byte[], byte[]> producer;

  @BeforeAll
  static void startBroker() {
    broker = KafkaBroker.start(JvmTuning.SHORT_RUN);
    broker.createTopic("orders.outcomes", PARTITIONS);
  }

  @AfterAll
  static void closeBroker() {
    broker.close();
  }

  @BeforeEach
  void open() {
    producer =
        new KafkaProducer<>(
            Map.of(
                "bootstrap.servers",
                broker.bootstrapServers(),
                "linger.ms",
                5,
                "metadata.max.age.ms",
                500),
            new ByteArraySerializer(),
            new ByteArraySerializer());
  }

  @AfterEach
  void close() {
    audits.forEach(audit -> audit.stop(Duration.ofSeconds(10)));
    producer.close();
  }

  private Audit audit(Path state) {
    return audit("orders", state, ++lastPort);
  }

  private Audit audit(String application, Path state, int port) {
    Audit audit =
        new Audit(
            AuditProcess.settings(application, broker.bootstrapServers(), state, port),
            TimeSource.system());
    audits.add(audit);
    return audit;
  }

  private void publish(String id, Kind kind, long token) {
    publish("orders", id, kind, token);
  }

  private void publish(String application, String id, Kind kind, long token) {
    Outcome outcome =
        new Outcome(
            id,
            kind,
            "a",
            "a1",
            token,
            1,
            "in",
            0,
            0,
            Instant.now(),
            Duration.ofMillis(5),
            null,
            null,
            List.of());
    ProducerRecord<byte[], byte[]> message =
        new ProducerRecord<>(application + ".outcomes", id.getBytes(UTF_8), outcome.json());
    message
        .headers()
        .add(OutcomeMessage.APPLICATION, application.getBytes(UTF_8))
        .add(OutcomeMessage.NAMESPACE, application.getBytes(UTF_8))
        .add(OutcomeMessage.STORE, AuditProcess.STORE.getBytes(UTF_8))
        .add(OutcomeMessage.FINGERPRINT, Fingerprint.of(id.getBytes(UTF_8)).hash());
    var _ = producer.send(message);
  }

  private static void eventually(BooleanSupplier condition) {
    await().atMost(PATIENCE).pollInterval(Duration.ofMillis(100)).until(condition::getAsBoolean);
  }

  private static void running(Audit audit) {
    eventually(() -> audit.state() instanceof AuditState.Running);
  }

  private static List<Kind> kinds(Audit audit, String id) {
    return audit.history(RecordId.of(id))
            instanceof AuditAnswer.Here<List<Outcome>>(List<Outcome> outcomes)
        ? outcomes.stream().map(Outcome::kind).toList()
        : List.of();
  }

  private static <T> Listing<T> here(AuditAnswer<Listing<T>> answer) {
    return ((AuditAnswer.Here<Listing<T>>) answer).value();
  }

  /** Whether a list is answered as a whole; one that is not says that partitions are missing. */
  private static boolean isWhole(AuditAnswer<Listing<Dead>> answer, int partitions) {
    if (!(answer instanceof AuditAnswer.Here<Listing<Dead>>(Listing<Dead> list))) {
      return false;
    }
    Coverage coverage = list.coverage();
    assertThat(coverage.gap().isEmpty())
        .as("it has %s", coverage.own())
        .isEqualTo(coverage.own().size() == partitions);
    return coverage.gap().isEmpty();
  }

  private static long completed(Audit audit) {
    Instant now = Instant.now();
    return audit.minutes(now.minus(Duration.ofHours(1)), now)
            instanceof AuditAnswer.Here<Minutes>(Minutes minutes)
        ? minutes.rows().stream().mapToLong(Minute::completed).sum()
        : 0;
  }

  /** All pages of a list, of one instance. */
  private static <T> List<T> all(Function<Optional<RecordId>, AuditAnswer<Listing<T>>> list) {
    List<T> items = new ArrayList<>();
    Optional<RecordId> after = Optional.empty();
    do {
      Listing<T> page = here(list.apply(after));
      items.addAll(page.items());
      after = page.next();
    } while (after.isPresent());
    return items;
  }

  @Test
  void auditThatDoesNotRun_saysSo_andNeverThatThereIsNothing() {
    Audit audit = audit(directory.resolve("idle"));

    assertThat(audit.state()).isInstanceOf(AuditState.Off.class);
    assertThat(audit.history(RecordId.of("x"))).isInstanceOf(AuditAnswer.NotNow.class);
    assertThat(audit.stuck(10, Optional.empty())).isInstanceOf(AuditAnswer.NotNow.class);
    assertThat(audit.violations()).as("not zero").isEmpty();
    assertThat(audit.stuck()).as("not zero").isEmpty();
    audit.stop(Duration.ofSeconds(1));
    assertThat(audit.state()).isInstanceOf(AuditState.Off.class);
  }

  @Test
  void auditIsStartedOnce() {
    Audit audit = audit(directory.resolve("once"));
    audit.start(AuditProcess.STORE);

    assertThatThrownBy(() -> audit.start(AuditProcess.STORE))
        .isInstanceOf(IllegalStateException.class);
  }

  /** One history for all, as each start costs seconds. */
  @Test
  void plantedFaults_areFound_andNothingIsLost_whateverIsKilled() {
    Path state = directory.resolve("killed");
    JvmCommand command =
        JvmCommand.ofMain(
                "Audit", System.getProperty("java.class.path"), AuditProcess.class.getName())
            .withJvmArgs(JvmTuning.SHORT_RUN.jvmArgs())
            .withJvmArgs(List.of("--enable-native-access=ALL-UNNAMED", "-Xmx256m"))
            .withArgs(List.of(broker.bootstrapServers(), state.toString(), "8079"));
    List<String> ids = IntStream.range(0, OUTCOMES).mapToObj(i -> "order-" + i).toList();
    try (ChildJvm child = ChildJvm.start(command, directory.resolve("audit.log"))) {
      publish("twice", Kind.COMPLETED, 1);
      publish("back", Kind.TAKEN_OVER, 9);
      publish("stuck", Kind.FAILED, 1);
      publish("redriven", Kind.DEAD, 3);
      publish("dead", Kind.DEAD, 5);
      publish("early", Kind.COMPLETED, 1);
      publish("early", Kind.COMPLETED, 2);
      // Committed by the process that is killed.
      child.awaitReady("done with the first", () -> verdicts().size() == 1, PATIENCE);
      ids.forEach(id -> publish(id, Kind.COMPLETED, 1));
      producer.flush();
      child.kill();
    }
    publish("twice", Kind.COMPLETED, 2);
    publish("back", Kind.COMPLETED, 8);
    publish("redriven", Kind.COMPLETED, 5);
    producer.flush();

    Audit audit = audit(state);
    audit.start(AuditProcess.STORE);
    eventually(() -> isWhole(audit.dead(1, Optional.empty()), PARTITIONS));
    running(audit);
    eventually(() -> completed(audit) == OUTCOMES + 6);

    eventually(() -> verdicts().size() == 3); // a commit later
    assertThat(verdicts())
        .containsExactlyInAnyOrder(
            "early COMPLETED_TWICE", "twice COMPLETED_TWICE", "back TOKEN_WENT_BACK");
    assertThat(audit.violations()).hasValue(3);
    assertThat(here(audit.violations(10, Optional.empty())).items())
        .extracting(Violation::verdict)
        .containsExactly(
            ViolationKind.TOKEN_WENT_BACK,
            ViolationKind.COMPLETED_TWICE,
            ViolationKind.COMPLETED_TWICE);
    assertThat(here(audit.stuck(10, Optional.empty())).items())
        .extracting(Stuck::id)
        .containsExactly(RecordId.of("stuck"));
    assertThat(audit.stuck()).hasValue(1);
    assertThat(here(audit.dead(10, Optional.empty())).items())
        .extracting(Dead::id)
        .containsExactly(RecordId.of("dead"));
    assertThat(kinds(audit, "redriven")).containsExactly(Kind.DEAD, Kind.COMPLETED);
    assertThat(ids).allSatisfy(id -> assertThat(kinds(audit, id)).containsExactly(Kind.COMPLETED));
    assertThat(audit.history(RecordId.of("never"))).isEqualTo(new AuditAnswer.Here<>(List.of()));

    IntStream.range(0, 25).forEach(i -> publish("dead-" + i, Kind.DEAD, 1));
    eventually(() -> all(after -> audit.dead(4, after)).size() == 26);
    assertThat(all(after -> audit.dead(4, after)))
        .extracting(Dead::id)
        .isSorted()
        .doesNotHaveDuplicates();

    assertThat(found(audit, "dead-1", _ -> true))
        .extracting(Found::id)
        .containsExactlyElementsOf(
            IntStream.concat(IntStream.of(1), IntStream.range(10, 20))
                .mapToObj(i -> RecordId.of("dead-" + i))
                .toList());
    assertThat(found(audit, "", outcome -> outcome.kind() == Kind.DEAD))
        .extracting(found -> found.id().text())
        .as("among all, page by page")
        .hasSize(27)
        .isSorted()
        .contains("dead", "redriven");
    assertThat(found(audit, "redriven", outcome -> outcome.token() < 5))
        .extracting(found -> found.outcome().kind())
        .containsExactly(Kind.DEAD);
    assertThat(found(audit, "redriven", _ -> true))
        .extracting(found -> found.outcome().kind())
        .as("the latest")
        .containsExactly(Kind.COMPLETED);
    assertThat(found(audit, "nobody", _ -> true)).isEmpty();
    Listing<Found> whole = here(audit.search(new byte[0], _ -> false, 10, Optional.empty()));
    assertThat(whole.items()).isEmpty();
    assertThat(whole.lookedAt()).isEqualTo(Math.min(OUTCOMES + 31, 9_999));

    if (OUTCOMES < MOVED_AT_ONCE) {
      sharesItsWork(audit);
    }
  }

  private static List<Found> found(Audit audit, String prefix, Predicate<Outcome> wanted) {
    return all(after -> audit.search(prefix.getBytes(UTF_8), wanted, 4, after));
  }

  /** A second instance takes some of the partitions, and each says where the others are. */
  private void sharesItsWork(Audit first) {
    Audit second = audit(directory.resolve("second"));
    second.start(AuditProcess.STORE);
    List<String> ids = IntStream.range(0, 50).mapToObj(i -> "order-" + i).toList();
    eventually(
        () ->
            ids.stream()
                .allMatch(
                    id ->
                        kinds(first, id).size() + kinds(second, id).size() == 1
                            && (isElsewhere(first, id) || isElsewhere(second, id))));
    assertThat(ids).anyMatch(id -> isElsewhere(first, id));
    assertThat(ids).anyMatch(id -> isElsewhere(second, id));
    Listing<Dead> page = here(first.dead(100, Optional.empty()));
    assertThat(page.coverage().others())
        .extracting(Coverage.Part::address)
        .containsExactly(new Address("127.0.0.1", lastPort));
    assertThat(page.coverage().gap()).isEmpty();
    assertThat(page.coverage().own().size()).isBetween(1, PARTITIONS - 1);
    assertThat(page.items().size() + here(second.dead(100, Optional.empty())).items().size())
        .isEqualTo(26);
    running(first);
    running(second);
    assertThat(first.violations().orElseThrow() + second.violations().orElseThrow()).isEqualTo(3);

    second.stop(Duration.ofSeconds(10));
    eventually(() -> ids.stream().allMatch(id -> kinds(first, id).size() == 1));
  }

  /** As two that run on two machines have it, if nobody says where they are reached. */
  @Test
  void twoOfOneAddress_sayThatTheirPartitionsDoNotAddUp_andHowThatIsMended() {
    broker.createTopic("alike.outcomes", 2);
    int port = ++lastPort;
    List<Audit> both =
        List.of(
            audit("alike", directory.resolve("alike-1"), port),
            audit("alike", directory.resolve("alike-2"), port));

    both.forEach(audit -> audit.start(AuditProcess.STORE));

    eventually(
        () ->
            both.stream()
                .allMatch(
                    audit ->
                        audit.dead(10, Optional.empty())
                                instanceof AuditAnswer.Here<Listing<Dead>>(Listing<Dead> dead)
                            && dead.coverage().own().size() == 1));
    for (Audit audit : both) {
      Coverage coverage = here(audit.dead(10, Optional.empty())).coverage();
      int other = 1 - coverage.own().first();
      assertThat(coverage.others()).isEmpty();
      assertThat(coverage.gap().orElseThrow())
          .startsWith("partitions [" + other + "] of alike.outcomes are being handed out; or")
          .endsWith(
              "the address of this one, 127.0.0.1:%d, too: then give each its own firstclaim.audit.address"
                  .formatted(port));
    }
  }

  /** Where a record goes depends on how many partitions there are. */
  @Test
  void outcomesTopicThatGetsMorePartitions_isReadAnew_andEachHistoryStaysWhole() throws Exception {
    broker.createTopic("grown.outcomes", 1);
    List<String> ids = IntStream.range(0, 20).mapToObj(i -> "grown-" + i).toList();
    ids.forEach(id -> publish("grown", id, Kind.DEAD, 5));
    producer.flush();
    Path state = directory.resolve("grown");
    Audit audit = audit("grown", state, ++lastPort);
    audit.start(AuditProcess.STORE);
    running(audit);
    eventually(() -> all(after -> audit.dead(100, after)).size() == ids.size());

    try (Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()))) {
      String applicationId = OutcomesTopology.applicationId("grown", "a");
      assertThat(admin.listTopics().names().get())
          .filteredOn(topic -> topic.startsWith(applicationId))
          .as("what is to be deleted once it is left behind")
          .containsExactlyInAnyOrderElementsOf(OutcomesTopology.topics(applicationId));
      admin
          .createPartitions(Map.of("grown.outcomes", NewPartitions.increaseTo(PARTITIONS)))
          .all()
          .get();
    }
    eventually(() -> producer.partitionsFor("grown.outcomes").size() == PARTITIONS);
    ids.stream().skip(1).forEach(id -> publish("grown", id, Kind.COMPLETED, 8));
    producer.flush();

    eventually(
        () ->
            ids.stream()
                .skip(1)
                .allMatch(id -> kinds(audit, id).containsAll(List.of(Kind.DEAD, Kind.COMPLETED))));
    eventually(
        () ->
            audit.dead(100, Optional.empty())
                    instanceof AuditAnswer.Here<Listing<Dead>>(Listing<Dead> dead)
                && dead.items().stream()
                    .map(Dead::id)
                    .toList()
                    .equals(List.of(RecordId.of(ids.getFirst()))));
    assertThat(here(audit.violations(10, Optional.empty())).items()).isEmpty();
  }

  private static boolean isElsewhere(Audit audit, String id) {
    return audit.history(RecordId.of(id)) instanceof AuditAnswer.Elsewhere;
  }

  /** What was committed to the violations topic: {@code id VERDICT}. */
  private static List<String> verdicts() {
    List<String> verdicts = new ArrayList<>();
    try (Consumer<byte[], byte[]> consumer =
        new KafkaConsumer<>(
            Map.of(
                "bootstrap.servers",
                broker.bootstrapServers(),
                "isolation.level",
                "read_committed",
                "allow.auto.create.topics",
                false),
            new ByteArrayDeserializer(),
            new ByteArrayDeserializer())) {
      if (!consumer.listTopics().containsKey("orders.violations")) {
        return verdicts;
      }
      TopicPartition partition = new TopicPartition("orders.violations", 0);
      consumer.assign(List.of(partition));
      consumer.seekToBeginning(List.of(partition));
      long end = consumer.endOffsets(List.of(partition)).getOrDefault(partition, 0L);
      while (consumer.position(partition) < end) {
        for (ConsumerRecord<byte[], byte[]> message : consumer.poll(Duration.ofMillis(100))) {
          String json = new String(message.value(), UTF_8);
          verdicts.add(
              new String(message.key(), UTF_8)
                  + " "
                  + json.replaceAll(".*\"verdict\":\"([A-Z_]+)\".*", "$1"));
        }
      }
    }
    return verdicts;
  }
}
