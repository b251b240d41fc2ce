package io.firstclaim.processor.service.scenario;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.firstclaim.lock.testkit.process.JvmTuning;
import io.firstclaim.stack.server.FreePort;
import io.firstclaim.stack.server.KafkaBroker;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.awaitility.core.ThrowingRunnable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * An hour ({@code -Dtroubles.minutes}) in which a broker is killed, frozen and cut off at random,
 * under two applications of two zones each, one for each group protocol. Zone a of both, its audit
 * with it, is killed twice.
 */
@EnabledIfSystemProperty(named = "soak", matches = "true")
@Timeout(value = 3, unit = TimeUnit.HOURS)
class LongTroublesIT {
  private static final Duration LENGTH =
      Duration.ofMinutes(Integer.getInteger("troubles.minutes", 60));
  private static final int RECORDS = Integer.getInteger("troubles.records", 200_000);
  private static final int PARTITIONS = 8;
  private static final String TOPIC = "troubles";
  private static final List<String> ZONES = List.of("a", "b");

  /** How long it may take until all is done, once the troubles are over. */
  private static final Duration PATIENCE = Duration.ofMinutes(20);

  /** The heap is compared with what it was after this part of the time. */
  private static final int HEAP_PART = 6;

  private final long seed = Long.getLong("seed", System.nanoTime());
  private final Random random = new Random(seed);
  private final List<Application> applications = new ArrayList<>();
  private Instant begin = Instant.now();

  /** Two zones under one group protocol, the second of which comes to the broker by a relay. */
  private record Application(String name, Zone a, Zone b, AtomicIntegerArray calls) {
    List<Zone> zones() {
      return List.of(a, b);
    }
  }

  @Test
  void brokerInTroubleForAnHour_eachRecordIsCompletedOnce_noViolationIsTold() throws Exception {
    int far = FreePort.next();
    Map<String, String> settings = new HashMap<>(KafkaBroker.SOON_BACK);
    settings.put("offsets.topic.num.partitions", "8");
    try (Relay relay = new Relay(far);
        KafkaBroker broker = KafkaBroker.start(JvmTuning.LONG_RUN, settings, far, relay.port());
        Groups groups = new Groups(broker.bootstrapServers());
        var feeder = Executors.newSingleThreadExecutor()) {
      broker.createTopic(TOPIC, PARTITIONS);
      HttpServer sink = HttpServer.create(new InetSocketAddress(loopback(), 0), 1024);
      sink.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
      sink.start();
      for (String protocol : List.of("classic", "consumer")) {
        applications.add(application(protocol, broker, far, sink));
      }
      try {
        for (Application each : applications) {
          each.zones().forEach(Zone::launch);
          each.zones().forEach(Zone::awaitReady);
        }
        begin = Instant.now();
        Future<?> feeding = feeder.submit(() -> feed(broker));
        Map<String, Long> heap = trouble(broker, relay);
        feeding.get();
        System.out.printf("%s: all were sent%n", Instant.now());
        for (Application each : applications) {
          awaitTheEnd(each, groups);
          requireOnceEach(each, broker);
        }
        assertThat(applications).allSatisfy(each -> requireSteadyHeap(each, heap));
      } finally {
        List<Runnable> _ = feeder.shutdownNow();
        applications.forEach(each -> each.zones().forEach(Zone::close));
        sink.stop(0);
      }
    }
  }

  private static InetAddress loopback() {
    return InetAddress.getLoopbackAddress();
  }

  private Application application(String protocol, KafkaBroker broker, int far, HttpServer sink) {
    String name = "troubles-" + protocol;
    AtomicIntegerArray calls = new AtomicIntegerArray(RECORDS);
    sink.createContext(
        "/" + name,
        exchange -> {
          Call call = new Call(exchange.getRequestHeaders(), new byte[0]);
          int _ = calls.incrementAndGet(Integer.parseInt(call.id()));
          exchange.getRequestBody().close();
          exchange.sendResponseHeaders(200, -1);
          exchange.close();
        });
    String url = "http://127.0.0.1:" + sink.getAddress().getPort() + "/" + name;
    return new Application(
        name,
        zone(name, "a", broker.bootstrapServers(), url),
        zone(name, "b", "127.0.0.1:" + far, url),
        calls);
  }

  private static Zone zone(String name, String zone, String bootstrapServers, String url) {
    Path log = Path.of("target", "it", "LongTroublesIT", name + "-" + zone + ".log");
    Zone made =
        new Zone(zone, zone, log, Backend.DYNAMODB, name)
            .audited(name)
            .set("FIRSTCLAIM_AUDIT_DIRECTORY", log.resolveSibling(name + zone).toString())
            .set("FIRSTCLAIM_INPUT_TOPICS", TOPIC)
            .set("FIRSTCLAIM_INPUT_GROUP", name + "-" + zone)
            .set("FIRSTCLAIM_OUTCOMES_TOPIC", name + ".outcomes")
            .set("FIRSTCLAIM_HANDLER_HTTP_URL", url)
            .set("KAFKA_BOOTSTRAP_SERVERS", bootstrapServers);
    return name.endsWith("consumer") ? made.inNewGroupProtocol() : made;
  }

  private static Map<String, Object> client(KafkaBroker broker) {
    // Else a client forgets the topics while its only broker is away, and each send waits.
    return Map.of(
        "bootstrap.servers",
        broker.bootstrapServers(),
        "metadata.recovery.strategy",
        "none",
        "delivery.timeout.ms",
        (int) PATIENCE.toMillis());
  }

  /** Sends all records in an even flow, and sees that each is acknowledged. */
  private void feed(KafkaBroker broker) {
    var acknowledged = new ConcurrentLinkedQueue<Future<RecordMetadata>>();
    try (var producer =
        new KafkaProducer<>(client(broker), new ByteArraySerializer(), new ByteArraySerializer())) {
      for (int i = 0; i < RECORDS; i++) {
        Instant due = begin.plus(LENGTH.multipliedBy(i).dividedBy(RECORDS));
        passTime(Duration.between(Instant.now(), due));
        byte[] id = Integer.toString(i).getBytes(UTF_8);
        acknowledged.add(producer.send(new ProducerRecord<>(TOPIC, id, id)));
      }
      for (Future<RecordMetadata> each : acknowledged) {
        RecordMetadata _ = each.get();
      }
    } catch (InterruptedException | ExecutionException e) {
      throw new IllegalStateException("the records cannot be sent", e);
    }
  }

  /** Until its time is over. Returns the heap of each zone b after a part of that. */
  private Map<String, Long> trouble(KafkaBroker broker, Relay relay)
      throws IOException, InterruptedException {
    System.out.printf("%s: -Dseed=%d%n", begin, seed);
    Map<String, Long> heap = new HashMap<>();
    int kills = 0;
    while (elapsed().compareTo(LENGTH) < 0) {
      passTime(seconds(10, 40));
      if (heap.isEmpty() && elapsed().compareTo(LENGTH.dividedBy(HEAP_PART)) > 0) {
        for (Application each : applications) {
          heap.put(each.name, liveHeap(each.b));
        }
      }
      Duration length = seconds(2, 20);
      boolean kill = elapsed().compareTo(LENGTH.multipliedBy(kills + 1).dividedBy(3)) > 0;
      int kind = kill && kills < 2 ? 3 : random.nextInt(3);
      System.out.printf(
          "%s: %s for %d s%n",
          Instant.now(),
          List.of("broker killed", "broker frozen", "zone b cut off", "zone a killed").get(kind),
          length.toSeconds());
      switch (kind) {
        case 0 -> {
          broker.kill();
          passTime(length);
          broker.restart();
        }
        case 1 -> {
          broker.pause();
          passTime(length);
          broker.resume();
        }
        case 2 -> {
          relay.cutOff();
          passTime(length);
          relay.mend();
        }
        default -> {
          kills++;
          applications.forEach(each -> each.a.kill());
          passTime(length);
          applications.forEach(each -> each.a.launch());
        }
      }
      for (Application each : applications) {
        for (Zone zone : each.zones()) {
          assertThat(zone.hasEndedUnexpectedly()).as(zone::logTail).isFalse();
        }
      }
    }
    assertThat(kills).isEqualTo(2);
    return heap;
  }

  private Duration elapsed() {
    return Duration.between(begin, Instant.now());
  }

  private Duration seconds(int least, int most) {
    return Duration.ofSeconds(random.nextInt(least, most + 1));
  }

  /** The length of a trouble, or the time between two: part of what is tried, never a wait. */
  private static void passTime(Duration time) throws InterruptedException {
    if (time.isPositive()) {
      Thread.sleep(time);
    }
  }

  /** Its groups and audits have all that was sent, and what became of it. */
  private static void awaitTheEnd(Application application, Groups groups) {
    for (String zone : ZONES) {
      eventually(
          "%s, zone %s, is at the end".formatted(application.name, zone),
          () ->
              assertThat(groups.committed(application.name + "-" + zone, TOPIC))
                  .isEqualTo(groups.ends(TOPIC)));
    }
    String outcomes = application.name + ".outcomes";
    for (String zone : ZONES) {
      eventually(
          "%s, the audit of zone %s, is at the end".formatted(application.name, zone),
          () ->
              assertThat(lag(groups, application.name + "-audit-" + zone, outcomes))
                  .isBetween(0L, 100L)); // instances that are there say so all the time
    }
    for (Zone zone : application.zones()) {
      eventually(
          "the audit runs", () -> assertThat(zone.metric("firstclaim_audit_running")).isEqualTo(1));
      assertThat(zone.metric("firstclaim_violations_total"))
          .as("told by zone %s", zone.name())
          .isZero();
    }
  }

  private static void eventually(String what, ThrowingRunnable assertion) {
    Scenario.await(what).atMost(PATIENCE).ignoreExceptions().untilAsserted(assertion);
  }

  private static long lag(Groups groups, String group, String topic) {
    Map<Integer, Long> committed = groups.committed(group, topic);
    return groups.ends(topic).entrySet().stream()
        .mapToLong(end -> end.getValue() - committed.getOrDefault(end.getKey(), 0L))
        .sum();
  }

  /**
   * A handler was called for each record, and once, but for those taken over; whatever outcomes
   * there are say one completion each, and no violation stands in its topic. Outcomes may be
   * missing, where a producer gave them up while the broker was away.
   */
  private static void requireOnceEach(Application application, KafkaBroker broker) {
    Map<String, Long> completed = new HashMap<>();
    Map<String, Integer> kinds = new HashMap<>();
    for (Outcomes.Outcome outcome : outcomes(broker, application.name + ".outcomes")) {
      var _ = kinds.merge(outcome.outcome(), 1, Integer::sum);
      if (outcome.outcome().equals("COMPLETED")) {
        Long first = completed.putIfAbsent(outcome.id(), outcome.token());
        assertThat(first).as(outcome.toString()).isIn(null, outcome.token());
      }
    }
    System.out.printf(
        "%s: outcomes %s, of %d records%n", application.name, kinds, completed.size());
    assertThat(IntStream.range(0, RECORDS).filter(i -> application.calls.get(i) == 0))
        .as("records that no handler was called for")
        .isEmpty();
    assertThat(IntStream.range(0, RECORDS).filter(i -> application.calls.get(i) > 1).count())
        .as("records handled again: of those whose holders were killed")
        .isLessThanOrEqualTo(kinds.getOrDefault("TAKEN_OVER", 0));
    assertThat(read(broker, application.name + ".violations")).isEmpty();
  }

  private static List<Outcomes.Outcome> outcomes(KafkaBroker broker, String topic) {
    return read(broker, topic).stream()
        .map(Outcomes.Outcome::of)
        .filter(outcome -> !outcome.id().equals(Outcomes.PRESENCE))
        .toList();
  }

  /** All that is in a topic now. */
  private static List<ConsumerRecord<byte[], byte[]>> read(KafkaBroker broker, String topic) {
    List<ConsumerRecord<byte[], byte[]>> all = new ArrayList<>();
    try (var consumer =
        new KafkaConsumer<>(
            Map.of("bootstrap.servers", (Object) broker.bootstrapServers()),
            new ByteArrayDeserializer(),
            new ByteArrayDeserializer())) {
      List<TopicPartition> partitions =
          consumer.partitionsFor(topic).stream()
              .map(info -> new TopicPartition(topic, info.partition()))
              .toList();
      Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
      consumer.assign(partitions);
      consumer.seekToBeginning(partitions);
      while (partitions.stream()
          .anyMatch(each -> consumer.position(each) < ends.getOrDefault(each, 0L))) {
        consumer.poll(Duration.ofSeconds(1)).forEach(all::add);
      }
    }
    return all;
  }

  /** What lives in its heap after a collection, in bytes. */
  private static long liveHeap(Zone zone) {
    try {
      Process jcmd =
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
                  Long.toString(zone.pid()),
                  "GC.class_histogram")
              .start();
      try (var lines = jcmd.inputReader()) {
        String total =
            lines.lines().filter(line -> line.startsWith("Total")).findFirst().orElseThrow();
        return Long.parseLong(total.strip().split("\\s+", -1)[2]);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void requireSteadyHeap(Application application, Map<String, Long> before) {
    long now = liveHeap(application.b);
    long first = requireNonNull(before.get(application.name));
    System.out.printf(
        "%s: live heap of zone b %,d bytes, %,d at first%n", application.name, now, first);
    assertThat((double) now / first).isLessThanOrEqualTo(1.1);
  }
}
