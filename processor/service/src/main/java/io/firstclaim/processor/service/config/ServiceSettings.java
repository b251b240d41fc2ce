package io.firstclaim.processor.service.config;

import io.firstclaim.processor.engine.api.EngineSettings;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * All settings of an instance, checked.
 *
 * @param engine the engine's settings
 * @param backend where claims are kept
 * @param handler what to do with a record
 * @param audit of what became of the records
 * @param traced whether records are traced, by Micronaut's OpenTelemetry
 * @param tokenFile who may use the admin API; if empty, only this machine, to read
 * @param inForce all by name, without secrets
 * @param unused names of settings that were given for a backend or handler not chosen
 */
public record ServiceSettings(
    EngineSettings engine,
    Backend backend,
    Handling handler,
    Auditing audit,
    boolean traced,
    Optional<Path> tokenFile,
    Map<String, String> inForce,
    List<String> unused)
    implements InstanceSettings {

  @Override
  public StoreSettings store() {
    return new StoreSettings(engine.claim().store(), backend);
  }

  /** Leaves out what is passed to the Kafka clients and to the handler, which may hold secrets. */
  @Override
  public String toString() {
    return "ServiceSettings" + inForce;
  }
}
