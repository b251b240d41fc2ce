package io.firstclaim.processor.service.admin;

import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.RedriveId;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.service.acts.Acknowledgements;
import io.firstclaim.processor.service.acts.ActMessage;
import io.firstclaim.processor.service.config.TakesRecords;
import io.firstclaim.processor.service.redrive.Redrives;
import io.micronaut.context.annotation.Requires;
import io.micronaut.core.annotation.Introspected;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.annotation.Body;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.PathVariable;
import io.micronaut.http.annotation.Post;
import io.micronaut.scheduling.annotation.ExecuteOn;
import io.micronaut.security.authentication.Authentication;
import jakarta.validation.Valid;
import java.time.Instant;
import java.util.List;

/** What must not have happened, and was seen by an operator. */
@Requires(condition = TakesRecords.class)
@Controller("/api/violations")
@ExecuteOn(AdminThreads.NAME)
class ViolationsController {
  private final Acknowledgements acknowledgements;
  private final OutcomeHistory history;
  private final Redrives redrives;
  private final Acts acts;
  private final TimeSource time;

  ViolationsController(
      Acknowledgements acknowledgements,
      OutcomeHistory history,
      Redrives redrives,
      Acts acts,
      TimeSource time) {
    this.acknowledgements = acknowledgements;
    this.history = history;
    this.redrives = redrives;
    this.acts = acts;
    this.time = time;
  }

  /**
   * That a violation was seen.
   *
   * @param id of the record
   * @param by who has seen it last
   * @param reason why it needs no alert
   */
  @Introspected
  record AcknowledgementView(String id, String by, String reason, String at) {
    private static AcknowledgementView of(ActMessage.Acknowledged said) {
      return new AcknowledgementView(said.record(), said.by(), said.reason(), said.at());
    }
  }

  /**
   * Says that what must not have happened to a record was seen, and why it needs no alert any more.
   * It stays listed.
   *
   * @param id of the record, as it is printed, percent-encoded
   * @param body the reason
   */
  @Post("/{id:[^/]+}/acknowledge")
  @ExecuteOn(AdminThreads.OF_ACTS)
  AcknowledgementView acknowledge(
      HttpRequest<?> request,
      Authentication caller,
      @PathVariable String id,
      @Valid @Body ActRequest body) {
    String reason = body.reasonInOneLine();
    RecordId record = Ids.ofViolationsPath(request);
    if (history.of(record).filter(List::isEmpty).isPresent()) {
      throw Problem.missing("nothing has happened to record %s".formatted(record));
    }
    return AcknowledgementView.of(
        acts.perform(
            new Acts.Intent("acknowledge", record.text(), caller.getName(), reason),
            () -> acknowledged(record, caller.getName(), reason),
            said -> "by %s: %s".formatted(said.by(), said.reason())));
  }

  private ActMessage.Acknowledged acknowledged(RecordId record, String by, String reason)
      throws InterruptedException {
    Instant now = time.now().wall();
    redrives
        .log()
        .tell(
            new ActMessage.Acknowledged(
                RedriveId.random().text(), record.text(), by, reason, now.toString()));
    return acknowledgements.of(record, now).orElseThrow();
  }
}
