package io.firstclaim.simulation.aws;

import java.util.Map;

/** A service of AWS's, as its protocol on the wire has it. */
interface Service {
  /** An answer of HTTP's, whose body nobody changes. */
  @SuppressWarnings("ArrayRecordComponent")
  record Answer(int status, Map<String, String> headers, byte[] body) {}

  /** Does what a request asks for. */
  Answer answer(Wire.Request request);
}
