package io.firstclaim.processor.service.acts;

import io.firstclaim.processor.engine.Engine;
import io.firstclaim.processor.engine.SideClients;
import io.firstclaim.stack.server.SharedServers;

/** Clients of the broker that all tests share. */
public final class TestSideClients {
  private TestSideClients() {}

  /** Those of an engine of which only the broker matters. */
  public static SideClients make() {
    return new SideClients(
        Engine.builder()
            .zone("a")
            .topics("in")
            .recordId("key")
            .bootstrapServers(SharedServers.kafka().bootstrapServers())
            .settings());
  }
}
