package io.firstclaim.stack.server;

import io.firstclaim.lock.testkit.process.JvmCommand;
import io.firstclaim.lock.testkit.process.JvmTuning;
import io.firstclaim.lock.testkit.process.StackException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * A Kafka broker with its own controller (KRaft) as a child process, on ports of 127.0.0.1 and data
 * that survive {@link #kill()} and {@link #restart()}.
 *
 * <p>Tuned for tests: one replica of everything, few internal partitions, no rebalance delay, short
 * sessions allowed. Topics are not created by merely being used: a mistyped name is an error.
 */
public final class KafkaBroker extends ServerProcess {
  private static final List<String> JVM_ARGS =
      List.of(
          "-Xms128m",
          "-Xmx512m",
          "-Djava.awt.headless=true",
          "--enable-native-access=ALL-UNNAMED",
          "--sun-misc-unsafe-memory-access=allow",
          "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
          "-Dorg.slf4j.simpleLogger.showDateTime=true",
          "-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS",
          "-Dorg.slf4j.simpleLogger.logFile=System.out");

  /**
   * For a broker that is killed: the controller lets it in again only once its old session is over.
   * Where a machine is too busy for a heartbeat in that time, its topics have no leader meanwhile.
   */
  public static final Map<String, String> SOON_BACK = Map.of("broker.session.timeout.ms", "2000");

  private final int port;
  private final Path ready;

  private KafkaBroker(
      WorkDirectory directory,
      int port,
      Map<String, String> settings,
      JvmTuning tuning,
      Uuid cluster) {
    Path properties = directory.path().resolve("server.properties");
    Path ready = directory.path().resolve("ready");
    delete(ready);
    try (Writer out = Files.newBufferedWriter(properties)) {
      properties(directory, port, settings).store(out, null);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    super(
        directory,
        "kafka.log",
        JvmCommand.ofMain("Kafka", ServerClassPath.get(), KafkaMain.class.getName())
            .withJvmArgs(JVM_ARGS)
            .withJvmArgs(tuning.jvmArgs())
            .withArgs(List.of(properties.toString(), cluster.toString(), ready.toString())),
        () -> Files.exists(ready));
    this.port = port;
    this.ready = ready;
  }

  /** Starts a broker on a directory that is deleted at {@link #close()}. */
  public static KafkaBroker start() {
    return start(JvmTuning.LONG_RUN, Map.of());
  }

  /** Starts a broker on a directory that is deleted at {@link #close()}. */
  public static KafkaBroker start(JvmTuning tuning) {
    return start(tuning, Map.of());
  }

  /** Starts a broker on a directory that is deleted at the end, with some settings changed. */
  public static KafkaBroker start(JvmTuning tuning, Map<String, String> settings) {
    return new KafkaBroker(
        WorkDirectory.temporary("firstclaim-kafka-"),
        FreePort.next(),
        settings,
        tuning,
        Uuid.randomUuid());
  }

  /**
   * The same with a second way in, for clients that something stands in front of: who comes by
   * {@code farPort} is told to go on by {@code relayPort}.
   */
  public static KafkaBroker start(
      JvmTuning tuning, Map<String, String> settings, int farPort, int relayPort) {
    int port = FreePort.next();
    int controllerPort = FreePort.next();
    Map<String, String> all = new HashMap<>(settings);
    all.put("controller.quorum.voters", "1@127.0.0.1:" + controllerPort);
    all.put("listeners", listeners(port, controllerPort) + ",FAR://127.0.0.1:" + farPort);
    all.put("advertised.listeners", "CLIENT://127.0.0.1:" + port + ",FAR://127.0.0.1:" + relayPort);
    all.put(
        "listener.security.protocol.map", "CLIENT:PLAINTEXT,CONTROLLER:PLAINTEXT,FAR:PLAINTEXT");
    return new KafkaBroker(
        WorkDirectory.temporary("firstclaim-kafka-"), port, all, tuning, Uuid.randomUuid());
  }

  /** Starts a broker with its data, settings and log in {@code directory}, which it leaves. */
  public static KafkaBroker start(Path directory, JvmTuning tuning, Map<String, String> settings) {
    return new KafkaBroker(
        WorkDirectory.kept(directory), FreePort.next(), settings, tuning, Uuid.randomUuid());
  }

  /**
   * Starts three brokers as one cluster, each on a directory that is deleted at its end. Of all
   * topics there are three replicas, two of which must have what is acknowledged, so one broker may
   * be killed.
   */
  public static List<KafkaBroker> startThree(JvmTuning tuning) {
    Uuid cluster = Uuid.randomUuid();
    List<Integer> controllers = Stream.generate(FreePort::next).limit(3).toList();
    String voters =
        IntStream.range(0, 3)
            .mapToObj(i -> "%d@127.0.0.1:%d".formatted(i + 1, controllers.get(i)))
            .collect(Collectors.joining(","));
    // Side by side: none is ready before two can elect a controller.
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<CompletableFuture<KafkaBroker>> starting =
          IntStream.range(0, 3)
              .mapToObj(
                  i ->
                      CompletableFuture.supplyAsync(
                          () -> oneOfThree(i + 1, controllers.get(i), voters, cluster, tuning),
                          threads))
              .toList();
      return starting.stream().map(CompletableFuture::join).toList();
    }
  }

  private static KafkaBroker oneOfThree(
      int node, int controllerPort, String voters, Uuid cluster, JvmTuning tuning) {
    int port = FreePort.next();
    Map<String, String> settings = new HashMap<>(SOON_BACK);
    settings.put("node.id", Integer.toString(node));
    settings.put("controller.quorum.voters", voters);
    settings.put("listeners", listeners(port, controllerPort));
    for (String replicas :
        List.of(
            "default.replication.factor",
            "offsets.topic.replication.factor",
            "transaction.state.log.replication.factor")) {
      settings.put(replicas, "3");
    }
    settings.put("min.insync.replicas", "2");
    settings.put("transaction.state.log.min.isr", "2");
    return new KafkaBroker(
        WorkDirectory.temporary("firstclaim-kafka-"), port, settings, tuning, cluster);
  }

  private static String listeners(int port, int controllerPort) {
    return "CLIENT://127.0.0.1:" + port + ",CONTROLLER://127.0.0.1:" + controllerPort;
  }

  public String bootstrapServers() {
    return "127.0.0.1:" + port;
  }

  /** A producer of texts; its user closes it. */
  public KafkaProducer<String, String> producer() {
    return new KafkaProducer<>(
        Map.of(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers()),
        new StringSerializer(),
        new StringSerializer());
  }

  /** Creates a topic and waits until it can be used. */
  public void createTopic(String name, int partitions) {
    createTopic(name, partitions, Map.of());
  }

  /** Creates a topic of this configuration and waits until it can be used. */
  public void createTopic(String name, int partitions, Map<String, String> configuration) {
    Map<String, Object> config =
        Map.of(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers());
    try (Admin admin = Admin.create(config)) {
      NewTopic topic =
          new NewTopic(name, Optional.of(partitions), Optional.empty()).configs(configuration);
      if (admin.listTopics().names().get().contains(name)) {
        throw new StackException("topic " + name + " cannot be created: it is there already");
      }
      create(admin, topic);
      awaitLeaders(admin, name, partitions);
    } catch (ExecutionException e) {
      throw new StackException("topic " + name + " cannot be created: " + e.getCause(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new StackException("interrupted while creating topic " + name, e);
    }
  }

  /** Asks again when an answer is lost, and then finds the topic that its first asking made. */
  private static void create(Admin admin, NewTopic topic)
      throws ExecutionException, InterruptedException {
    try {
      var _ = admin.createTopics(List.of(topic)).all().get();
    } catch (ExecutionException e) {
      if (!(e.getCause() instanceof TopicExistsException)) {
        throw e;
      }
    }
  }

  /**
   * Waits until the partitions' leaders know that they lead. A producer that comes earlier is
   * refused; one that was then closed has been seen waiting for its metadata in vain.
   */
  private static void awaitLeaders(Admin admin, String topic, int partitions)
      throws ExecutionException, InterruptedException {
    Map<TopicPartition, OffsetSpec> ends =
        IntStream.range(0, partitions)
            .mapToObj(partition -> new TopicPartition(topic, partition))
            .collect(Collectors.toMap(id -> id, _ -> OffsetSpec.latest()));
    long deadline = System.nanoTime() + START_TIMEOUT.toNanos();
    while (true) {
      try {
        var _ = admin.listOffsets(ends).all().get();
        return;
      } catch (ExecutionException e) {
        if (!(e.getCause() instanceof RetriableException) || System.nanoTime() > deadline) {
          throw e;
        }
        Thread.sleep(20);
      }
    }
  }

  /** Ends the broker at once (SIGKILL). */
  @Override
  public void kill() {
    super.kill();
    delete(ready);
  }

  private static void delete(Path file) {
    try {
      Files.deleteIfExists(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Properties properties(
      WorkDirectory directory, int port, Map<String, String> settings) {
    int controllerPort = FreePort.next();
    Properties properties = new Properties();
    properties.putAll(
        Map.of(
            "process.roles", "broker,controller",
            "node.id", "1",
            "controller.quorum.voters", "1@127.0.0.1:" + controllerPort,
            "listeners", listeners(port, controllerPort),
            "listener.security.protocol.map", "CLIENT:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "inter.broker.listener.name", "CLIENT",
            "controller.listener.names", "CONTROLLER",
            "log.dirs", directory.path().resolve("data").toString(),
            "auto.create.topics.enable", "false"));
    // However busy the machine is, a broker that nobody kills is no dead one.
    properties.putAll(
        Map.of("broker.session.timeout.ms", "60000", "broker.heartbeat.interval.ms", "500"));
    // What is older than its topic keeps is deleted at once, and not when a test is slow.
    properties.putAll(
        Map.of("log.initial.task.delay.ms", "1000", "log.retention.check.interval.ms", "1000"));
    properties.putAll(
        Map.of(
            "offsets.topic.replication.factor", "1",
            "offsets.topic.num.partitions", "4",
            "transaction.state.log.replication.factor", "1",
            "transaction.state.log.min.isr", "1",
            "transaction.state.log.num.partitions", "4",
            "share.coordinator.state.topic.replication.factor", "1",
            "share.coordinator.state.topic.min.isr", "1",
            "share.coordinator.state.topic.num.partitions", "4"));
    properties.putAll(
        Map.of(
            "group.initial.rebalance.delay.ms", "0",
            "group.min.session.timeout.ms", "500",
            "group.consumer.session.timeout.ms", "6000",
            "group.consumer.min.session.timeout.ms", "1000",
            "group.consumer.heartbeat.interval.ms", "500",
            "group.consumer.min.heartbeat.interval.ms", "200"));
    properties.putAll(
        Map.of(
            "num.network.threads", "2",
            "num.io.threads", "4",
            "log.cleaner.dedupe.buffer.size", "4194304"));
    properties.putAll(settings);
    return properties;
  }
}
