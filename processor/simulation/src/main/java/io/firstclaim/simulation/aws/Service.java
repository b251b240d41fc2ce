package io.firstclaim.simulation.aws;

import java.util.Map;

/** A service of AWS's, as its protocol on the wire has it. */
interface Service {
  /**
   * An answer of HTTP's, whose body nobody changes.
   *
   * @param whenLost told if it does not reach whoever asked
   */
  @SuppressWarnings("ArrayRecordComponent")
  record Answer(int status, Map<String, String> headers, byte[] body, Runnable whenLost) {
    /** An answer whose loss nobody is told of. */
    Answer(int status, Map<String, String> headers, byte[] body) {
      this(status, headers, body, () -> {});
    }

    Answer missedBy(Runnable told) {
      return new Answer(status, headers, body, told);
    }
  }

  /** Does what a request asks for. */
  Answer answer(Wire.Request request);
}
