package io.firstclaim.processor.engine.kafka;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.producer.Producer;

/** Makes the Kafka clients of an instance, a new one each time; the caller closes it. */
public interface Clients {
  /** Reads the input, in the zone's group. Offsets are committed by the poll loop alone. */
  Consumer<byte[], byte[]> input();

  /** Reads the outcomes, by itself and without a group. */
  Consumer<byte[], byte[]> outcomes();

  /** Writes outcomes, many to a request: nobody waits for one, and every request costs the same. */
  Producer<byte[], byte[]> outcomesProducer();

  /** The IDs of the input topics. */
  TopicIds topicIds();

  /** Writes dead letters: somebody waits for each. */
  Producer<byte[], byte[]> producer();

  /** Looks at topics and creates them. */
  Admin admin();

  /**
   * Whether some broker's name has an address. Without one, a client cannot even be made. A server
   * that is not written {@code host:port} counts as having one, so that the client says what is
   * wrong.
   */
  boolean hasAddress();
}
