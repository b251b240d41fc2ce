package io.firstclaim.processor.engine.api;

import org.jspecify.annotations.Nullable;

/**
 * A delivery of which shadow mode found something out.
 *
 * @param id of the record, printable
 * @param at where it is
 * @param first where the record is that has claimed the ID; null if there is none, or that is not
 *     known
 * @param by the {@link Holder} that has done that one; null if nobody has, or that is not known
 * @param cause what is wrong with the record; null if nothing is
 */
public record ShadowSample(
    ShadowFinding finding,
    String id,
    RecordPosition at,
    @Nullable RecordPosition first,
    @Nullable String by,
    @Nullable String cause) {}
