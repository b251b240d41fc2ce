package io.firstclaim.processor.engine.testing;

import io.firstclaim.stack.server.KafkaBroker;
import io.firstclaim.stack.server.SharedServers;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/** The broker that all tests of this JVM share, each with topics of its own. */
public final class LocalKafka {
  private static final KafkaBroker BROKER = SharedServers.kafka();
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
