package io.firstclaim.processor.engine.consumer;

import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.producer.Producer;

/** Makes the Kafka clients of an instance, each anew; whoever asks for one closes it. */
public interface Clients {
  /** Reads the input, in the zone's group. Offsets are committed by the poll loop alone. */
  Consumer<byte[], byte[]> input();

  /** Reads the outcomes, on its own and without a group. */
  Consumer<byte[], byte[]> outcomes();

  /** Writes outcomes, many in a request: nobody waits for one, and each request costs as much. */
  Producer<byte[], byte[]> outcomesProducer();

  /** Writes dead letters: somebody waits for each. */
  Producer<byte[], byte[]> producer();
}
