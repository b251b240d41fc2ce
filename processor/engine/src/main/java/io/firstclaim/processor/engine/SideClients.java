package io.firstclaim.processor.engine;

import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.engine.kafka.KafkaClients;
import io.firstclaim.processor.engine.kafka.Topics;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/**
 * Kafka clients beside those of an engine, for whoever watches and steers it: with its connection
 * settings, outside of its group. Who makes one closes it. Thread-safe.
 */
public final class SideClients {
  private final KafkaClients clients;

  /** Clients with the settings of this engine. */
  public SideClients(EngineSettings settings) {
    this.clients = new KafkaClients(settings);
  }

  /**
   * A consumer without a group, which commits nothing, and goes on with the oldest record where its
   * offset is gone; for one thread.
   */
  public Consumer<byte[], byte[]> reader() {
    return clients.reader();
  }

  /** A producer that asks for the acknowledgement of all in-sync replicas and repeats nothing. */
  public Producer<byte[], byte[]> producer() {
    return clients.producer();
  }

  /**
   * Requires that a topic, if it is there, keeps every record of a key and takes records without
   * one.
   *
   * @param kafka the clients' settings, for the command in the message
   * @throws io.firstclaim.processor.engine.api.TopicRefusedException if it is compacted, with the
   *     command that mends it
   * @throws ExecutionException if Kafka does not say so, with its reason
   */
  public static void requireNotCompacted(Admin admin, String topic, Map<String, ?> kafka)
      throws ExecutionException, InterruptedException {
    try {
      Topics.requireNotCompacted(admin, topic, kafka);
    } catch (ExecutionException e) {
      if (!(e.getCause() instanceof UnknownTopicOrPartitionException)) {
        throw e;
      }
    }
  }

  /** Looks at topics and creates them. */
  public Admin admin() {
    return clients.admin();
  }
}
