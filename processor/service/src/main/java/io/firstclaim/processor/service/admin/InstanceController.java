package io.firstclaim.processor.service.admin;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.engine.api.EngineState;
import io.firstclaim.processor.engine.api.Holder;
import io.firstclaim.processor.engine.api.OtherInstance;
import io.firstclaim.processor.service.Service;
import io.firstclaim.processor.service.config.ServiceSettings;
import io.firstclaim.processor.service.metrics.EngineMetrics;
import io.firstclaim.processor.service.metrics.Meters;
import io.firstclaim.processor.service.redrive.Redrives;
import io.firstclaim.processor.service.security.Role;
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
  private final Overviews overviews;
  private final EngineMetrics metrics;
  private final Acts acts;
  private final TimeSource time;

  InstanceController(
      Service service,
      ServiceSettings settings,
      Redrives redrives,
      Overviews overviews,
      EngineMetrics metrics,
      Acts acts,
      TimeSource time) {
    this.service = service;
    this.settings = settings.engine();
    this.redrives = redrives;
    this.overviews = overviews;
    this.metrics = metrics;
    this.acts = acts;
    this.time = time;
  }

  /**
   * Both zones now.
   *
   * @param at by this instance's clock
   * @param caller who asks
   * @param topics the input topics
   * @param zones all zones, as far as they are configured
   * @param instance this instance
   * @param others the other instances of this zone, as far as they answer
   * @param heard all instances of the application but this one, of whichever zone, by what they
   *     announce of themselves; null if that is not known
   * @param overview what became of records in all zones; null if that cannot be said now
   * @param overviewFault why not
   * @param redrives those that are not over
   */
  @Introspected
  @JsonInclude(JsonInclude.Include.ALWAYS)
  record Summary(
      String application,
      String at,
      Asker caller,
      List<String> topics,
      List<String> zones,
      Instance instance,
      List<Instance> others,
      @Nullable List<Heard> heard,
      @Nullable Overview overview,
      @Nullable String overviewFault,
      List<RedriveView> redrives) {}

  /**
   * Who asks.
   *
   * @param mayChange whether as an operator
   */
  @Introspected
  record Asker(String name, boolean mayChange) {}

  /**
   * An instance that was heard of.
   *
   * @param silentSeconds for how long it has said nothing, at most; one that lives says something
   *     every five seconds, and one that has been silent for half a minute is left out
   */
  @Introspected
  record Heard(String zone, String name, long silentSeconds) {
    private static Heard of(OtherInstance other) {
      return new Heard(other.zone(), other.instance(), other.silence().toSeconds());
    }
  }

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
      @Nullable String actsFault,
      Meters meters) {}

  /** Both zones now. */
  @Get("/summary")
  Summary summary(Authentication caller) {
    List<Instance> others = List.of();
    @Nullable Overview overview = null;
    @Nullable String fault = null;
    try {
      Overviews.Known known = overviews.now();
      overview = known.overview();
      others = known.others();
    } catch (Problem e) {
      fault = e.getMessage();
    }
    return new Summary(
        settings.application(),
        time.now().wall().toString(),
        new Asker(caller.getName(), caller.getRoles().contains(Role.OPERATOR.text())),
        settings.input().topics(),
        settings.zones(),
        instance(),
        others,
        service.engine().others().map(heard -> heard.stream().map(Heard::of).toList()).orElse(null),
        overview,
        fault,
        redrives.all().stream().filter(job -> !job.isOver()).map(RedriveView::of).toList());
  }

  private Instance instance() {
    Holder self = Holder.parse(settings.claim().store().holder());
    @Nullable String fault = redrives.log().fault().orElse(null);
    Meters counted = metrics.meters();
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
              fault,
              counted);
      case EngineState.Starting(String what) -> idle(self, "STARTING", what, fault, counted);
      case EngineState.Ended(Optional<Throwable> end) ->
          idle(self, "ENDED", end.map(OneLine::of).orElse(null), fault, counted);
    };
  }

  private static Instance idle(
      Holder self, String state, @Nullable String why, @Nullable String acts, Meters meters) {
    return new Instance(
        self.zone(), self.instance(), state, why, 0, 0, 0, 0, 0, null, null, null, acts, meters);
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
