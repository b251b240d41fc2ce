package io.firstclaim.processor.service.redrive;

import io.firstclaim.processor.service.acts.ActMessage.End;
import io.firstclaim.processor.service.acts.RedriveCounts;
import java.util.Optional;

/**
 * How far a run of a redrive is.
 *
 * @param position up to which everything is counted
 * @param counts of what is before the position
 * @param underWay records moved after the position whose end is not known yet
 * @param note what it waits for, or why it stopped
 * @param end how the redrive ended; empty if it has not
 * @param isLast whether this run says no more, as the redrive has ended or is not to go on here
 */
record RunReport(
    Position position,
    RedriveCounts counts,
    int underWay,
    Optional<String> note,
    Optional<End> end,
    boolean isLast) {}
