package io.firstclaim.processor.engine.intake;

import java.time.Duration;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;

/**
 * Kafka's consumer of the input, and the one that takes its place where it gives itself up. The
 * poll loop's thread uses it; {@link #wakeup} may be called by any.
 */
public final class InputConsumer {
  private final Supplier<Consumer<byte[], byte[]>> made;
  private volatile Consumer<byte[], byte[]> consumer;

  /**
   * The first one.
   *
   * @param made makes one, each time another
   */
  public InputConsumer(Supplier<Consumer<byte[], byte[]>> made) {
    this.made = made;
    this.consumer = made.get();
  }

  /** The one that is in use. */
  Consumer<byte[], byte[]> it() {
    return consumer;
  }

  /** Has another take its place, which has not subscribed to anything. */
  void replace() {
    Consumer<byte[], byte[]> before = consumer;
    consumer = made.get();
    before.close(CloseOptions.timeout(Duration.ZERO));
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
