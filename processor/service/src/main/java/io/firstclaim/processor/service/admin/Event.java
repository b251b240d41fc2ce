package io.firstclaim.processor.service.admin;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.micronaut.core.annotation.Introspected;
import org.jspecify.annotations.Nullable;

/**
 * An outcome, as it is on the outcomes topic.
 *
 * @param id the record's, printable
 * @param outcome what became of the attempt
 * @param at when, in ISO 8601
 * @param millis how long the handler ran
 * @param cause why, if there is something to say
 */
@Introspected
@JsonInclude(JsonInclude.Include.ALWAYS)
record Event(
    String id,
    String outcome,
    String zone,
    String instance,
    long token,
    int attempt,
    String topic,
    int partition,
    long offset,
    String at,
    long millis,
    @Nullable String cause) {}
