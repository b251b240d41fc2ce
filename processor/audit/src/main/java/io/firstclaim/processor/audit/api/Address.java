package io.firstclaim.processor.audit.api;

/**
 * Where another instance of the zone is asked.
 *
 * @param host its name or IP address
 * @param port of its HTTP server
 */
public record Address(String host, int port) {
  /** {@code host:port}, as a URL has it. */
  @Override
  public String toString() {
    return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
  }
}
