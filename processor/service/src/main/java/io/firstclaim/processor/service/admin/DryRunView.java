package io.firstclaim.processor.service.admin;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.firstclaim.lock.ClaimOperations;
import io.firstclaim.lock.StoreException;
import io.firstclaim.processor.service.redrive.DryRun;
import io.micronaut.core.annotation.Introspected;
import java.time.Instant;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a redrive would take, or a dismissal.
 *
 * @param count of dead letters; the least there are, if not all were counted
 * @param counted the same for people, such as {@code ≥ 10,000}
 * @param isAll whether all were counted
 * @param causes how many have which cause, the most frequent first
 * @param otherCauses how many have one that is not listed
 * @param samples up to twenty of them
 * @param until the moment before which they died; sent with the same filter, it leaves out what
 *     died since. Null of a redrive of records that are named
 */
@Introspected
@JsonInclude(JsonInclude.Include.ALWAYS)
record DryRunView(
    long count,
    String counted,
    boolean isAll,
    Map<String, Long> causes,
    long otherCauses,
    List<SampleView> samples,
    @Nullable String until) {

  /**
   * A dead letter.
   *
   * @param id of its record, printable
   * @param at when it was written
   * @param topic that the record came from
   * @param state where the record stands now: one that is not DEAD is passed over
   */
  @Introspected
  record SampleView(
      String id, String cause, String at, String topic, int partition, long offset, String state) {}

  /** What a redrive would take, or a dismissal, of those that died before this moment. */
  static DryRunView of(DryRun run, @Nullable String until, ClaimOperations claims) {
    Map<String, Long> causes = new LinkedHashMap<>();
    run.causes().entrySet().stream()
        .sorted(Map.Entry.<String, Long>comparingByValue(Comparator.reverseOrder()))
        .forEach(cause -> causes.put(cause.getKey(), cause.getValue()));
    return new DryRunView(
        run.count(),
        String.format(Locale.ROOT, run.isAll() ? "%,d" : "≥ %,d", run.count()),
        run.isAll(),
        causes,
        run.otherCauses(),
        run.samples().stream().map(sample -> of(sample, claims)).toList(),
        until);
  }

  /** What a dismissal of these would take. */
  static DryRunView of(Dismissing.Found found, ClaimOperations claims) {
    DryRun.Tally tally = new DryRun.Tally();
    for (OutcomeView dead : found.dead()) {
      tally.add(
          new DryRun.Sample(
              Ids.ofText(dead.id()),
              dead.cause() == null ? "no cause was given" : dead.cause(),
              Instant.parse(dead.at()),
              dead.topic(),
              dead.partition(),
              dead.offset()));
    }
    return of(tally.end(found.isAll()), found.filter().until(), claims);
  }

  private static SampleView of(DryRun.Sample sample, ClaimOperations claims) {
    String state;
    try {
      state = RecordView.stateOf(claims.find(sample.id()).orElse(null));
    } catch (StoreException e) {
      state = "UNKNOWN";
    }
    return new SampleView(
        sample.id().text(),
        sample.cause(),
        sample.at().toString(),
        sample.topic(),
        sample.partition(),
        sample.offset(),
        state);
  }
}
