package io.firstclaim.stack;

import java.io.Console;
import java.io.PrintStream;
import java.util.Optional;

/**
 * The user's terminal: lines that stay, and a progress line that is rewritten in place if it can
 * be.
 */
final class Terminal {
  private static final String TO_LINE_START_AND_CLEAR = "\r\u001b[K";

  private final PrintStream out;
  private final boolean rewrites;
  private boolean progressShown;

  Terminal(PrintStream out) {
    this.out = out;
    this.rewrites = Optional.ofNullable(System.console()).filter(Console::isTerminal).isPresent();
  }

  synchronized void say(String line) {
    clearProgress();
    out.println(line);
    out.flush();
  }

  synchronized void progress(String line) {
    clearProgress();
    if (rewrites) {
      out.print(line);
      progressShown = true;
    } else {
      out.println(line);
    }
    out.flush();
  }

  private void clearProgress() {
    if (progressShown) {
      out.print(TO_LINE_START_AND_CLEAR);
      progressShown = false;
    }
  }
}
