package io.firstclaim.processor.service.admin;

import io.firstclaim.lock.ClaimOperations;
import io.firstclaim.lock.RedriveId;
import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.service.acts.ActMessage.Command;
import io.firstclaim.processor.service.acts.RedriveSpec;
import io.firstclaim.processor.service.config.ServiceSettings;
import io.firstclaim.processor.service.redrive.Job;
import io.firstclaim.processor.service.redrive.Redrives;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.annotation.Body;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.annotation.PathVariable;
import io.micronaut.http.annotation.Post;
import io.micronaut.scheduling.annotation.ExecuteOn;
import io.micronaut.security.authentication.Authentication;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Redrives of many records. */
@Controller("/api")
@ExecuteOn(AdminThreads.NAME)
class RedrivesController {
  private static final Set<String> FIELDS = fields();
  private static final int USUAL_LIMIT = 1_000_000;
  private static final int MOST = 10_000_000;
  private static final int USUAL_RATE = 50;
  private static final int MOST_RATE = 10_000;
  private static final int SHOWN = 20;

  private final Redrives redrives;
  private final ClaimOperations claims;
  private final EngineSettings settings;
  private final Acts acts;

  RedrivesController(
      Redrives redrives, ClaimOperations claims, ServiceSettings settings, Acts acts) {
    this.redrives = redrives;
    this.claims = claims;
    this.settings = settings.engine();
    this.acts = acts;
  }

  private static Set<String> fields() {
    Set<String> fields = new TreeSet<>(DeadFilter.FIELDS);
    fields.addAll(Set.of("id", "limit", "rate", "reason", "dryRun"));
    return Set.copyOf(fields);
  }

  /**
   * Redrives all dead letters of an input topic that pass the filter, as they stand now, but for
   * those that were dismissed. With {@code dryRun}, only says what that would be.
   *
   * @param body {@code topic} (required), {@code cause} (a part of it), {@code since}, {@code
   *     until} (ISO 8601), {@code limit}, {@code rate} (records a second), {@code reason}, {@code
   *     dryRun}; and {@code id}, if it is to be one redrive however often it is sent
   */
  @Post("/redrive")
  HttpResponse<?> begin(Authentication caller, @Body Map<String, Object> body)
      throws InterruptedException {
    Bodies.requireOnly(body, FIELDS);
    DeadFilter dead = DeadFilter.of(body, settings.input().topics());
    RedriveSpec filter = spec(dead, body);
    RedriveId id = id(body);
    if (Bodies.flag(body, "dryRun")) {
      return HttpResponse.ok(
          DryRunView.of(Kafka.ask(() -> redrives.tryOut(redrives.freeze(filter))), claims));
    }
    String reason = Bodies.reason(body);
    Job job =
        acts.perform(
            new Acts.Intent(
                "redrive",
                "all of %s, at most %d".formatted(dead, filter.limit()),
                caller.getName(),
                reason),
            () ->
                redrives.begin(
                    id, Kafka.ask(() -> redrives.freeze(filter)), caller.getName(), reason),
            begun -> "redrive " + begun.id());
    if (!job.spec().asksFor(filter)) {
      throw Problem.conflict(
          "redrive %s asks for something else: give another id".formatted(job.id()));
    }
    return HttpResponse.accepted().body(RedriveView.of(job));
  }

  private static RedriveSpec spec(DeadFilter filter, Map<String, Object> body) {
    return new RedriveSpec(
        filter.topic(),
        null,
        filter.cause(),
        filter.since(),
        filter.until(),
        Bodies.number(body, "limit", USUAL_LIMIT, 1, MOST),
        Bodies.number(body, "rate", USUAL_RATE, 1, MOST_RATE),
        List.of());
  }

  private static RedriveId id(Map<String, Object> body) {
    @Nullable String given = Bodies.text(body, "id");
    try {
      return given == null ? RedriveId.random() : new RedriveId(given);
    } catch (IllegalArgumentException e) {
      throw Problem.wrong("id: " + e.getMessage());
    }
  }

  /** The last redrives, the newest first. */
  @Get("/redrives")
  Page<RedriveView> list() {
    return new Page<>(
        redrives.all().reversed().stream().limit(SHOWN).map(RedriveView::of).toList(), null);
  }

  /** How far a redrive is. */
  @Get("/redrives/{id}")
  RedriveView get(@PathVariable String id) {
    return RedriveView.of(job(id));
  }

  private Job job(String id) {
    return redrives
        .get(id)
        .orElseThrow(
            () -> Problem.missing("there is no redrive %s, or not any more".formatted(id)));
  }

  /** Has a redrive wait; records that it has moved go on. */
  @Post("/redrives/{id}/pause")
  RedriveView pause(
      Authentication caller, @PathVariable String id, @Body Map<String, Object> body) {
    return tell(id, Command.PAUSE, caller, body);
  }

  /** Has a redrive go on that was paused, or has stopped by itself. */
  @Post("/redrives/{id}/resume")
  RedriveView resume(
      Authentication caller, @PathVariable String id, @Body Map<String, Object> body) {
    return tell(id, Command.RESUME, caller, body);
  }

  /** Ends a redrive; what it has moved stays moved. */
  @Post("/redrives/{id}/cancel")
  RedriveView cancel(
      Authentication caller, @PathVariable String id, @Body Map<String, Object> body) {
    return tell(id, Command.CANCEL, caller, body);
  }

  private RedriveView tell(
      String id, Command command, Authentication caller, Map<String, Object> body) {
    String reason = Bodies.onlyReason(body);
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
