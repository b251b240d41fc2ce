package io.firstclaim.processor.engine;

import static io.firstclaim.processor.engine.testing.Eventually.eventually;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.processor.engine.api.EngineListener;
import io.firstclaim.processor.engine.api.EngineState;
import io.firstclaim.processor.engine.testing.LocalKafka;
import io.firstclaim.processor.handler.HandlerResult;
import io.firstclaim.stack.server.FreePort;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** The engine as an application has it: its door alone, a real broker, no framework. */
@Isolated("watchdogs of other engines would be counted")
class EmbeddedEngineTest {
  private final String topic = LocalKafka.newName();
  private final Queue<String> handled = new ConcurrentLinkedQueue<>();
  private final Queue<Thread> threads = new ConcurrentLinkedQueue<>();

  private EngineBuilder builder(String bootstrapServers) {
    return Engine.builder()
        .application(topic)
        .zone("a")
        .topics(topic)
        .recordId("key")
        .bootstrapServers(bootstrapServers)
        .store(claims -> new MemoryClaimStore(claims, TimeSource.system()))
        .handler(
            record -> {
              handled.add(record.id().text());
              threads.add(Thread.currentThread());
              return HandlerResult.done();
            });
  }

  private void publish(String... keys) throws Exception {
    try (Producer<byte[], byte[]> producer =
        new KafkaProducer<>(
            Map.of("bootstrap.servers", LocalKafka.bootstrapServers()),
            new ByteArraySerializer(),
            new ByteArraySerializer())) {
      for (String key : keys) {
        Object _ =
            producer.send(new ProducerRecord<>(topic, key.getBytes(UTF_8), new byte[] {1})).get();
      }
    }
  }

  private static EngineState.Running running(Engine engine) {
    return (EngineState.Running) engine.state();
  }

  @Test
  void record_isHandledOnce_betweenStartAndStop() throws Exception {
    LocalKafka.createTopic(topic, 1);
    publish("order-1", "order-1", "order-2", "order-1");
    Queue<EngineListener.Delivered> delivered = new ConcurrentLinkedQueue<>();
    Engine engine =
        builder(LocalKafka.bootstrapServers())
            .listener(
                new EngineListener() {
                  @Override
                  public void delivered(Delivered result) {
                    delivered.add(result);
                  }
                })
            .build();
    assertThat(engine.state()).isEqualTo(new EngineState.Starting("its start"));

    engine.start();
    eventually(() -> delivered.size() == 4);
    eventually(() -> running(engine).watermarkLag() == 0 && running(engine).parked() == 0);

    assertThat(handled).containsExactlyInAnyOrder("order-1", "order-2");
    assertThat(threads).noneMatch(Thread::isVirtual);
    assertThat(delivered)
        .containsExactlyInAnyOrderElementsOf(
            List.of(
                EngineListener.Delivered.COMPLETED,
                EngineListener.Delivered.COMPLETED,
                EngineListener.Delivered.DUPLICATE,
                EngineListener.Delivered.DUPLICATE));
    assertThat(running(engine).storeFault()).isEmpty();
    assertThat(running(engine).lifeFault()).isEmpty();
    assertThat(watchdogs()).isOne();

    engine.stop();

    eventually(() -> watchdogs() == 0);

    assertThat(engine.state())
        .isInstanceOfSatisfying(
            EngineState.Ended.class, ended -> assertThat(ended.fault()).isEmpty());
    assertThatThrownBy(engine::start).isInstanceOf(IllegalStateException.class);
  }

  private static long watchdogs() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals("firstclaim-watchdog"))
        .count();
  }

  @Test
  void recordsNamedAfterTheirPlace_inATopicMadeAnew_areOthers() throws Exception {
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", LocalKafka.bootstrapServers()))) {
      MemoryClaimStore.Claims claims = new MemoryClaimStore.Claims();
      for (int made = 1; made <= 2; made++) {
        LocalKafka.createTopic(topic, 1);
        publish("order-1", "order-2");
        Engine engine =
            builder(LocalKafka.bootstrapServers())
                .recordId("offset")
                .group(topic + "-" + made)
                .store(settings -> new MemoryClaimStore(claims, settings, TimeSource.system()))
                .build();
        int expected = 2 * made;
        engine.start();
        eventually(() -> handled.size() == expected);
        engine.stop();
        admin.deleteTopics(List.of(topic)).all().get();
        eventually(() -> !admin.listTopics().names().get().contains(topic));
      }

      assertThat(handled).doesNotHaveDuplicates();
    }
  }

  private static Thread inBackground(Engine engine, AtomicReference<@Nullable Throwable> fault) {
    return Thread.ofPlatform()
        .start(
            () -> {
              try {
                engine.start();
              } catch (Exception e) {
                fault.set(e);
              }
            });
  }

  @Test
  void startThatWaits_saysForWhat_andIsEndedByAStop() throws InterruptedException {
    String nobody = "127.0.0.1:" + FreePort.next();
    AtomicReference<@Nullable Throwable> fault = new AtomicReference<>();
    Engine engine =
        builder(nobody)
            .store(
                _ -> {
                  throw new StoreUnavailableException(
                      "table is being created", new IOException("not yet"));
                })
            .build();
    Thread starting = inBackground(engine, fault);
    eventually(
        () ->
            engine
                .state()
                .equals(new EngineState.Starting("the lock store: table is being created")));

    engine.stop();

    starting.join();
    assertThat(fault.get()).isInstanceOf(InterruptedException.class);
    assertThat(engine.state()).isInstanceOf(EngineState.Ended.class);
  }

  @Test
  void kafkaThatDoesNotAnswer_isSaidAtOnce() throws InterruptedException {
    String nobody = "127.0.0.1:" + FreePort.next();
    AtomicReference<@Nullable Throwable> fault = new AtomicReference<>();
    Engine engine = builder(nobody).build();
    Thread starting = inBackground(engine, fault);
    eventually(
        () ->
            engine.state() instanceof EngineState.Starting(String what)
                && what.startsWith("Kafka: nothing answers at bootstrap.servers=" + nobody));

    engine.stop();

    starting.join();
    assertThat(fault.get()).isInstanceOf(InterruptedException.class);
  }

  @Test
  void startThatIsRefused_isTheStatesFault() {
    IllegalStateException refusal = new IllegalStateException("no such table");
    Engine engine =
        builder("127.0.0.1:" + FreePort.next())
            .store(
                _ -> {
                  throw refusal;
                })
            .build();

    assertThatThrownBy(engine::start).isSameAs(refusal);

    EngineState.Ended ended = (EngineState.Ended) engine.state();
    assertThat(ended.fault()).contains(refusal);
  }

  @Test
  void startWhoseConsumerCannotBeMade_leavesNoOtherClient() throws InterruptedException {
    LocalKafka.createTopic(topic, 1);
    Engine engine =
        builder(LocalKafka.bootstrapServers())
            .kafka("client.id", topic)
            .kafka("max.poll.interval.ms", "soon")
            .build();

    assertThatThrownBy(engine::start)
        .isInstanceOf(KafkaException.class)
        .hasMessageContaining("max.poll.interval.ms");

    eventually(() -> threadsOfClients() == 0);
  }

  /** After the last moment in which an interrupt would end the start by itself. */
  @Test
  void engineThatIsStopped_asItsStartEnds_leavesNothing() throws InterruptedException {
    LocalKafka.createTopic(topic, 1);
    AtomicReference<Engine> stopped = new AtomicReference<>();
    Engine engine =
        builder(LocalKafka.bootstrapServers())
            .withoutOutcomes()
            .kafka("client.id", topic)
            .listener(
                new EngineListener() {
                  @Override
                  public void opened(Consumer<?, ?> consumer) {
                    try {
                      stopped.get().stop();
                    } catch (InterruptedException e) {
                      throw new IllegalStateException(e);
                    }
                  }
                })
            .build();
    stopped.set(engine);

    assertThatThrownBy(engine::start).isInstanceOf(InterruptedException.class);

    assertThat(Thread.currentThread().isInterrupted()).isFalse();
    eventually(() -> watchdogs() == 0 && threadsOfClients() == 0);
    assertThat(engine.state()).isInstanceOf(EngineState.Ended.class);
  }

  private long threadsOfClients() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().contains(topic))
        .count();
  }
}
