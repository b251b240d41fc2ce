package io.firstclaim.processor.engine;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.processor.engine.api.EngineCatalog;
import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.engine.api.ResourceSource;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Settings for a test, which changes what it needs. */
final class TestSettings {
  String instance = "1";
  List<String> zones = List.of();
  String recordId = "key";
  EngineSettings.Ordering ordering = EngineSettings.Ordering.UNORDERED;
  int maxInFlight = 100;
  int maxParked = 1000;
  long maxBuffered = 1 << 20;
  Duration lease = Duration.ofSeconds(30);
  boolean renew = true;
  Duration headStart = Duration.ZERO;
  EngineSettings.OnMismatch onMismatch = EngineSettings.OnMismatch.DEAD_LETTER;
  Duration handlerTimeout = Duration.ofMinutes(5);
  Optional<Integer> handlerRate = Optional.empty();
  int maxAttempts = 3;
  Duration backoff = Duration.ofMillis(10);
  List<ResourceSource> resources = List.of();
  boolean outcomes = true;
  EngineSettings.TooOld tooOld = EngineSettings.TooOld.PROCESS;
  EngineSettings.Trust trust = EngineSettings.Trust.TOPIC;
  Duration grace = Duration.ofSeconds(5);

  EngineSettings of(String zone) {
    EngineBuilder builder =
        Engine.builder()
            .zone(zone)
            .zones(zones)
            .topics("in")
            .recordId(recordId)
            .ordering(ordering)
            .maxInFlight(maxInFlight)
            .maxParked(maxParked)
            .maxBuffered(maxBuffered)
            .claims(
                new ClaimSettings(
                    "test",
                    zone + "/" + instance,
                    lease,
                    ClaimSettings.LEAST_SKEW,
                    Duration.ofDays(15)))
            .renew(renew)
            .headStart(headStart)
            .onMismatch(onMismatch)
            .set(EngineCatalog.TOO_OLD, tooOld)
            .resources(resources)
            .maxAttempts(maxAttempts)
            .backoff(backoff, Duration.ofMinutes(1))
            .handlerTimeout(handlerTimeout)
            .set(EngineCatalog.HANDLER_RATE, handlerRate)
            .outcomesTopic(TestBroker.OUTCOMES)
            .outcomesTrust(trust)
            .shutdownGrace(grace)
            .bootstrapServers("unused:9092");
    return (outcomes ? builder : builder.withoutOutcomes()).settings();
  }
}
