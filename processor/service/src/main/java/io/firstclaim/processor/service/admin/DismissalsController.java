package io.firstclaim.processor.service.admin;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.firstclaim.lock.ClaimOperations;
import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.service.acts.ActMessage;
import io.firstclaim.processor.service.acts.Dismissals;
import io.firstclaim.processor.service.acts.RedriveSpec.Selection;
import io.firstclaim.processor.service.config.ServiceSettings;
import io.firstclaim.processor.service.config.TakesRecords;
import io.micronaut.context.annotation.Requires;
import io.micronaut.core.annotation.Introspected;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.annotation.Body;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.annotation.Post;
import io.micronaut.http.annotation.QueryValue;
import io.micronaut.scheduling.annotation.ExecuteOn;
import io.micronaut.security.authentication.Authentication;
import jakarta.validation.Valid;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Dead records that need no redrive, by an operator's word. */
@Requires(condition = TakesRecords.class)
@Controller("/api")
@ExecuteOn(AdminThreads.NAME)
class DismissalsController {
  private final Dismissing dismissing;
  private final Dismissals dismissals;
  private final ClaimOperations claims;
  private final EngineSettings settings;
  private final Acts acts;

  DismissalsController(
      Dismissing dismissing,
      Dismissals dismissals,
      ClaimOperations claims,
      ServiceSettings settings,
      Acts acts) {
    this.dismissing = dismissing;
    this.dismissals = dismissals;
    this.claims = claims;
    this.settings = settings.engine();
    this.acts = acts;
  }

  /**
   * How many were dismissed.
   *
   * @param isAll whether there are no others of which the filter holds: if not, send it again
   */
  @Introspected
  @JsonInclude(JsonInclude.Include.ALWAYS)
  record DismissResult(int dismissed, boolean isAll) {}

  /**
   * Dismisses the dead of an input topic that pass the filter, as they stand now: they leave the
   * list of the dead, and redrives of many pass them over. With {@code dryRun}, only says what that
   * would be.
   *
   * @param body which, and why
   */
  @Post("/dismiss")
  @ExecuteOn(AdminThreads.OF_ACTS)
  HttpResponse<?> dismiss(Authentication caller, @Valid @Body DismissRequest body) {
    Selection.Filter filter = body.filter(settings.input().topics());
    int limit = body.most();
    if (body.isDryRun()) {
      acts.requireKnown();
      return HttpResponse.ok(DryRunView.of(dismissing.find(filter, limit), claims));
    }
    String reason = Reason.of(body.reason());
    return HttpResponse.ok(
        acts.perform(
            new Acts.Intent(
                "dismiss",
                "all of %s, at most %d".formatted(filter, limit),
                caller.getName(),
                reason),
            () -> {
              Dismissing.Found found = dismissing.find(filter, limit);
              List<ActMessage.Death> deaths =
                  found.dead().stream()
                      .map(dead -> new ActMessage.Death(dead.id(), dead.token(), dead.at()))
                      .toList();
              dismissing.dismiss(deaths, caller.getName(), reason);
              return new DismissResult(deaths.size(), found.isAll());
            },
            done -> "%d dismissed".formatted(done.dismissed())));
  }

  /** The dead that were dismissed, or were so before they were redriven; by their IDs. */
  @Get("/dismissed")
  ListPage<DismissalView> list(
      @Nullable @QueryValue Integer limit, @Nullable @QueryValue("after") String after) {
    int most = ListPage.limit(limit);
    acts.requireKnown();
    List<DismissalView> found =
        dismissals.page(most + 1, after == null ? null : Ids.ofText(after)).stream()
            .map(DismissalView::of)
            .toList();
    return found.size() > most
        ? ListPage.of(found.subList(0, most), found.get(most - 1).id())
        : ListPage.of(found, null);
  }
}
