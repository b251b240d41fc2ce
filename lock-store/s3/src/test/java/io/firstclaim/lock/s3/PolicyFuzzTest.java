package io.firstclaim.lock.s3;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;

/** Whatever a bucket has as its policy. */
class PolicyFuzzTest {
  @FuzzTest(maxDuration = "10m")
  void anyPolicy_deniesNothing_orAtLeastWhatItSays(byte[] policy) {
    for (PolicyDenial denial : PolicyDenial.in(new String(policy, UTF_8))) {
      assertThat(denial.covers(denial)).isEqualTo(denial.resource().endsWith("*"));
    }
  }
}
