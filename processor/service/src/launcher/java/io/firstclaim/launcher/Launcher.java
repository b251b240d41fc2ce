package io.firstclaim.launcher;

import java.lang.reflect.InvocationTargetException;

/** Starts the service, or says in one line which Java it needs. Compiled for Java 8. */
public final class Launcher {
  private static final int NEEDED = 25;

  private Launcher() {}

  /** Called by {@code java -jar}. */
  public static void main(String[] args) throws Throwable {
    String running = System.getProperty("java.specification.version");
    if (feature(running) < NEEDED) {
      System.err.println(
          "Firstclaim needs Java "
              + NEEDED
              + " or later; this is Java "
              + running
              + " in "
              + System.getProperty("java.home"));
      System.exit(1);
    }
    try {
      Class.forName("io.firstclaim.processor.service.Application")
          .getMethod("main", String[].class)
          .invoke(null, (Object) args);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  private static int feature(String version) {
    return Integer.parseInt(version.startsWith("1.") ? version.substring(2) : version);
  }
}
