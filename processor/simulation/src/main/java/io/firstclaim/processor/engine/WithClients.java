package io.firstclaim.processor.engine;

import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.engine.kafka.Clients;
import java.util.function.Function;

/** Opens the builder's seam: an engine with Kafka clients that are not Kafka's. */
public final class WithClients {
  private WithClients() {}

  /** The builder, which makes engines with these. */
  public static EngineBuilder of(
      EngineBuilder builder, Function<? super EngineSettings, ? extends Clients> clients) {
    return builder.clients(clients);
  }
}
