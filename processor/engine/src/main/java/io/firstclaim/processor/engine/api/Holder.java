package io.firstclaim.processor.engine.api;

/**
 * One instance of a zone; its name is how the lock store knows the holder of a lease.
 *
 * @param zone the zone, without a slash; empty if the name does not say
 * @param instance the instance's name within it
 */
public record Holder(String zone, String instance) {
  /** The holder of this name; one without a slash is taken for an instance of no known zone. */
  public static Holder parse(String name) {
    int slash = name.indexOf('/');
    return new Holder(name.substring(0, Math.max(slash, 0)), name.substring(slash + 1));
  }

  /** The name, as the lock store keeps it: {@code zone/instance}. */
  @Override
  public String toString() {
    return zone + "/" + instance;
  }
}
