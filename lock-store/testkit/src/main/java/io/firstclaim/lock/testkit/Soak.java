package io.firstclaim.lock.testkit;

/**
 * How long tests look for what shows itself by chance only: a build looks for seconds, a soak
 * ({@code mvn verify -Psoak}, the system property {@code soak}) for minutes.
 */
public final class Soak {
  private Soak() {}

  /** Whether this is a soak. */
  public static boolean isOn() {
    return Boolean.getBoolean("soak");
  }

  /** How many there are in a build, or in a soak. */
  public static int times(int inBuild, int inSoak) {
    return isOn() ? inSoak : inBuild;
  }
}
