package io.firstclaim.lock.deduplicator;

import io.firstclaim.lock.RecordId;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;

/**
 * Counts and times runs in Micrometer, for an application that has it: the timer {@value #RUNS},
 * with how they ended as its tag {@code result}. Thread-safe.
 */
public final class RunMetrics implements RunListener {
  /** The name of the timer. */
  public static final String RUNS = "firstclaim.runs";

  private final MeterRegistry registry;

  /** Metrics in this registry. */
  public RunMetrics(MeterRegistry registry) {
    this.registry = registry;
  }

  @Override
  public void ended(RecordId id, RunResult result, Duration took) {
    Timer.builder(RUNS)
        .description("Runs of deduplicated work, by how they ended")
        .tag("result", label(result))
        .register(registry)
        .record(took);
  }

  private static String label(RunResult result) {
    return switch (result) {
      case RunResult.Ran unused -> "ran";
      case RunResult.DoneBefore unused -> "done_before";
      case RunResult.Busy unused -> "busy";
      case RunResult.NotDue unused -> "not_due";
      case RunResult.GivenUp unused -> "given_up";
      case RunResult.OtherPayload unused -> "other_payload";
      case RunResult.AttemptFailed unused -> "failed";
      case RunResult.LeaseLost unused -> "lease_lost";
      case RunResult.Unknown unused -> "unknown";
    };
  }
}
