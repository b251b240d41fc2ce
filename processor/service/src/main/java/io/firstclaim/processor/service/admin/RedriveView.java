package io.firstclaim.processor.service.admin;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.firstclaim.processor.service.redrive.Job;
import io.micronaut.core.annotation.Introspected;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How far a redrive is.
 *
 * @param state RUNNING, PAUSED, STOPPED (most died again; it may be resumed), CANCELLED or DONE
 * @param topic its filter: the input topic
 * @param record its filter: the only record
 * @param ids its filter: the only records
 * @param cause its filter
 * @param since its filter
 * @param until its filter
 * @param limit how many records it moves at most
 * @param rate how many in a second at most
 * @param notBefore the moment before which it moves nothing
 * @param by who began it
 * @param reason why
 * @param at when
 * @param moved records freed and published again
 * @param completed of those moved, done
 * @param diedAgain of those moved, given up again
 * @param underWay of those moved, neither yet
 * @param open of those moved, not known any more
 * @param failed records that could not be published, and are dead as they were
 * @param skipped dead letters passed over, by why
 * @param read offsets read of its dead letters' partitions
 * @param size offsets it has to read, as they stood at its beginning
 * @param instance that works on it, or did last
 * @param note what it waits for, or why it stands
 */
@Introspected
@JsonInclude(JsonInclude.Include.ALWAYS)
record RedriveView(
    String id,
    String state,
    @Nullable String topic,
    @Nullable String record,
    @Nullable List<String> ids,
    @Nullable String cause,
    @Nullable String since,
    @Nullable String until,
    int limit,
    int rate,
    @Nullable String notBefore,
    String by,
    String reason,
    String at,
    long moved,
    long completed,
    long diedAgain,
    long underWay,
    long open,
    long failed,
    Map<String, Long> skipped,
    long read,
    long size,
    String instance,
    @Nullable String note) {

  static RedriveView of(Job job) {
    var spec = job.spec();
    var selection = spec.selection();
    var counts = job.counts();
    return new RedriveView(
        job.id(),
        job.state().name(),
        selection.topic(),
        selection.record(),
        selection.ids(),
        selection.cause(),
        selection.since(),
        selection.until(),
        spec.limit(),
        spec.rate(),
        job.notBefore().map(Instant::toString).orElse(null),
        job.by(),
        job.reason(),
        job.at(),
        counts.moved() + job.underWay(),
        counts.completed(),
        counts.diedAgain(),
        job.underWay(),
        counts.open(),
        counts.failed(),
        counts.skipped(),
        job.read(),
        job.size(),
        job.instance(),
        job.note());
  }
}
