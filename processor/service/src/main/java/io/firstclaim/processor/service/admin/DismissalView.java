package io.firstclaim.processor.service.admin;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.firstclaim.processor.service.acts.Dismissals;
import io.micronaut.core.annotation.Introspected;

/**
 * That an operator judged a dead record to need no redrive.
 *
 * @param id of the record, printable
 * @param token of the end that was dismissed; with a higher one, the record was redriven since
 * @param by who dismissed it
 * @param reason why
 * @param at when, in ISO 8601
 */
@Introspected
@JsonInclude(JsonInclude.Include.ALWAYS)
record DismissalView(String id, long token, String by, String reason, String at) {
  static DismissalView of(Dismissals.Dismissal dismissal) {
    return new DismissalView(
        dismissal.record().text(),
        dismissal.token(),
        dismissal.by(),
        dismissal.reason(),
        dismissal.at().toString());
  }
}
