package io.firstclaim.lock.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The trace specification takes what the protocol may write, and names the first write it may not.
 */
class ClaimTraceTest {
  private static final Tlc TLC = new Tlc(Path.of("../../docs/tla"));

  /** A takeover of a holder that died, a release, a redrive: each write that there can be. */
  private static final String GOOD =
      """
      << [st |-> "HELD", tok |-> 1, g |-> "a1", n |-> 0, red |-> FALSE, at |-> 0, end |-> 30000, len |-> 30000],
         [st |-> "HELD", tok |-> 1, g |-> "a1", n |-> 1, red |-> FALSE, at |-> 10000, end |-> 40000, len |-> 30000],
         [st |-> "HELD", tok |-> 2, g |-> "b1", n |-> 0, red |-> FALSE, at |-> 41000, end |-> 71000, len |-> 30000],
         [st |-> "FREE", tok |-> 2, g |-> "b1", n |-> 1, red |-> FALSE, at |-> 42000, end |-> 45000, len |-> 0],
         [st |-> "HELD", tok |-> 3, g |-> "a2", n |-> 0, red |-> FALSE, at |-> 45100, end |-> 75100, len |-> 30000],
         [st |-> "DEAD", tok |-> 3, g |-> "a2", n |-> 1, red |-> FALSE, at |-> 46000, end |-> 46000, len |-> 0],
         [st |-> "FREE", tok |-> 4, g |-> "op", n |-> 0, red |-> TRUE, at |-> 50000, end |-> 0, len |-> 0],
         [st |-> "HELD", tok |-> 5, g |-> "b2", n |-> 0, red |-> TRUE, at |-> 50001, end |-> 80001, len |-> 30000],
         [st |-> "DONE", tok |-> 5, g |-> "b2", n |-> 1, red |-> TRUE, at |-> 50900, end |-> 50900, len |-> 0],
         [st |-> "ABSENT", tok |-> 0, g |-> "", n |-> 0, red |-> FALSE, at |-> 87000000, end |-> 0, len |-> 0],
         [st |-> "HELD", tok |-> 1, g |-> "c1", n |-> 0, red |-> FALSE, at |-> 87000001, end |-> 87030001, len |-> 30000] >>
      """;

  /** The first holder wakes up, and completes what another has taken over. */
  private static final String ZOMBIE =
      """
      << [st |-> "HELD", tok |-> 1, g |-> "a1", n |-> 0, red |-> FALSE, at |-> 0, end |-> 30000, len |-> 30000],
         [st |-> "HELD", tok |-> 2, g |-> "b1", n |-> 0, red |-> FALSE, at |-> 31000, end |-> 61000, len |-> 30000],
         [st |-> "DONE", tok |-> 1, g |-> "a1", n |-> 1, red |-> FALSE, at |-> 32000, end |-> 32000, len |-> 0] >>
      """;

  /** Over by the clock, but not by the skew bound: the holder may still be at work. */
  private static final String HASTY =
      """
      << [st |-> "HELD", tok |-> 1, g |-> "a1", n |-> 0, red |-> FALSE, at |-> 0, end |-> 30000, len |-> 30000],
         [st |-> "HELD", tok |-> 1, g |-> "a1", n |-> 1, red |-> FALSE, at |-> 9000, end |-> 39000, len |-> 30000],
         [st |-> "HELD", tok |-> 2, g |-> "b1", n |-> 0, red |-> FALSE, at |-> 38999, end |-> 68999, len |-> 30000] >>
      """;

  @TempDir Path scratch;

  private TlcResult check(String traces) {
    return TLC.checkTrace(
        """
        ----------------------------- MODULE TraceData -----------------------------
        MaxSkew == 1000
        Apart == 400
        Retention == 86400000
        Traces == << %s >>
        =============================================================================
        """
            .formatted(traces),
        scratch);
  }

  @Test
  void writesThatTheProtocolMayMake_areAccepted() {
    TlcResult result = check(GOOD + ", << >>");

    assertThat(result.violated()).as(result.output()).isNull();
    assertThat(result.isComplete()).isTrue();
    assertThat(result.states()).as("one after each write, and one before each trace").isEqualTo(13);
  }

  /** Or two builds on one machine would read what the other just writes. */
  @Test
  void noModule_isReadFromAFolderThatOthersWriteTo() {
    TlcResult result = check(GOOD);

    assertThat(result.output().lines().filter(line -> line.startsWith("Parsing file ")))
        .isNotEmpty()
        .allSatisfy(line -> assertThat(line).startsWith("Parsing file " + scratch));
  }

  @Test
  void aZombiesCompletion_isTheFirstIllegalWrite() {
    TlcResult result = check(GOOD + ", " + ZOMBIE);

    assertThat(result.violated()).isEqualTo("Accepted");
    assertThat(result.output())
        .contains("4: a step under another's grant")
        .containsPattern("trace = 2[^$]*step = 2|step = 2[^$]*trace = 2");
  }

  @Test
  void aTakeoverWithinTheSkewBound_isTheFirstIllegalWrite() {
    TlcResult result = check(HASTY);

    assertThat(result.violated()).isEqualTo("Accepted");
    assertThat(result.output())
        .contains("8: taken over before the lease and the skew bound are over")
        .contains("step = 2");
  }
}
