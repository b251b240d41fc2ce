package io.firstclaim.processor.service.admin;

import io.firstclaim.lock.RedriveId;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.engine.api.Holder;
import io.firstclaim.processor.service.acts.ActMessage;
import io.firstclaim.processor.service.acts.ActMessage.Scope;
import io.firstclaim.processor.service.acts.Pauses;
import io.firstclaim.processor.service.admin.Overviews.OverviewResult;
import io.firstclaim.processor.service.admin.SummaryView.CallerView;
import io.firstclaim.processor.service.admin.SummaryView.HeardView;
import io.firstclaim.processor.service.admin.SummaryView.PauseView;
import io.firstclaim.processor.service.config.ServiceSettings;
import io.firstclaim.processor.service.config.TakesRecords;
import io.firstclaim.processor.service.instance.Pausing;
import io.firstclaim.processor.service.instance.Service;
import io.firstclaim.processor.service.metrics.EngineMetrics;
import io.firstclaim.processor.service.redrive.Redrives;
import io.firstclaim.processor.service.security.Role;
import io.micronaut.context.annotation.Requires;
import io.micronaut.http.annotation.Body;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.annotation.Post;
import io.micronaut.scheduling.annotation.ExecuteOn;
import io.micronaut.security.authentication.Authentication;
import jakarta.validation.Valid;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** This instance, and what is known of the others. */
@Requires(condition = TakesRecords.class)
@Controller("/api")
@ExecuteOn(AdminThreads.NAME)
class InstanceController {
  private final Service service;
  private final EngineSettings settings;
  private final boolean hasOperators;
  private final Redrives redrives;
  private final Overviews overviews;
  private final EngineMetrics metrics;
  private final Pausing pausing;
  private final Pauses pauses;
  private final Acts acts;
  private final TimeSource time;

  InstanceController(
      Service service,
      ServiceSettings settings,
      Redrives redrives,
      Overviews overviews,
      EngineMetrics metrics,
      Pausing pausing,
      Pauses pauses,
      Acts acts,
      TimeSource time) {
    this.service = service;
    this.settings = settings.engine();
    this.hasOperators = settings.tokenFile().isPresent();
    this.redrives = redrives;
    this.overviews = overviews;
    this.metrics = metrics;
    this.pausing = pausing;
    this.pauses = pauses;
    this.acts = acts;
    this.time = time;
  }

  /** What both zones do now. */
  @Get("/summary")
  SummaryView summary(Authentication caller) {
    return switch (overviews.now()) {
      case OverviewResult.Available(Overview overview, List<InstanceView> others) ->
          summary(caller, others, overview, null);
      case OverviewResult.Unavailable(String why) -> summary(caller, List.of(), null, why);
    };
  }

  private SummaryView summary(
      Authentication caller,
      List<InstanceView> others,
      @Nullable Overview overview,
      @Nullable String overviewFault) {
    boolean isKnown = acts.whyNotKnown().isEmpty();
    return new SummaryView(
        settings.application(),
        time.now().wall().toString(),
        new CallerView(caller.getName(), caller.getRoles().contains(Role.OPERATOR.text())),
        settings.input().topics(),
        settings.zones(),
        instance(),
        others,
        service
            .engine()
            .others()
            .map(heard -> heard.stream().map(HeardView::of).toList())
            .orElse(null),
        overview,
        overviewFault,
        isKnown
            ? redrives.all().stream().filter(job -> !job.isOver()).map(RedriveView::of).toList()
            : null,
        isKnown ? pauses.all().stream().map(PauseView::of).toList() : null);
  }

  private InstanceView instance() {
    return InstanceView.of(
        Holder.parse(settings.claim().store().holder()),
        service.state(),
        hasOperators
            ? redrives.log().fault()
            : Optional.of("firstclaim.admin.token-file, which names who may, is not set"),
        metrics.meters(),
        found());
  }

  private Optional<ShadowView> found() {
    Duration retention = settings.claim().store().retention();
    return service.engine().shadow().map(report -> ShadowView.of(report, retention));
  }

  /** What this instance has found out in shadow mode. */
  @Get("/shadow")
  ShadowView shadow() {
    return found()
        .orElseThrow(
            () ->
                Problem.conflict(
                    "this instance has nothing to say of shadow mode: it is not in it (firstclaim.mode=shadow), or does not run yet"));
  }

  /**
   * Has this instance take no more records, or its zone, or the whole application; those that they
   * have go on. That of a zone or the application outlives restarts.
   *
   * @param body why, and what is meant
   */
  @Post("/pause")
  @ExecuteOn(AdminThreads.OF_ACTS)
  InstanceView pause(Authentication caller, @Valid @Body PauseRequest body) {
    String reason = body.reasonInOneLine();
    return body.wider()
        .map(scope -> steer(true, scope, caller, reason))
        .orElseGet(
            () ->
                steer(
                    "pause",
                    caller,
                    reason,
                    () -> pausing.pause("%s: %s".formatted(caller.getName(), reason))));
  }

  /**
   * Has this instance take records again, or its zone, or the whole application: each ends the
   * pause of its own scope.
   *
   * @param body why, and what is meant
   */
  @Post("/resume")
  @ExecuteOn(AdminThreads.OF_ACTS)
  InstanceView resume(Authentication caller, @Valid @Body PauseRequest body) {
    String reason = body.reasonInOneLine();
    return body.wider()
        .map(scope -> steer(false, scope, caller, reason))
        .orElseGet(() -> steer("resume", caller, reason, pausing::resume));
  }

  private InstanceView steer(boolean paused, Scope scope, Authentication caller, String reason) {
    String zone = settings.zone();
    String name = caller.getName();
    return acts.perform(
        new Acts.Intent(
            paused ? "pause" : "resume",
            scope == Scope.ZONE ? "zone " + zone : "application " + settings.application(),
            name,
            reason),
        () -> {
          redrives
              .log()
              .tell(
                  new ActMessage.Pause(
                      RedriveId.random().text(),
                      scope,
                      zone,
                      paused,
                      name,
                      reason,
                      time.now().wall().toString()));
          return instance();
        },
        InstanceView::state);
  }

  private InstanceView steer(String name, Authentication caller, String reason, Runnable act) {
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
        InstanceView::state);
  }
}
