package io.firstclaim.processor.engine.consumer;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.processor.engine.config.Settings;
import io.firstclaim.processor.engine.identity.RecordIdSource;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Settings for a test, which changes what it needs. */
final class TestSettings {
  String instance = "1";
  List<String> zones = List.of();
  Settings.Ordering ordering = Settings.Ordering.UNORDERED;
  int maxInFlight = 100;
  int maxParked = 1000;
  Duration lease = Duration.ofSeconds(30);
  boolean renew = true;
  Duration headStart = Duration.ZERO;
  Settings.OnMismatch onMismatch = Settings.OnMismatch.DEAD_LETTER;
  Duration handlerTimeout = Duration.ofMinutes(5);
  int maxAttempts = 3;
  Duration backoff = Duration.ofMillis(10);
  Optional<String> outcomes = Optional.of(TestBroker.OUTCOMES);
  Duration grace = Duration.ofSeconds(5);

  Settings of(String zone) {
    return new Settings(
        zone,
        zones,
        new Settings.Input(
            List.of("in"),
            "group-" + zone,
            List.of(new RecordIdSource.Key()),
            ordering,
            maxInFlight,
            maxParked,
            Optional.empty()),
        new Settings.Claiming(
            Settings.Backend.MEMORY,
            new ClaimSettings(
                "test", zone + "/" + instance, lease, Duration.ZERO, Duration.ofDays(8)),
            renew,
            headStart,
            onMismatch,
            "table",
            false,
            Optional.empty()),
        new Settings.Handling(
            "log",
            handlerTimeout,
            Optional.empty(),
            Duration.ofSeconds(30),
            Optional.empty(),
            Optional.empty()),
        new Settings.Retrying(maxAttempts, backoff, Duration.ofMinutes(1)),
        Optional.empty(),
        outcomes,
        grace,
        Map.of());
  }
}
