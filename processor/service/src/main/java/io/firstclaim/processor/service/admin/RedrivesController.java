package io.firstclaim.processor.service.admin;

import io.firstclaim.lock.ClaimOperations;
import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.ClaimState;
import io.firstclaim.lock.RedriveId;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.service.acts.ActMessage.Command;
import io.firstclaim.processor.service.acts.RedriveSpec;
import io.firstclaim.processor.service.acts.RedriveSpec.Selection;
import io.firstclaim.processor.service.config.ServiceSettings;
import io.firstclaim.processor.service.config.TakesRecords;
import io.firstclaim.processor.service.redrive.DryRun;
import io.firstclaim.processor.service.redrive.Job;
import io.firstclaim.processor.service.redrive.Redrives;
import io.firstclaim.processor.service.redrive.Redrives.BeginResult;
import io.micronaut.context.annotation.Requires;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.annotation.Body;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.annotation.PathVariable;
import io.micronaut.http.annotation.Post;
import io.micronaut.scheduling.annotation.ExecuteOn;
import io.micronaut.security.authentication.Authentication;
import jakarta.validation.Valid;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** Redrives of many records. */
@Requires(condition = TakesRecords.class)
@Controller("/api")
@ExecuteOn(AdminThreads.NAME)
class RedrivesController {
  /** How many that are over are listed; the others wait for somebody. */
  private static final int MOST_OVER = 20;

  private final Redrives redrives;
  private final ClaimOperations claims;
  private final EngineSettings settings;
  private final Acts acts;
  private final TimeSource time;

  RedrivesController(
      Redrives redrives,
      ClaimOperations claims,
      ServiceSettings settings,
      Acts acts,
      TimeSource time) {
    this.redrives = redrives;
    this.claims = claims;
    this.settings = settings.engine();
    this.acts = acts;
    this.time = time;
  }

  /**
   * Redrives all dead letters of an input topic that pass the filter, as they stand now, but for
   * those that were dismissed; or those of some records, by their IDs. With {@code dryRun}, only
   * says what that would be.
   *
   * @param body which, how fast, and why
   */
  @Post("/redrive")
  @ExecuteOn(AdminThreads.OF_ACTS)
  HttpResponse<?> begin(Authentication caller, @Valid @Body RedriveRequest body)
      throws InterruptedException {
    RedriveSpec filter = body.spec(settings.input().topics());
    RedriveId id = body.redriveId();
    if (body.isDryRun()) {
      acts.requireKnown(); // of what is dismissed, too
      RedriveSpec asOfNow =
          filter.before(DeadFilter.end(time.now(), settings.claim().store().maxSkew()));
      DryRun run = Kafka.ask(() -> redrives.tryOut(freeze(asOfNow)));
      return HttpResponse.ok(DryRunView.of(run, asOfNow.selection().until(), claims));
    }
    String reason = Reason.of(body.reason());
    BeginResult result =
        acts.perform(
            new Acts.Intent("redrive", text(filter), caller.getName(), reason),
            () -> redrives.begin(id, Kafka.ask(() -> freeze(filter)), caller.getName(), reason),
            RedrivesController::text);
    return switch (result) {
      case BeginResult.Begun(Job job) -> HttpResponse.accepted().body(RedriveView.of(job));
      case BeginResult.IdTaken _ -> throw Problem.conflict(text(result));
    };
  }

  private RedriveSpec freeze(RedriveSpec filter) {
    if (!(filter.selection() instanceof Selection.Named(List<String> ids))) {
      return redrives.freeze(filter);
    }
    Instant first =
        ids.stream()
            .flatMap(id -> claims.find(Ids.ofText(id)).stream())
            .map(ClaimRecord::state)
            .filter(ClaimState.Dead.class::isInstance)
            .map(state -> ((ClaimState.Dead) state).at())
            .min(Comparator.naturalOrder())
            .orElse(Instant.EPOCH);
    return redrives.freeze(filter, first);
  }

  private static String text(RedriveSpec filter) {
    return switch (filter.selection()) {
      case Selection.One(String record) -> record;
      case Selection.Named(List<String> ids) -> String.join(", ", ids);
      case Selection.Filter passing -> "all of %s, at most %d".formatted(passing, filter.limit());
    };
  }

  private static String text(BeginResult result) {
    return switch (result) {
      case BeginResult.Begun(Job job) -> "redrive " + job.id();
      case BeginResult.IdTaken(Job job) ->
          "redrive %s asks for something else: give another id".formatted(job.id());
    };
  }

  /** The redrives that are not over, and the last that are; of both, the newest first. */
  @Get("/redrives")
  ListPage<RedriveView> list() {
    acts.requireKnown();
    return ListPage.of(
        shown(redrives.all().reversed()).stream().map(RedriveView::of).toList(), null);
  }

  /** All of these that are not over, and then the first that are. */
  static List<Job> shown(List<Job> jobs) {
    Stream<Job> open = jobs.stream().filter(job -> !job.isOver());
    Stream<Job> over = jobs.stream().filter(Job::isOver).limit(MOST_OVER);
    return Stream.concat(open, over).toList();
  }

  /** How far a redrive is. */
  @Get("/redrives/{id}")
  RedriveView get(@PathVariable String id) {
    return RedriveView.of(job(id));
  }

  private Job job(String id) {
    acts.requireKnown();
    return redrives
        .get(id)
        .orElseThrow(
            () -> Problem.missing("there is no redrive %s, or not any more".formatted(id)));
  }

  /** Has a redrive wait; records that it has moved go on. */
  @Post("/redrives/{id}/pause")
  @ExecuteOn(AdminThreads.OF_ACTS)
  RedriveView pause(Authentication caller, @PathVariable String id, @Valid @Body ActRequest body) {
    return tell(id, Command.PAUSE, caller, body);
  }

  /** Has a redrive go on that was paused, or has stopped by itself. */
  @Post("/redrives/{id}/resume")
  @ExecuteOn(AdminThreads.OF_ACTS)
  RedriveView resume(Authentication caller, @PathVariable String id, @Valid @Body ActRequest body) {
    return tell(id, Command.RESUME, caller, body);
  }

  /** Ends a redrive; what it has moved stays moved. */
  @Post("/redrives/{id}/cancel")
  @ExecuteOn(AdminThreads.OF_ACTS)
  RedriveView cancel(Authentication caller, @PathVariable String id, @Valid @Body ActRequest body) {
    return tell(id, Command.CANCEL, caller, body);
  }

  private RedriveView tell(String id, Command command, Authentication caller, ActRequest body) {
    String reason = body.reasonInOneLine();
    Job job = job(id);
    String name = command.name().toLowerCase(Locale.ROOT);
    if (!Redrives.allows(job, command)) {
      throw Problem.conflict(
          "redrive %s is %s, which does not go with %s".formatted(id, job.state(), name));
    }
    Job told =
        acts.perform(
            new Acts.Intent(name + "-redrive", id, caller.getName(), reason),
            () -> redrives.tell(job, command, caller.getName(), reason),
            now -> "it is " + now.state());
    return RedriveView.of(told);
  }
}
