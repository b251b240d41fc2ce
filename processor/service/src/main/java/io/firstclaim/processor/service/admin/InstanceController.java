package io.firstclaim.processor.service.admin;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.engine.api.EngineState;
import io.firstclaim.processor.engine.api.Holder;
import io.firstclaim.processor.service.Service;
import io.firstclaim.processor.service.config.ServiceSettings;
import io.firstclaim.processor.service.redrive.Redrives;
import io.micronaut.core.annotation.Introspected;
import io.micronaut.http.annotation.Body;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.annotation.Post;
import io.micronaut.scheduling.annotation.ExecuteOn;
import io.micronaut.security.authentication.Authentication;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** This instance, and what is known of the others. */
@Controller("/api")
@ExecuteOn(AdminThreads.NAME)
class InstanceController {
  private final Service service;
  private final EngineSettings settings;
  private final Redrives redrives;
  private final Acts acts;
  private final TimeSource time;

  InstanceController(
      Service service, ServiceSettings settings, Redrives redrives, Acts acts, TimeSource time) {
    this.service = service;
    this.settings = settings.engine();
    this.redrives = redrives;
    this.acts = acts;
    this.time = time;
  }

  /**
   * Both zones now.
   *
   * @param at by this instance's clock
   * @param instance this instance
   * @param redrives those that are not over
   */
  @Introspected
  @JsonInclude(JsonInclude.Include.ALWAYS)
  record Summary(String application, String at, Instance instance, List<RedriveView> redrives) {}

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
   */
  @Introspected
  @JsonInclude(JsonInclude.Include.ALWAYS)
  record Instance(
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
      @Nullable String actsFault) {}

  /** Both zones now. */
  @Get("/summary")
  Summary summary() {
    return new Summary(
        settings.application(),
        time.now().wall().toString(),
        instance(),
        redrives.all().stream().filter(job -> !job.isOver()).map(RedriveView::of).toList());
  }

  private Instance instance() {
    Holder self = Holder.parse(settings.claim().store().holder());
    @Nullable String acts = redrives.log().fault().orElse(null);
    return switch (service.state()) {
      case EngineState.Running running ->
          new Instance(
              self.zone(),
              self.instance(),
              running.paused().isPresent() ? "PAUSED" : "RUNNING",
              running.paused().orElse(null),
              running.inFlight(),
              running.parked(),
              running.abandoned(),
              running.bufferedBytes(),
              running.watermarkLag(),
              running.storeFault().orElse(null),
              running.downstreamFault().orElse(null),
              running.lifeFault().orElse(null),
              acts);
      case EngineState.Starting(String what) -> idle(self, "STARTING", what, acts);
      case EngineState.Ended(Optional<Throwable> fault) ->
          idle(self, "ENDED", fault.map(String::valueOf).orElse(null), acts);
    };
  }

  private static Instance idle(
      Holder self, String state, @Nullable String why, @Nullable String acts) {
    return new Instance(
        self.zone(), self.instance(), state, why, 0, 0, 0, 0, 0, null, null, null, acts);
  }

  /** Has this instance take no more records; those it has go on. */
  @Post("/pause")
  Instance pause(Authentication caller, @Body Map<String, Object> body) {
    String reason = Bodies.onlyReason(body);
    return steer(
        "pause",
        caller,
        reason,
        () -> service.engine().pause("%s: %s".formatted(caller.getName(), reason)));
  }

  /** Has this instance take records again. */
  @Post("/resume")
  Instance resume(Authentication caller, @Body Map<String, Object> body) {
    return steer("resume", caller, Bodies.onlyReason(body), () -> service.engine().resume());
  }

  private Instance steer(String name, Authentication caller, String reason, Runnable act) {
    return acts.perform(
        new Acts.Intent(name, settings.claim().store().holder(), caller.getName(), reason),
        () -> {
          try {
            act.run();
          } catch (IllegalStateException e) {
            throw Problem.conflict("%s: %s".formatted(name, e.getMessage()));
          }
          return instance();
        },
        Instance::state);
  }
}
