package io.firstclaim.processor.engine.api;

import java.util.regex.Pattern;

/**
 * One instance of a zone; its name is how the lock store knows the holder of a lease.
 *
 * @param zone the zone, without a slash; empty if the name does not say
 * @param instance the instance's name within it
 */
public record Holder(String zone, String instance) {
  private static final Pattern ZONE_OR_NONE = Pattern.compile("[a-z0-9-]{0,32}");

  /**
   * The holder of this name. One that does not begin with the name of a zone and a slash is taken
   * for an instance of no known zone: whoever claims outside an engine is called anything.
   */
  public static Holder parse(String name) {
    int slash = name.indexOf('/');
    return slash >= 0 && ZONE_OR_NONE.matcher(name.substring(0, slash)).matches()
        ? new Holder(name.substring(0, slash), name.substring(slash + 1))
        : new Holder("", name);
  }

  /** The name, as the lock store keeps it: {@code zone/instance}. */
  @Override
  public String toString() {
    return zone + "/" + instance;
  }
}
