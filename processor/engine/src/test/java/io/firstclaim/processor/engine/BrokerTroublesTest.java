package io.firstclaim.processor.engine;

import static io.firstclaim.processor.engine.testing.Eventually.eventually;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.lock.testkit.Soak;
import io.firstclaim.lock.testkit.process.JvmTuning;
import io.firstclaim.processor.engine.api.EngineState;
import io.firstclaim.processor.handler.HandlerResult;
import io.firstclaim.stack.server.KafkaBroker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeClusterOptions;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * A broker that restarts and freezes under two zones of each group protocol, all static members,
 * which read one topic as two applications.
 */
class BrokerTroublesTest {
  private static final int PARTITIONS = 4;
  private static final int BATCH = Soak.times(200, 1_000);
  private static final int ROUNDS = Soak.times(1, Integer.getInteger("troubles.rounds", 40));
  private static final String TOPIC = "orders";

  private static final String SESSION = "2000";

  /** Longer than a session. */
  private static final Duration FREEZE = Duration.ofSeconds(3);

  private final KafkaBroker broker = KafkaBroker.start(JvmTuning.SHORT_RUN, settings());
  private final List<Application> applications = new ArrayList<>();
  private final Queue<Throwable> defects = new ConcurrentLinkedQueue<>();
  private final List<String> sent = new ArrayList<>();
  private final List<Future<RecordMetadata>> sends = new ArrayList<>();
  private final Random random = new Random(29);

  private static Map<String, String> settings() {
    Map<String, String> settings = new HashMap<>(KafkaBroker.SOON_BACK);
    settings.put("group.consumer.session.timeout.ms", SESSION);
    return settings;
  }

  /** Two zones under one group protocol. */
  private final class Application {
    final String protocol;
    final MemoryClaimStore.Claims claims = new MemoryClaimStore.Claims();
    final Queue<String> handled = new ConcurrentLinkedQueue<>();
    Engine a;
    Engine b;

    Application(String protocol) throws InterruptedException {
      this.protocol = protocol;
      this.a = start("a");
      this.b = start("b");
    }

    final Engine start(String zone) throws InterruptedException {
      EngineBuilder builder =
          Engine.builder()
              .application(protocol)
              .zone(zone)
              .zones(List.of("a", "b"))
              .topics(TOPIC)
              .recordId("key")
              .bootstrapServers(broker.bootstrapServers())
              .kafka("group.protocol", protocol)
              .kafka("group.instance.id", protocol + "-" + zone)
              .store(settings -> new MemoryClaimStore(claims, settings, TimeSource.system()))
              .onDefect(defects::add)
              .handler(
                  context -> {
                    handled.add(context.id().text());
                    return HandlerResult.done();
                  });
      if (protocol.equals("classic")) {
        builder.kafka("session.timeout.ms", SESSION).kafka("heartbeat.interval.ms", "500");
      }
      Engine engine = builder.build();
      engine.start();
      return engine;
    }

    boolean isAtTheEnd(Admin admin) throws Exception {
      assertThat(defects).isEmpty();
      for (String zone : List.of("a", "b")) {
        Map<TopicPartition, ?> committed =
            admin
                .listConsumerGroupOffsets(protocol + "-" + zone)
                .partitionsToOffsetAndMetadata()
                .get();
        if (committed.size() < PARTITIONS) {
          return false;
        }
      }
      return handled.size() >= sent.size() && lag(a) == 0 && lag(b) == 0;
    }
  }

  private static long lag(Engine engine) {
    return engine.state() instanceof EngineState.Running running ? running.watermarkLag() : -1;
  }

  @AfterEach
  void close() throws InterruptedException {
    for (Application application : applications) {
      application.a.stop();
      application.b.stop();
    }
    broker.close();
  }

  @Test
  void brokerThatRestartsAndFreezes_endsNoZone_andEachRecordIsHandledOnce() throws Exception {
    broker.createTopic(TOPIC, PARTITIONS);
    applications.add(new Application("classic"));
    applications.add(new Application("consumer"));
    Map<String, Object> config =
        Map.of(
            "bootstrap.servers",
            broker.bootstrapServers(),
            // Else it forgets the topic while its only broker is away, and each send waits.
            "metadata.recovery.strategy",
            "none",
            "delivery.timeout.ms", // a broker's start on a busy machine is in it
            600_000);
    try (Producer<byte[], byte[]> producer =
            new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
        Admin admin = Admin.create(config)) {
      for (int round = 0; round < ROUNDS; round++) {
        for (boolean restart : order()) {
          int before = handled();
          send(producer);
          eventually(() -> handled() > before);
          if (restart) {
            broker.kill();
          } else {
            broker.pause();
          }
          send(producer); // which is acknowledged once the broker is back
          requireSilent(admin);
          if (restart) {
            broker.restart();
          } else {
            broker.resume();
          }
        }
        Application restarted = applications.get(random.nextInt(applications.size()));
        restarted.a.stop();
        send(producer);
        restarted.a = restarted.start("a"); // the same static member
        producer.flush();
        for (Future<RecordMetadata> each : sends) {
          RecordMetadata _ = each.get();
        }
        sends.clear();
        for (Application application : applications) {
          eventually(() -> application.isAtTheEnd(admin));
        }
        assertThat(defects).isEmpty();
      }
    }
    for (Application application : applications) {
      assertThat(application.handled)
          .as(application.protocol)
          .doesNotHaveDuplicates()
          .containsExactlyInAnyOrderElementsOf(sent);
    }
  }

  /** Whether the broker is restarted, or frozen: both, in any order. */
  private List<Boolean> order() {
    boolean first = random.nextBoolean();
    return List.of(first, !first);
  }

  private int handled() {
    return applications.stream().mapToInt(each -> each.handled.size()).sum();
  }

  private void send(Producer<byte[], byte[]> producer) {
    for (int i = 0; i < BATCH; i++) {
      String id = "order-" + sent.size();
      sent.add(id);
      sends.add(producer.send(new ProducerRecord<>(TOPIC, id.getBytes(UTF_8), new byte[] {1})));
    }
  }

  /** The broker says nothing for as long as it is frozen, or away. */
  private static void requireSilent(Admin admin) {
    var options = new DescribeClusterOptions().timeoutMs((int) FREEZE.toMillis());
    assertThatThrownBy(() -> admin.describeCluster(options).clusterId().get())
        .cause()
        .isInstanceOf(TimeoutException.class);
  }
}
