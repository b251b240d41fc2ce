package io.firstclaim.processor.service.config;

import io.firstclaim.processor.audit.api.AuditSettings;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The audit of an instance.
 *
 * @param settings what it is made with
 * @param off why it does not run; empty if it does
 * @param tokenFile with the token that other instances of the zone are asked with
 */
public record Auditing(AuditSettings settings, Optional<String> off, Optional<Path> tokenFile) {}
