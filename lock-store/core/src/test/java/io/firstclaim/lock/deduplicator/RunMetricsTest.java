package io.firstclaim.lock.deduplicator;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.Ending;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.RecordId;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class RunMetricsTest {
  @Test
  void runs_areTimed_byHowTheyEnded() {
    var registry = new SimpleMeterRegistry();
    var metrics = new RunMetrics(registry);
    var ending = new Ending("a", 1, 1, Instant.EPOCH);
    List<RunResult> all =
        List.of(
            new RunResult.Ran("receipt"),
            new RunResult.DoneBefore(ending, null),
            new RunResult.Busy("b", Duration.ofSeconds(1)),
            new RunResult.NotDue(Instant.EPOCH, 1),
            new RunResult.GivenUp(ending, "why"),
            new RunResult.OtherPayload(Fingerprint.none()),
            new RunResult.AttemptFailed(Instant.EPOCH, 1, new IllegalStateException()),
            new RunResult.LeaseLost(null),
            new RunResult.Unknown("why"));

    all.forEach(result -> metrics.ended(RecordId.of("id"), result, Duration.ofSeconds(2)));
    metrics.ended(RecordId.of("id"), all.getFirst(), Duration.ofSeconds(4));

    assertThat(registry.getMeters())
        .extracting(Meter::getId)
        .extracting(id -> id.getTag("result"))
        .containsExactlyInAnyOrder(
            "ran",
            "done_before",
            "busy",
            "not_due",
            "given_up",
            "other_payload",
            "failed",
            "lease_lost",
            "unknown");
    assertThat(
            registry.get(RunMetrics.RUNS).tag("result", "ran").timer().totalTime(TimeUnit.SECONDS))
        .isEqualTo(6);
  }
}
