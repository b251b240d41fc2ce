package io.firstclaim.processor.engine.api;

import java.time.Instant;
import java.util.Optional;

/**
 * A record that this instance has taken and has no lease on.
 *
 * @param id printable
 * @param topic where it was delivered
 * @param partition where it was delivered
 * @param offset where it was delivered
 * @param since when it was delivered, by this machine's clock
 * @param waitsFor what stands in its way
 * @param until when that is over at the latest, or looked at again, as far as known
 * @param by who or what stands in its way, if that has a name, in one printable line
 */
public record ParkedRecord(
    String id,
    String topic,
    int partition,
    long offset,
    Instant since,
    WaitsFor waitsFor,
    Optional<Instant> until,
    Optional<String> by) {}
