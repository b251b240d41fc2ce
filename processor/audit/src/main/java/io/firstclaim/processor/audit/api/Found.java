package io.firstclaim.processor.audit.api;

import io.firstclaim.lock.RecordId;
import io.firstclaim.processor.engine.api.Outcome;

/**
 * A record whose history has what was searched for.
 *
 * @param outcome the latest of its outcomes that was wanted
 */
public record Found(RecordId id, Outcome outcome) {}
