package io.firstclaim.processor.service.admin;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.firstclaim.processor.engine.api.RecordPosition;
import io.firstclaim.processor.engine.api.ShadowFinding;
import io.firstclaim.processor.engine.api.ShadowReport;
import io.firstclaim.processor.engine.api.ShadowSample;
import io.micronaut.core.annotation.Introspected;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What an instance in shadow mode has found out since its start. Those of one zone add up to all
 * that there is to say of the topics.
 *
 * @param records deliveries in all
 * @param ids different IDs: records that would have been handled once, in this zone or another
 * @param skipped records that would have been skipped: of other zones, redelivered, duplicates
 * @param first records that would have been handled here
 * @param otherZone the very records that another zone has done
 * @param redelivered the very records that this zone has done, delivered again by Kafka
 * @param duplicates other records of a known ID, with the same payload
 * @param mismatches other records of a known ID, with another payload
 * @param noId records that would have been dead letters, as they have no ID that can be claimed
 * @param longestLagMillis the longest time between a duplicate and the record it is one of
 * @param retentionMillis how long claims are remembered
 */
@Introspected
@JsonInclude(JsonInclude.Include.ALWAYS)
record ShadowView(
    long records,
    long ids,
    long skipped,
    long first,
    long otherZone,
    long redelivered,
    long duplicates,
    long mismatches,
    long noId,
    long longestLagMillis,
    long retentionMillis,
    List<Sample> samples) {

  /** Keeps a copy. */
  ShadowView {
    samples = List.copyOf(samples);
  }

  static ShadowView of(ShadowReport report, Duration retention) {
    long first = count(report, ShadowFinding.FIRST);
    long otherZone = count(report, ShadowFinding.OTHER_ZONE);
    long redelivered = count(report, ShadowFinding.REDELIVERED);
    long duplicates = count(report, ShadowFinding.DUPLICATE);
    long mismatches = count(report, ShadowFinding.MISMATCH);
    long noId = count(report, ShadowFinding.NO_ID);
    long skipped = otherZone + redelivered + duplicates;
    return new ShadowView(
        first + skipped + mismatches + noId,
        first + otherZone,
        skipped,
        first,
        otherZone,
        redelivered,
        duplicates,
        mismatches,
        noId,
        report.longestLag().toMillis(),
        retention.toMillis(),
        report.samples().stream().map(Sample::of).toList());
  }

  private static long count(ShadowReport report, ShadowFinding finding) {
    return Objects.requireNonNull(report.counts().get(finding));
  }

  /**
   * A record of which something was found out.
   *
   * @param finding DUPLICATE, MISMATCH or NO_ID
   * @param first the record that has claimed the ID; null if there is none, or not known
   * @param by zone and instance that have done that one; null likewise
   * @param cause why it has no ID; null if it has one
   */
  @Introspected
  @JsonInclude(JsonInclude.Include.ALWAYS)
  record Sample(
      String finding,
      String id,
      Spot at,
      @Nullable Spot first,
      @Nullable String by,
      @Nullable String cause) {
    static Sample of(ShadowSample sample) {
      RecordPosition first = sample.first();
      return new Sample(
          sample.finding().name(),
          sample.id(),
          Spot.of(sample.at()),
          first == null ? null : Spot.of(first),
          sample.by(),
          sample.cause());
    }
  }

  /**
   * Where a record is.
   *
   * @param timestamp the record's own, in ISO 8601
   */
  @Introspected
  record Spot(String topic, int partition, long offset, String timestamp) {
    static Spot of(RecordPosition position) {
      return new Spot(
          position.topic(),
          position.partition(),
          position.offset(),
          position.timestamp().toString());
    }
  }
}
