package io.firstclaim.processor.audit;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.lock.testkit.Soak;
import io.firstclaim.lock.testkit.process.JvmTuning;
import io.firstclaim.processor.audit.api.AuditAnswer;
import io.firstclaim.processor.audit.api.AuditState;
import io.firstclaim.processor.audit.api.Minute;
import io.firstclaim.processor.audit.api.Minutes;
import io.firstclaim.processor.engine.Engine;
import io.firstclaim.processor.engine.api.EngineState;
import io.firstclaim.processor.engine.api.Outcome;
import io.firstclaim.processor.engine.api.OutcomeMessage;
import io.firstclaim.processor.handler.HandlerResult;
import io.firstclaim.stack.server.FreePort;
import io.firstclaim.stack.server.KafkaBroker;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Three brokers, two of which must have what is acknowledged: one is killed, and others lead. */
class ThreeBrokersTest {
  private static final int BATCH = Soak.times(200, 20_000);

  @TempDir Path directory;

  private final List<KafkaBroker> brokers = KafkaBroker.startThree(JvmTuning.SHORT_RUN);
  private final String servers =
      brokers.stream().map(KafkaBroker::bootstrapServers).collect(Collectors.joining(","));
  private final MemoryClaimStore.Claims claims = new MemoryClaimStore.Claims();
  private final AtomicReference<String> identity = new AtomicReference<>();
  private final Queue<String> handled = new ConcurrentLinkedQueue<>();
  private final Queue<Throwable> defects = new ConcurrentLinkedQueue<>();
  private final List<Engine> engines = new ArrayList<>();
  private final List<String> sent = new ArrayList<>();

  @AfterEach
  void close() throws InterruptedException {
    for (Engine engine : engines) {
      engine.stop();
    }
    brokers.forEach(KafkaBroker::close);
  }

  private Engine start(String zone, String protocol) throws InterruptedException {
    Engine engine =
        Engine.builder()
            .application("orders")
            .zone(zone)
            .topics("in")
            .recordId("key")
            .bootstrapServers(servers)
            .kafka("group.protocol", protocol)
            .store(
                settings -> {
                  var store = new MemoryClaimStore(claims, settings, TimeSource.system());
                  identity.set(store.identity());
                  return store;
                })
            .onDefect(defects::add)
            .handler(
                context -> {
                  handled.add(context.id().text());
                  return HandlerResult.done();
                })
            .build();
    engines.add(engine);
    engine.start();
    return engine;
  }

  private void publish(Producer<byte[], byte[]> producer) {
    for (int i = 0; i < BATCH; i++) {
      String id = "order-" + sent.size();
      sent.add(id);
      var _ = producer.send(new ProducerRecord<>("in", id.getBytes(UTF_8), new byte[] {1}));
    }
    producer.flush();
  }

  private static void eventually(Callable<Boolean> holds) {
    await().atMost(Duration.ofMinutes(5)).pollInterval(Duration.ofMillis(100)).until(holds);
  }

  private static long completed(Audit audit) {
    Instant now = Instant.now();
    return audit.minutes(now.minus(Duration.ofHours(1)), now)
            instanceof AuditAnswer.Here<Minutes>(Minutes minutes)
        ? minutes.rows().stream().mapToLong(Minute::completed).sum()
        : 0;
  }

  /** Whose completion stands in the topic of outcomes. */
  private Set<String> announced() {
    Map<String, Object> config = Map.of("bootstrap.servers", servers);
    try (var consumer =
        new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
      List<TopicPartition> partitions =
          consumer.partitionsFor("orders.outcomes").stream()
              .map(each -> new TopicPartition(each.topic(), each.partition()))
              .toList();
      consumer.assign(partitions);
      consumer.seekToBeginning(partitions);
      Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
      Set<String> completed = new HashSet<>();
      while (partitions.stream()
          .anyMatch(each -> consumer.position(each) < ends.getOrDefault(each, 0L))) {
        for (var message : consumer.poll(Duration.ofMillis(100))) {
          OutcomeMessage.read(message.key(), message.value(), message.headers())
              .filter(each -> each.outcome().kind() == Outcome.Kind.COMPLETED)
              .ifPresent(each -> completed.add(each.id().text()));
        }
      }
      return completed;
    }
  }

  private static boolean isAtTheEnd(Engine engine) {
    return engine.state() instanceof EngineState.Running running && running.watermarkLag() == 0;
  }

  private void awaitTheEnd(Engine a, Engine b) {
    eventually(() -> handled.size() >= sent.size() && isAtTheEnd(a) && isAtTheEnd(b));
  }

  @Test
  void killedBroker_endsNeitherZoneNorAudit_andEachRecordIsHandledOnce() throws Exception {
    brokers.getFirst().createTopic("in", 6);
    Engine a = start("a", "classic");
    Engine b = start("b", "consumer");
    Audit audit =
        new Audit(
            AuditProcess.settings(servers, directory.resolve("audit"), FreePort.next()),
            TimeSource.system());
    audit.start(identity.get());
    Map<String, Object> config = Map.of("bootstrap.servers", servers, "acks", "all");
    try (Producer<byte[], byte[]> producer =
            new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
        Admin admin = Admin.create(config)) {
      publish(producer);
      eventually(() -> completed(audit) > 0);

      int leader =
          admin.describeTopics(List.of("in")).allTopicNames().get().values().stream()
              .map(topic -> topic.partitions().getFirst().leader().id())
              .findFirst()
              .orElseThrow();
      brokers.get(leader - 1).kill();
      publish(producer);

      awaitTheEnd(a, b);
      int before = sent.size();
      publish(producer);
      awaitTheEnd(a, b);
      // An outcome that no broker took for half a minute is given up; not so any of these.
      Set<String> announced = announced();
      assertThat(announced).containsAll(sent.subList(before, sent.size()));
      eventually(() -> completed(audit) >= announced.size());
      assertThat(handled).doesNotHaveDuplicates().containsExactlyInAnyOrderElementsOf(sent);
      assertThat(defects).isEmpty();
      assertThat(audit.state()).isInstanceOf(AuditState.Running.class);
      assertThat(audit.violations()).hasValue(0);
      assertThat(completed(audit)).isEqualTo(announced.size());
    } finally {
      audit.stop(Duration.ofSeconds(10));
    }
  }
}
