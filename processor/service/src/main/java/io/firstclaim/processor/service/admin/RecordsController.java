package io.firstclaim.processor.service.admin;

import io.firstclaim.lock.RecordId;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.annotation.PathVariable;
import io.micronaut.scheduling.annotation.ExecuteOn;

/** One record. */
@Controller("/api/records")
@ExecuteOn(AdminThreads.NAME)
class RecordsController {
  private final Claims claims;
  private final Past past;

  RecordsController(Claims claims, Past past) {
    this.claims = claims;
    this.past = past;
  }

  /**
   * What the lock store has of a record now, beside its past.
   *
   * @param id percent-encoded
   */
  @Get("/{id:[^/]+}")
  RecordView get(HttpRequest<?> request, @PathVariable String id) {
    RecordId record = Ids.ofPath(request);
    return RecordView.of(record, claims.find(record), past.of(record).orElse(null));
  }
}
