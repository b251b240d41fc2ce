package io.firstclaim.processor.service.admin;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.firstclaim.lock.OneLine;
import io.firstclaim.processor.engine.api.EngineState;
import io.firstclaim.processor.engine.api.EngineState.Running;
import io.firstclaim.processor.engine.api.Holder;
import io.firstclaim.processor.service.metrics.Meters;
import io.micronaut.core.annotation.Introspected;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * An instance.
 *
 * @param state STARTING, RUNNING, PAUSED or ENDED
 * @param why what it waits for, why it is paused, or why it ended
 * @param inFlight records being claimed or handled
 * @param parked records that wait
 * @param abandoned handlers that ignore being interrupted
 * @param bufferedBytes of the records in memory
 * @param watermarkLag offsets between what is settled and what was polled
 * @param storeFault why no records are claimed
 * @param downstreamFault why records wait for what handlers take them to
 * @param lifeFault why only a restart helps
 * @param actsFault why nothing can be changed here
 * @param meters what it has counted
 * @param shadow what it has found out in shadow mode; null in any other
 */
@Introspected
@JsonInclude(JsonInclude.Include.ALWAYS)
record InstanceView(
    String zone,
    String name,
    String state,
    @Nullable String why,
    int inFlight,
    int parked,
    int abandoned,
    long bufferedBytes,
    long watermarkLag,
    @Nullable String storeFault,
    @Nullable String downstreamFault,
    @Nullable String lifeFault,
    @Nullable String actsFault,
    Meters meters,
    @Nullable ShadowView shadow) {

  /**
   * This instance.
   *
   * @param actsFault why nothing can be changed here, if so
   */
  static InstanceView of(
      Holder self,
      EngineState state,
      Optional<String> actsFault,
      Meters meters,
      Optional<ShadowView> shadow) {
    Optional<Running> running =
        state instanceof Running present ? Optional.of(present) : Optional.empty();
    return new InstanceView(
        self.zone(),
        self.instance(),
        name(state),
        why(state).orElse(null),
        running.map(Running::inFlight).orElse(0),
        running.map(Running::parked).orElse(0),
        running.map(Running::abandoned).orElse(0),
        running.map(Running::bufferedBytes).orElse(0L),
        running.map(Running::watermarkLag).orElse(0L),
        running.flatMap(Running::storeFault).orElse(null),
        running.flatMap(Running::downstreamFault).orElse(null),
        running.flatMap(Running::lifeFault).orElse(null),
        actsFault.orElse(null),
        meters,
        shadow.orElse(null));
  }

  private static String name(EngineState state) {
    return switch (state) {
      case EngineState.Starting _ -> "STARTING";
      case Running running -> running.paused().isPresent() ? "PAUSED" : "RUNNING";
      case EngineState.Ended _ -> "ENDED";
    };
  }

  private static Optional<String> why(EngineState state) {
    return switch (state) {
      case EngineState.Starting(String waitsFor) -> Optional.of(waitsFor);
      case Running running -> running.paused();
      case EngineState.Ended(Optional<Throwable> fault) -> fault.map(OneLine::of);
    };
  }
}
