package io.firstclaim.processor.engine.intake;

import io.firstclaim.processor.engine.api.EngineListener;
import java.time.Duration;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.KafkaException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Kafka's consumer of the input, and the one that takes its place where it gives itself up. The
 * poll loop's thread uses it; {@link #wakeup} may be called by any.
 */
public final class InputConsumer {
  private static final Logger LOG = LoggerFactory.getLogger(InputConsumer.class);

  private final Supplier<Consumer<byte[], byte[]>> made;
  private final EngineListener listener;
  private volatile Consumer<byte[], byte[]> consumer;

  /**
   * The first one.
   *
   * @param made makes one, each time another
   * @param listener is told of each
   */
  public InputConsumer(Supplier<Consumer<byte[], byte[]>> made, EngineListener listener) {
    this.made = made;
    this.listener = listener;
    this.consumer = opened();
  }

  private Consumer<byte[], byte[]> opened() {
    Consumer<byte[], byte[]> next = made.get();
    listener.opened(next);
    return next;
  }

  /** The consumer that is in use. */
  Consumer<byte[], byte[]> it() {
    return consumer;
  }

  /**
   * Has another take its place, which has not subscribed to anything.
   *
   * @throws KafkaException if none can be made now: the place is not taken
   */
  void replace() {
    Consumer<byte[], byte[]> before = consumer;
    consumer = opened();
    try {
      before.close(CloseOptions.timeout(Duration.ZERO));
    } catch (KafkaException e) { // it has failed, and may fail to close too
      LOG.debug("The consumer before could not be closed in good order", e);
    }
    listener.replaced(before);
  }

  /** Ends a poll under way, or the next. */
  void wakeup() {
    consumer.wakeup();
  }

  /** Closes the one in use. */
  public void close(CloseOptions options) {
    consumer.close(options);
  }
}
