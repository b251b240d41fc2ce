package io.firstclaim.processor.service.admin;

import io.firstclaim.processor.engine.setting.DurationText;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** How long what is asked for is to wait. */
final class Delay {
  /** Claims of the dead are kept for longer, unless that was set to less. */
  private static final Duration LONGEST = Duration.ofDays(7);

  private static final String REMEDY = DurationText.REMEDY + ", at most 7d";

  private Delay() {}

  /**
   * The delay of this text; null for none.
   *
   * @throws Problem if it is none, or too long
   */
  static @Nullable Duration of(@Nullable String text) {
    if (text == null) {
      return null;
    }
    Duration delay;
    try {
      delay = DurationText.parse(text);
    } catch (IllegalArgumentException e) {
      throw Problem.wrong("delay", text, REMEDY);
    }
    if (delay.isNegative() || delay.compareTo(LONGEST) > 0) {
      throw Problem.wrong("delay", text, REMEDY);
    }
    return delay.isZero() ? null : delay;
  }
}
