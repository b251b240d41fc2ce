package io.firstclaim.processor.service.config;

import io.firstclaim.processor.engine.api.EngineSettings;
import java.util.List;
import java.util.Map;

/**
 * All settings of an instance, checked.
 *
 * @param engine those of the engine
 * @param backend where claims are kept
 * @param handler what is done with a record
 * @param inForce all by name, without secrets
 * @param unused names of those that were given for a backend or handler that was not chosen
 */
public record ServiceSettings(
    EngineSettings engine,
    Backend backend,
    Handling handler,
    Map<String, String> inForce,
    List<String> unused) {

  /** Without what is passed to the Kafka clients and to the handler, which may hold secrets. */
  @Override
  public String toString() {
    return "ServiceSettings" + inForce;
  }
}
