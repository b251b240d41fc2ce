package io.firstclaim.processor.service.log;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * The log of Kafka's clients, which warn of each failed connection: several times a second while a
 * broker is away.
 */
public final class KafkaClientLog {
  private static final String CLIENTS = "org.apache.kafka.clients";

  private KafkaClientLog() {}

  /** Lets them log only errors, while somebody else says what is being waited for. */
  public static void quiet() {
    level(Level.ERROR);
  }

  /** Lets them warn again. */
  public static void asConfigured() {
    level(null);
  }

  private static void level(@Nullable Level level) {
    if (LoggerFactory.getLogger(CLIENTS) instanceof Logger clients) {
      clients.setLevel(level);
    }
  }
}
