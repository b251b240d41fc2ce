package io.firstclaim.processor.service.scenario;

import java.util.List;

/** The claims of a test, as the store has them. */
interface Claims extends AutoCloseable {
  /**
   * A claim, as far as tests look at it.
   *
   * @param holder who holds it or has ended it; empty if nobody
   */
  record Claim(String id, String state, long token, int attempts, String holder) {}

  /** All claims but those of the warm-up. */
  List<Claim> all();

  @Override
  void close();
}
