package io.firstclaim.processor.service.config;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * All settings of an instance that takes no records and serves claims over HTTP, checked.
 *
 * @param store where claims are kept, and what they have in common
 * @param tokenFile who may claim; if empty, nobody
 * @param inForce all by name, without secrets
 * @param unused names of settings that were given and are about records or another backend
 */
public record ClaimServerSettings(
    StoreSettings store, Optional<Path> tokenFile, Map<String, String> inForce, List<String> unused)
    implements InstanceSettings {}
