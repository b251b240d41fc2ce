package io.firstclaim.processor.engine.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;

/** Whatever is on the outcomes topic: anybody may write to a topic. */
class OutcomeFuzzTest {
  @FuzzTest(maxDuration = "10m")
  void anyValue_isAnOutcomeThatCanBeWrittenAgain_orNone(byte[] value) {
    Outcome.ofJson(value)
        .ifPresent(outcome -> assertThat(Outcome.ofJson(outcome.json())).contains(outcome));
  }
}
