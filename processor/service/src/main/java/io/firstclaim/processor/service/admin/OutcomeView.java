package io.firstclaim.processor.service.admin;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.firstclaim.lock.RecordId;
import io.firstclaim.processor.engine.api.Outcome;
import io.micronaut.core.annotation.Introspected;
import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * An outcome, as it is on the outcomes topic.
 *
 * @param id the record's, printable
 * @param outcome what became of the attempt
 * @param at when, in ISO 8601
 * @param millis how long the handler ran
 * @param cause why, if there is something to say
 * @param since in lists, since when the record is dead or under way
 */
@Introspected
@JsonInclude(JsonInclude.Include.ALWAYS)
record OutcomeView(
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
    @Nullable String cause,
    @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable String since) {
  /** Checks that it is about a record: what another instance sends may be anything. */
  OutcomeView {
    Objects.requireNonNull(id, "it is about no record");
  }

  static OutcomeView of(Outcome outcome) {
    return of(outcome.id(), outcome, null);
  }

  /** The last outcome of a record in a list; a long ID is cut in the outcome, and not here. */
  static OutcomeView of(RecordId id, Outcome last, Instant since) {
    return of(id.text(), last, since);
  }

  /** An outcome of a record; a long ID is cut in the outcome, and not here. */
  static OutcomeView of(RecordId id, Outcome outcome) {
    return of(id.text(), outcome, null);
  }

  private static OutcomeView of(String id, Outcome outcome, @Nullable Instant since) {
    return new OutcomeView(
        id,
        outcome.kind().name(),
        outcome.zone(),
        outcome.instance(),
        outcome.token(),
        outcome.attempt(),
        outcome.topic(),
        outcome.partition(),
        outcome.offset(),
        outcome.at().toString(),
        outcome.took().toMillis(),
        outcome.cause(),
        since == null ? null : since.toString());
  }
}
