package io.firstclaim.processor.engine.flow;

import java.time.Duration;

/**
 * What a waiting record is woken for. Most are made beforehand: one that cannot be woken as there
 * is no memory for it would wait for ever.
 */
sealed interface Signal {
  Signal ENDED = new Ended();
  Signal YOUR_TURN = new YourTurn();
  Signal FREED = new Freed();
  Signal STOP = new Stop();

  /** Its end was announced. */
  record Ended() implements Signal {}

  /**
   * Its last attempt failed; the next one is due after this time. A duration needs no agreement of
   * clocks.
   */
  record DueIn(Duration delay) implements Signal {}

  /** It is its turn to ask whether it may try the downstream. */
  record YourTurn() implements Signal {}

  /** A resource that it waits for was heard to be free. */
  record Freed() implements Signal {}

  /** It is no longer this instance's business. */
  record Stop() implements Signal {}
}
