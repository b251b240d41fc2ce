package io.firstclaim.processor.service.config;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.processor.engine.config.Settings;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Makes of what was read what the engine takes. */
final class EngineMapping {
  private EngineMapping() {}

  static Settings settings(
      String zone,
      List<String> zones,
      Settings.Input input,
      ClaimSettings claims,
      Properties.Claim claim,
      Duration handlerTimeout,
      Settings.Retrying retrying,
      Optional<String> deadLetterTopic,
      Optional<String> outcomesTopic,
      Duration grace,
      Map<String, Object> kafka) {
    return new Settings(
        zone,
        zones,
        input,
        new Settings.Claiming(
            Settings.Backend.MEMORY,
            claims,
            claim.renew(),
            claim.headStart(),
            claim.onMismatch(),
            "",
            false,
            Optional.empty()),
        new Settings.Handling(
            "", handlerTimeout, Optional.empty(), handlerTimeout, Optional.empty(), Optional.empty()),
        retrying,
        deadLetterTopic,
        outcomesTopic,
        grace,
        kafka);
  }
}
