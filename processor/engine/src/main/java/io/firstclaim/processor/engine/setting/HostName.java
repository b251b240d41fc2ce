package io.firstclaim.processor.engine.setting;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Optional;

/** What this machine is called. */
public final class HostName {
  private HostName() {}

  /** The name; empty if it has none that it can find. */
  public static Optional<String> find() {
    try {
      return Optional.of(InetAddress.getLocalHost().getHostName());
    } catch (UnknownHostException e) {
      return Optional.empty();
    }
  }
}
