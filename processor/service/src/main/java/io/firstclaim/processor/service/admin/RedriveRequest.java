package io.firstclaim.processor.service.admin;

import io.firstclaim.lock.RedriveId;
import io.firstclaim.processor.service.acts.RedriveSpec;
import io.firstclaim.processor.service.acts.RedriveSpec.Selection;
import io.micronaut.core.annotation.Introspected;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The body that begins a redrive of many records.
 *
 * @param id of the redrive, if it is to be one however often this is sent
 * @param topic the input topic that the records came from; it, or the IDs, must be given
 * @param ids of the records, at most 100, whatever topic they came from
 * @param cause a part of the cause they died of; null for any
 * @param since the first moment of their deaths, in ISO 8601; null for any
 * @param until the moment before which they died, in ISO 8601; null for any
 * @param limit how many records are moved at most; a million, if it is not given
 * @param rate how many are moved in a second at most; 50, if it is not given
 * @param delay how long from now the first is moved, such as {@code 10m}, at most 7 days; at once,
 *     if it is not given
 * @param reason why; a dry run needs none
 * @param dryRun whether nothing is done, but only said what would be
 */
@Introspected
record RedriveRequest(
    @Nullable String id,
    @Nullable String topic,
    @Nullable List<String> ids,
    @Nullable String cause,
    @Nullable String since,
    @Nullable String until,
    @Nullable @Min(value = 1, message = LIMIT) @Max(value = MOST, message = LIMIT) Integer limit,
    @Nullable @Min(value = 1, message = RATE) @Max(value = MOST_RATE, message = RATE) Integer rate,
    @Nullable String delay,
    @Nullable String reason,
    @Nullable Boolean dryRun) {
  private static final int MOST = 10_000_000;
  private static final int USUAL = 1_000_000;
  private static final int MOST_RATE = 10_000;
  private static final int USUAL_RATE = 50;
  private static final String LIMIT = "give a number from 1 to " + MOST;
  private static final String RATE = "give a number from 1 to " + MOST_RATE;

  /** The redrive's ID: that in the body, or one of its own. */
  RedriveId redriveId() {
    try {
      return id == null ? RedriveId.random() : new RedriveId(id);
    } catch (IllegalArgumentException e) {
      throw Problem.wrong("id", id, String.valueOf(e.getMessage()));
    }
  }

  /**
   * What the redrive is to do with which dead letters.
   *
   * @param topics the input topics
   */
  RedriveSpec spec(List<String> topics) {
    int pace = rate == null ? USUAL_RATE : rate;
    return (ids == null ? ofFilter(topics, pace) : RedriveSpec.ofIds(texts(ids), pace))
        .withDelay(Delay.of(delay));
  }

  private RedriveSpec ofFilter(List<String> topics, int pace) {
    Selection filter = DeadFilter.of(topic, cause, since, until, topics);
    return RedriveSpec.of(filter, limit == null ? USUAL : limit, pace);
  }

  private List<String> texts(List<String> given) {
    if (given.isEmpty() || given.size() > RedriveSpec.MOST_IDS) {
      throw Problem.wrong("ids", given.size(), "give 1 to %d IDs".formatted(RedriveSpec.MOST_IDS));
    }
    if (topic != null || cause != null || since != null || until != null || limit != null) {
      throw Problem.wrong("give either ids, or topic, cause, since, until and limit");
    }
    if (given.stream().anyMatch(Objects::isNull)) {
      throw Problem.wrong("ids", null, "give texts");
    }
    return given.stream().map(id -> Ids.ofText(id).text()).toList();
  }

  boolean isDryRun() {
    return Boolean.TRUE.equals(dryRun);
  }
}
