package io.firstclaim.lock.testkit.process;

import java.util.List;

/** What a child's JVM is tuned for. */
public enum JvmTuning {
  /** To be up quickly and cheaply: tests, demonstrations. */
  SHORT_RUN,

  /** To be fast once warm, with room for all that is written: benchmarks. */
  LONG_RUN;

  /** The arguments for the JVM. */
  public List<String> jvmArgs() {
    return switch (this) {
      case SHORT_RUN -> List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData");
      case LONG_RUN -> List.of("-Xmx6g", "-XX:-UsePerfData");
    };
  }
}
