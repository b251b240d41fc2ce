package io.firstclaim.processor.service.admin;

import io.firstclaim.processor.service.acts.RedriveSpec.Selection;
import io.micronaut.core.annotation.Introspected;
import io.swagger.v3.oas.annotations.media.Schema;
import io.swagger.v3.oas.annotations.media.Schema.RequiredMode;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The body that dismisses many dead records.
 *
 * @param topic the input topic that the records came from
 * @param cause a part of the cause they died of; null for any
 * @param since the first moment of their deaths, in ISO 8601; null for any
 * @param until the moment before which they died, in ISO 8601; null for any
 * @param limit how many are dismissed at most; as many as can be, if it is not given
 * @param reason why; a dry run needs none
 * @param dryRun whether nothing is done, but only said what would be
 */
@Introspected
record DismissRequest(
    @Schema(requiredMode = RequiredMode.REQUIRED, nullable = false) @Nullable String topic,
    @Nullable String cause,
    @Nullable String since,
    @Nullable String until,
    @Nullable
        @Min(value = 1, message = LIMIT)
        @Max(value = Dismissing.MOST_AT_ONCE, message = LIMIT)
        Integer limit,
    @Nullable String reason,
    @Nullable Boolean dryRun) {
  private static final String LIMIT = "give a number from 1 to " + Dismissing.MOST_AT_ONCE;

  /**
   * Which records are meant.
   *
   * @param topics the input topics
   */
  Selection.Filter filter(List<String> topics) {
    return DeadFilter.of(topic, cause, since, until, topics);
  }

  int most() {
    return limit == null ? Dismissing.MOST_AT_ONCE : limit;
  }

  boolean isDryRun() {
    return Boolean.TRUE.equals(dryRun);
  }
}
