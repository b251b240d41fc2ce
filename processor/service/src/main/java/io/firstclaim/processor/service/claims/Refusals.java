package io.firstclaim.processor.service.claims;

import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.RecordId;
import io.micronaut.http.HttpHeaders;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.HttpStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.stream.Collectors;

/** The answers to claims that were not granted. */
final class Refusals {
  private static final int MAX_SHOWN = 200;

  private Refusals() {}

  static HttpResponse<?> held(RecordId id, ClaimResult.Held held) {
    StateView body =
        StateView.of("HELD")
            .by(held.by(), held.token())
            .withError("%s: %s holds it".formatted(name(id), OneLine.of(held.by(), MAX_SHOWN)));
    return later(body, held.remaining());
  }

  static HttpResponse<?> blocked(RecordId id, ClaimResult.Blocked blocked) {
    String by =
        blocked.inTheWay().stream()
            .map(
                each ->
                    "%s holds %s"
                        .formatted(
                            each.by() == null ? "nobody" : OneLine.of(each.by(), MAX_SHOWN),
                            name(each.id())))
            .collect(Collectors.joining("; "));
    StateView body =
        new StateView(
            "%s: %s".formatted(name(id), by),
            "BLOCKED",
            null,
            null,
            null,
            null,
            null,
            null,
            null,
            null,
            null,
            null,
            blocked.inTheWay().stream().map(StateView.InTheWayView::of).toList());
    return later(body, blocked.remaining());
  }

  static HttpResponse<?> notDue(RecordId id, ClaimResult.Later later, Instant now) {
    String due = later.retryAt().toString();
    StateView body =
        new StateView(
            "%s: its next attempt is due at %s".formatted(name(id), due),
            "FREE",
            null,
            null,
            null,
            null,
            null,
            later.attempts(),
            null,
            later.retryAt().equals(ClaimStore.AT_ONCE) ? null : due,
            null,
            null,
            null);
    return later(body, Duration.between(now, later.retryAt()));
  }

  static HttpResponse<?> done(ClaimResult.Done done) {
    return HttpResponse.ok(
        new StateView(
            null,
            "DONE",
            done.result(),
            null,
            done.ending().by(),
            null,
            done.ending().token(),
            done.ending().attempt(),
            done.ending().at().toString(),
            null,
            null,
            null,
            null));
  }

  static HttpResponse<?> dead(RecordId id, ClaimResult.Dead dead) {
    return HttpResponse.status(HttpStatus.GONE)
        .body(
            new StateView(
                "%s was given up after %d attempts: %s; an operator may redrive it"
                    .formatted(
                        name(id), dead.ending().attempt(), OneLine.of(dead.cause(), MAX_SHOWN)),
                "DEAD",
                null,
                dead.cause(),
                dead.ending().by(),
                null,
                dead.ending().token(),
                dead.ending().attempt(),
                dead.ending().at().toString(),
                null,
                null,
                null,
                null));
  }

  static HttpResponse<?> mismatch(RecordId id, ClaimResult.Mismatch mismatch) {
    String stored = mismatch.storedFingerprint().toString();
    return HttpResponse.unprocessableEntity()
        .body(
            StateView.of("MISMATCH")
                .withError(
                    "%s is known with another payload, of the fingerprint %s: give each its own ID"
                        .formatted(name(id), stored.isEmpty() ? "none" : stored)));
  }

  /** The caller has had this one before, and has given it back. */
  static HttpResponse<?> givenBack(RecordId id) {
    return HttpResponse.status(HttpStatus.CONFLICT)
        .body(
            StateView.of("FREE")
                .withError(
                    ("%s was granted for this Idempotency-Key before, and has been given back: claim"
                            + " it again with another key")
                        .formatted(name(id))));
  }

  private static HttpResponse<?> later(StateView body, Duration wait) {
    return HttpResponse.status(HttpStatus.CONFLICT)
        .header(HttpHeaders.RETRY_AFTER, Terms.retryAfter(wait))
        .body(body);
  }

  static String name(RecordId id) {
    String kind = id.space() == RecordId.Space.MUTEX ? "lock" : id.space().toString();
    return kind + " " + OneLine.of(id.text(), MAX_SHOWN);
  }
}
