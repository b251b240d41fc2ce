package io.firstclaim.processor.engine.flow;

import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.ClaimState;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Ending;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.StoreException;
import io.firstclaim.processor.engine.api.EngineListener;
import io.firstclaim.processor.engine.api.Holder;
import io.firstclaim.processor.engine.api.RecordPosition;
import io.firstclaim.processor.engine.api.ShadowFinding;
import io.firstclaim.processor.engine.api.ShadowReport;
import io.firstclaim.processor.engine.api.ShadowSample;
import io.firstclaim.processor.handler.HandlerResult;
import io.firstclaim.processor.handler.RecordHandler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

/**
 * What shadow mode finds out. A record is done at once, and what is kept with its claim says where
 * it is in Kafka; so the store's answer to whoever comes later tells whether that is the same
 * record, or another of the same ID. Thread-safe.
 */
public final class Findings {
  /** How many samples are kept of each finding. */
  static final int SAMPLES = 20;

  private final ClaimStore store;
  private final String zone;
  private final EngineListener listener;
  private final Map<ShadowFinding, LongAdder> counts = new EnumMap<>(ShadowFinding.class);
  private final Map<ShadowFinding, List<ShadowSample>> samples =
      new EnumMap<>(ShadowFinding.class); // the lists in it are guarded by this
  private Duration longestLag = Duration.ZERO; // guarded by this

  /** Nothing is found yet. */
  public Findings(ClaimStore store, String zone, EngineListener listener) {
    this.store = store;
    this.zone = zone;
    this.listener = listener;
    for (ShadowFinding finding : ShadowFinding.values()) {
      counts.put(finding, new LongAdder());
      samples.put(finding, new ArrayList<>());
    }
  }

  /** Does nothing with a record but say where it is, for those that come after it. */
  public static RecordHandler handler() {
    return context -> new HandlerResult.Done(RecordPosition.of(context.record()).text());
  }

  /** The record is done here. */
  public void first() {
    count(ShadowFinding.FIRST);
  }

  /**
   * The record's ID was done before.
   *
   * @param result what was kept with the claim
   */
  public void done(
      RecordId id, ConsumerRecord<?, ?> record, Ending ending, @Nullable String result) {
    RecordPosition at = RecordPosition.of(record);
    RecordPosition first = RecordPosition.parse(result).orElse(null);
    if (at.equals(first)) {
      boolean isOurs = Holder.parse(ending.by()).zone().equals(zone);
      count(isOurs ? ShadowFinding.REDELIVERED : ShadowFinding.OTHER_ZONE);
      return;
    }
    count(ShadowFinding.DUPLICATE);
    keep(new ShadowSample(ShadowFinding.DUPLICATE, id.text(), at, first, ending.by(), null));
    if (first != null) {
      lags(Duration.between(first.timestamp(), at.timestamp()).abs());
    }
  }

  /** The record's ID is known with another payload. */
  public void mismatch(RecordId id, ConsumerRecord<?, ?> record) {
    count(ShadowFinding.MISMATCH);
    if (hasRoom(ShadowFinding.MISMATCH)) {
      ClaimState.Done other = ending(id).orElse(null);
      keep(
          new ShadowSample(
              ShadowFinding.MISMATCH,
              id.text(),
              RecordPosition.of(record),
              other == null ? null : RecordPosition.parse(other.result()).orElse(null),
              other == null ? null : other.by(),
              null));
    }
  }

  /** The record has no ID that can be claimed, for this cause. */
  public void noId(RecordId standIn, ConsumerRecord<?, ?> record, String cause) {
    count(ShadowFinding.NO_ID);
    keep(
        new ShadowSample(
            ShadowFinding.NO_ID, standIn.text(), RecordPosition.of(record), null, null, cause));
  }

  /** Who has done an ID, as far as the store says so now. */
  private Optional<ClaimState.Done> ending(RecordId id) {
    try {
      return store
          .find(id)
          .map(ClaimRecord::state)
          .filter(ClaimState.Done.class::isInstance)
          .map(ClaimState.Done.class::cast);
    } catch (StoreException e) {
      return Optional.empty(); // only a sample needs it, and goes without
    }
  }

  private void count(ShadowFinding finding) {
    Objects.requireNonNull(counts.get(finding)).increment();
    listener.found(finding);
  }

  private List<ShadowSample> samplesOf(ShadowFinding finding) {
    return Objects.requireNonNull(samples.get(finding));
  }

  private synchronized boolean hasRoom(ShadowFinding finding) {
    return samplesOf(finding).size() < SAMPLES;
  }

  private synchronized void keep(ShadowSample sample) {
    if (hasRoom(sample.finding())) {
      samplesOf(sample.finding()).add(sample);
    }
  }

  private synchronized void lags(Duration lag) {
    if (lag.compareTo(longestLag) > 0) {
      longestLag = lag;
    }
  }

  /** What was found out so far. */
  public synchronized ShadowReport report() {
    return new ShadowReport(
        counts.entrySet().stream()
            .collect(Collectors.toMap(Map.Entry::getKey, entry -> entry.getValue().sum())),
        longestLag,
        samples.values().stream().flatMap(List::stream).toList());
  }
}
