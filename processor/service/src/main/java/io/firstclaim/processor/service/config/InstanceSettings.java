package io.firstclaim.processor.service.config;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The settings that every instance has, whether it takes records or serves claims alone. */
public sealed interface InstanceSettings permits ServiceSettings, ClaimServerSettings {
  /** Where claims are kept, and what they have in common. */
  StoreSettings store();

  /** Who may ask over HTTP; if empty, only this machine, to read. */
  Optional<Path> tokenFile();

  /** All settings in force by their names, without secrets. */
  Map<String, String> inForce();

  /** Names of settings that were given for a backend or handler not chosen. */
  List<String> unused();
}
