package io.firstclaim.processor.engine.handler;

import io.firstclaim.lock.OneLine;
import org.jspecify.annotations.Nullable;

/**
 * Why an attempt failed, in its handler's words, made fit to be stored, published and logged: one
 * well-formed line of bounded length.
 */
public final class Cause {
  private static final int MAX_CODE_POINTS = 1000;

  private Cause() {}

  /** The cause to write down, from what was thrown. */
  public static String of(Throwable fault) {
    return of(fault.toString());
  }

  /** The cause to write down, from what was told. */
  public static String of(@Nullable String told) {
    if (told == null || told.isBlank()) {
      return "no cause given";
    }
    return OneLine.of(told, MAX_CODE_POINTS);
  }
}
