package io.firstclaim.processor.engine.testing;

import io.firstclaim.lock.testkit.process.JvmTuning;
import io.firstclaim.stack.server.KafkaBroker;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/** One broker for all tests of this JVM, each with topics of its own. It ends with the JVM. */
public final class LocalKafka {
  private static final KafkaBroker BROKER = KafkaBroker.start(JvmTuning.SHORT_RUN);
  private static final AtomicInteger TOPICS = new AtomicInteger();

  private LocalKafka() {}

  /** Where it is. */
  public static String bootstrapServers() {
    return BROKER.bootstrapServers();
  }

  /** A name that no other test has; other topics, groups and applications are named after it. */
  public static String newName() {
    return "in-" + TOPICS.incrementAndGet();
  }

  /** Creates a topic and waits until it can be used. */
  public static void createTopic(String name, int partitions) {
    BROKER.createTopic(name, partitions);
  }

  /** Creates a topic of this configuration and waits until it can be used. */
  public static void createTopic(String name, int partitions, Map<String, String> configuration) {
    BROKER.createTopic(name, partitions, configuration);
  }
}
