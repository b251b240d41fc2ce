package io.firstclaim.processor.engine.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;

/** An outcome is read or is none, whatever is on the topic: anybody may write there. */
class OutcomeFuzzTest {
  @FuzzTest(maxDuration = "10m")
  void anyValue_isAnOutcomeThatCanBeWrittenAgain_orNone(byte[] value) {
    Outcome.ofJson(value)
        .ifPresent(outcome -> assertThat(Outcome.ofJson(outcome.json())).contains(outcome));
  }
}
