package io.firstclaim.processor.engine;

import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.engine.kafka.KafkaClients;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.producer.Producer;

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

  /** Looks at topics and creates them. */
  public Admin admin() {
    return clients.admin();
  }
}
