package io.firstclaim.processor.engine;

import static io.firstclaim.processor.engine.testing.Eventually.eventually;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.processor.engine.api.EngineListener;
import io.firstclaim.processor.engine.api.EngineState;
import io.firstclaim.processor.engine.testing.LocalKafka;
import io.firstclaim.processor.handler.HandlerResult;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Engines that share a broker and an outcomes topic, but not a store. */
class StoresOfTheirOwnTest {
  private static final List<String> IDS =
      IntStream.range(0, 100).mapToObj(i -> "order-" + i).toList();

  private final String topic = LocalKafka.newName();

  @BeforeEach
  void createTopic() {
    LocalKafka.createTopic(topic, 4);
  }

  private void publish() {
    try (Producer<byte[], byte[]> producer =
        new KafkaProducer<>(
            Map.of("bootstrap.servers", LocalKafka.bootstrapServers()),
            new ByteArraySerializer(),
            new ByteArraySerializer())) {
      for (String id : IDS) {
        var _ = producer.send(new ProducerRecord<>(topic, id.getBytes(UTF_8), new byte[] {1}));
      }
    }
  }

  /** An engine with a store of its own, and what its handler was given. */
  private record Own(Engine engine, Queue<String> handled, Queue<String> delivered) {
    static Own of(String topic, String zone, String group) {
      Queue<String> handled = new ConcurrentLinkedQueue<>();
      Queue<String> delivered = new ConcurrentLinkedQueue<>();
      Engine engine =
          Engine.builder()
              .zone(zone)
              .group(topic + "-" + group)
              .topics(topic)
              .outcomesTopic(topic + ".outcomes")
              .recordId("key")
              .bootstrapServers(LocalKafka.bootstrapServers())
              .store(claims -> new MemoryClaimStore(claims, TimeSource.system()))
              .handler(
                  record -> {
                    handled.add(record.id().text());
                    return HandlerResult.done();
                  })
              .listener(
                  new EngineListener() {
                    @Override
                    public void delivered(Delivered result) {
                      delivered.add(result.name());
                    }
                  })
              .build();
      return new Own(engine, handled, delivered);
    }

    EngineState.Running running() {
      return (EngineState.Running) engine.state();
    }
  }

  @Test
  void twoApplications_withTablesOfTheirOwn_andOneOutcomesTopic_handleEveryRecordEach()
      throws Exception {
    publish();
    Own shop = Own.of(topic, "a", "shop");
    Own bank = Own.of(topic, "a", "bank");
    try {
      shop.engine.start();
      eventually(() -> shop.delivered.size() == IDS.size());
      bank.engine.start();
      eventually(() -> bank.delivered.size() == IDS.size());

      assertThat(shop.handled).containsExactlyInAnyOrderElementsOf(IDS);
      assertThat(bank.handled).containsExactlyInAnyOrderElementsOf(IDS);
    } finally {
      shop.engine.stop();
      bank.engine.stop();
    }
  }

  @Test
  void zonesWithDifferentStores_theSecondTakesNone_andSaysWhy_untilTheFirstIsGone()
      throws Exception {
    Own a = Own.of(topic, "a", "a");
    Own b = Own.of(topic, "b", "b");
    try {
      a.engine.start();
      eventually(() -> a.running().storeFault().isEmpty());
      b.engine.start();
      publish();
      eventually(() -> a.delivered.size() == IDS.size());

      eventually(
          () -> b.running().storeFault().filter(fault -> fault.contains("zone a")).isPresent());
      assertThat(a.handled).containsExactlyInAnyOrderElementsOf(IDS);
      assertThat(b.handled).isEmpty();
      assertThat(a.running().storeFault()).isEmpty();

      a.engine.stop();
      eventually(() -> b.running().storeFault().isEmpty());
      eventually(() -> b.delivered.size() == IDS.size());
    } finally {
      a.engine.stop();
      b.engine.stop();
    }
  }
}
