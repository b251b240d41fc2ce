package io.firstclaim.processor.service.admin;

import io.firstclaim.lock.ClaimOperations;
import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.ClaimState;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.RedriveId;
import io.firstclaim.lock.ReleaseResult;
import io.firstclaim.processor.service.acts.ActMessage;
import io.firstclaim.processor.service.acts.Dismissals;
import io.firstclaim.processor.service.acts.Dismissals.Dismissal;
import io.firstclaim.processor.service.acts.RedriveSpec;
import io.firstclaim.processor.service.config.TakesRecords;
import io.firstclaim.processor.service.redrive.Job;
import io.firstclaim.processor.service.redrive.Redrives;
import io.firstclaim.processor.service.redrive.Redrives.RepublishResult;
import io.micronaut.context.annotation.Requires;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.annotation.Body;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.annotation.PathVariable;
import io.micronaut.http.annotation.Post;
import io.micronaut.scheduling.annotation.ExecuteOn;
import io.micronaut.security.authentication.Authentication;
import jakarta.validation.Valid;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** One record. */
@Requires(condition = TakesRecords.class)
@Controller("/api/records")
@ExecuteOn(AdminThreads.NAME)
class RecordsController {
  private static final Duration MOVED_WITHIN = Duration.ofSeconds(15);

  private final ClaimOperations claims;
  private final OutcomeHistory history;
  private final Dismissals dismissals;
  private final Dismissing dismissing;
  private final Redrives redrives;
  private final Acts acts;

  RecordsController(
      ClaimOperations claims,
      OutcomeHistory history,
      Dismissals dismissals,
      Dismissing dismissing,
      Redrives redrives,
      Acts acts) {
    this.claims = claims;
    this.history = history;
    this.dismissals = dismissals;
    this.dismissing = dismissing;
    this.redrives = redrives;
    this.acts = acts;
  }

  /**
   * What the lock store has of a record now, beside its history.
   *
   * @param id as it is printed, percent-encoded
   */
  @Get("/{id:[^/]+}")
  RecordView get(HttpRequest<?> request, @PathVariable String id) {
    return view(Ids.ofPath(request));
  }

  private RecordView view(RecordId record) {
    boolean isKnown = acts.whyNotKnown().isEmpty();
    RecordView view =
        RecordView.of(
            record, claims.find(record), dismissals.of(record), history.of(record).orElse(null));
    return isKnown ? view : view.withoutDismissal();
  }

  /**
   * Frees a record that somebody holds, for the next who asks. Its holder is told with its next
   * step, and its handler may still be at work when another begins.
   *
   * @param id as it is printed, percent-encoded
   * @param body the reason, and which grant is meant
   */
  @Post("/{id:[^/]+}/release")
  @ExecuteOn(AdminThreads.OF_ACTS)
  RecordView release(
      HttpRequest<?> request,
      Authentication caller,
      @PathVariable String id,
      @Valid @Body ReleaseRequest body) {
    String reason = Reason.of(body.reason());
    RecordId record = Ids.ofPath(request);
    ReleaseResult result =
        acts.perform(
            new Acts.Intent("release", record.text(), caller.getName(), reason),
            () -> release(record, body.token(), caller.getName(), reason),
            RecordsController::text);
    return switch (result) {
      case ReleaseResult.Released _ -> view(record);
      case ReleaseResult.NotReleased(ClaimRecord present) ->
          throw Problem.conflict(
              present != null && body.token() != null && present.token() != body.token()
                  ? "record %s is %s under token %d by now, not under %d: look at it again"
                      .formatted(record, RecordView.stateOf(present), present.token(), body.token())
                  : "record %s is %s: only what is HELD can be released"
                      .formatted(record, RecordView.stateOf(present)));
    };
  }

  private ReleaseResult release(RecordId record, @Nullable Long token, String by, String reason) {
    String cause = "released by %s: %s".formatted(by, reason);
    return token == null ? claims.release(record, cause) : claims.release(record, token, cause);
  }

  private static String text(ReleaseResult result) {
    return switch (result) {
      case ReleaseResult.Released(ClaimRecord before, var _) ->
          before.state() instanceof ClaimState.Held held
              ? "taken from %s, token %d".formatted(held.holder(), before.token())
              : "done before";
      case ReleaseResult.NotReleased(ClaimRecord present) ->
          "refused, it is " + RecordView.stateOf(present);
    };
  }

  /**
   * Says that a dead record needs no redrive: it leaves the list of the dead, and redrives of many
   * pass it over.
   *
   * @param id as it is printed, percent-encoded
   * @param body the reason
   */
  @Post("/{id:[^/]+}/dismiss")
  @ExecuteOn(AdminThreads.OF_ACTS)
  RecordView dismiss(
      HttpRequest<?> request,
      Authentication caller,
      @PathVariable String id,
      @Valid @Body ActRequest body) {
    String reason = body.reasonInOneLine();
    RecordId record = Ids.ofPath(request);
    Death dead = requireDead(record, "dismissed");
    acts.perform(
        new Acts.Intent("dismiss", record.text(), caller.getName(), reason),
        () -> dismissOnce(record, dead, caller.getName(), reason),
        before -> before.map(RecordsController::text).orElse("dismissed"));
    return view(record);
  }

  /** Says by whom it was dismissed before, if it was. */
  private Optional<Dismissal> dismissOnce(RecordId record, Death dead, String by, String reason)
      throws InterruptedException {
    Optional<Dismissal> before = dismissedAt(record, dead);
    if (before.isEmpty()) {
      dismissing.dismiss(
          List.of(new ActMessage.Death(record.text(), dead.token(), dead.at().toString())),
          by,
          reason);
    }
    return before;
  }

  private Optional<Dismissal> dismissedAt(RecordId record, Death dead) {
    return dismissals.of(record).filter(last -> last.isOf(dead.token(), dead.at()));
  }

  private static String text(Dismissal dismissal) {
    return "it was dismissed by %s: %s".formatted(dismissal.by(), dismissal.reason());
  }

  /** The end of a record that was given up: when, and under which token. */
  private record Death(Instant at, long token) {
    /** Nothing is known of it, but that it may have been dead. */
    private static final Death FORGOTTEN = new Death(Instant.EPOCH, 0);

    private boolean isForgotten() {
      return equals(FORGOTTEN);
    }
  }

  private Death requireRedrivable(RecordId record, boolean mayBeDone) {
    Optional<ClaimRecord> stored = claims.find(record);
    if (stored.isEmpty()) {
      if (!mayBeDone) {
        throw Problem.conflict(
            "record %s is ABSENT: claims are forgotten after their retention, so nobody knows whether it is done since it died; with \"mayBeDone\": true its dead letter is published all the same"
                .formatted(record));
      }
      return Death.FORGOTTEN;
    }
    boolean isFreed =
        stored.get().state() instanceof ClaimState.Free
            && stored.get().redrive() != null
            && stored.get().attempts() == 0;
    return isFreed
        ? new Death(Instant.EPOCH, stored.get().token())
        : requireDead(record, "redriven");
  }

  private Death requireDead(RecordId record, String toBe) {
    Optional<ClaimRecord> stored = claims.find(record);
    if (stored.isEmpty() || !(stored.get().state() instanceof ClaimState.Dead dead)) {
      throw Problem.conflict(
          "record %s is %s: only what is DEAD can be %s"
              .formatted(record, RecordView.stateOf(stored.orElse(null)), toBe));
    }
    return new Death(dead.at(), stored.get().token());
  }

  /**
   * Frees a record that was given up, as if nobody had tried it, and publishes it again, even if it
   * was dismissed. One that a redrive has freed, and nobody has tried since, is moved too.
   *
   * @param id as it is printed, percent-encoded
   * @param body the reason, how long it is to wait, and whether it may be done since
   * @return the record, or the redrive if it takes long
   */
  @Post("/{id:[^/]+}/redrive")
  @ExecuteOn(AdminThreads.OF_ACTS)
  HttpResponse<?> redrive(
      HttpRequest<?> request,
      Authentication caller,
      @PathVariable String id,
      @Valid @Body RedriveOneRequest body)
      throws InterruptedException {
    String reason = body.reasonInOneLine();
    RecordId record = Ids.ofPath(request);
    Death dead = requireRedrivable(record, body.isKnownNotToBeKnown());
    RedriveSpec one = RedriveSpec.ofRecord(record.text()).withDelay(Delay.of(body.delay()));
    RedriveSpec spec =
        Kafka.ask(() -> redrives.freeze(dead.isForgotten() ? one.thatMayBeDone() : one, dead.at()));
    Job job =
        acts.perform(
            new Acts.Intent("redrive", record.text(), caller.getName(), reason),
            () -> redrives.begin(RedriveId.random(), spec, caller.getName(), reason).job(),
            begun ->
                "redrive "
                    + begun.id()
                    + dismissedAt(record, dead).map(each -> "; " + text(each)).orElse(""));
    if (job.notBefore().isPresent()) {
      return HttpResponse.accepted().body(RedriveView.of(job));
    }
    return switch (redrives.awaitMoved(job.id(), MOVED_WITHIN)) {
      case RepublishResult.Republished _ -> HttpResponse.ok(view(record));
      case RepublishResult.NotRepublished(String why) ->
          throw Problem.conflict("record %s was not published again: %s".formatted(record, why));
      case RepublishResult.NotKnownYet _ -> HttpResponse.accepted().body(RedriveView.of(job));
    };
  }
}
