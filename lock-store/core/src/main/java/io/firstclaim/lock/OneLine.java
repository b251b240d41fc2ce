package io.firstclaim.lock;

import java.util.regex.Pattern;

/** What others wrote, fit for one line of a log or a message. */
public final class OneLine {
  private static final Pattern CONTROLS = Pattern.compile("\\p{Cntrl}+");

  private OneLine() {}

  /** The text with one blank for line breaks and other control characters in a row. */
  public static String of(String text) {
    return CONTROLS.matcher(text).replaceAll(" ");
  }

  /** The message of a fault likewise. */
  public static String of(Throwable fault) {
    return of(String.valueOf(fault.getMessage()));
  }
}
