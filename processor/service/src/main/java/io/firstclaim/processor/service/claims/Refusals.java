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
    return held("%s: %s holds it".formatted(name(id), OneLine.of(held.by(), MAX_SHOWN)), held);
  }

  /** Another request with the same key is at it, or died at it. */
  static HttpResponse<?> beingAnswered(ClaimResult.Held held) {
    return held("another request with this Idempotency-Key is being answered: send it again", held);
  }

  private static HttpResponse<?> held(String error, ClaimResult.Held held) {
    return later(
        new StateView.Held(error, held.by(), null, held.token(), null, null), held.remaining());
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
    return later(
        new StateView.Blocked(
            "%s: %s".formatted(name(id), by),
            blocked.inTheWay().stream().map(StateView.InTheWayView::of).toList()),
        blocked.remaining());
  }

  static HttpResponse<?> notDue(RecordId id, ClaimResult.Later later, Instant now) {
    String due = later.retryAt().toString();
    return later(
        new StateView.Free(
            "%s: its next attempt is due at %s".formatted(name(id), due),
            null,
            later.attempts(),
            later.retryAt().equals(ClaimStore.AT_ONCE) ? null : due),
        Duration.between(now, later.retryAt()));
  }

  static HttpResponse<?> done(ClaimResult.Done done) {
    return HttpResponse.ok(StateView.Done.of(done.result(), done.ending()));
  }

  static HttpResponse<?> dead(RecordId id, ClaimResult.Dead dead) {
    String error =
        "%s was given up after %d attempts: %s; an operator may redrive it"
            .formatted(name(id), dead.ending().attempt(), OneLine.of(dead.cause(), MAX_SHOWN));
    return HttpResponse.status(HttpStatus.GONE)
        .body(StateView.Dead.of(error, dead.cause(), dead.ending()));
  }

  static HttpResponse<?> mismatch(RecordId id, ClaimResult.Mismatch mismatch) {
    String stored = mismatch.storedFingerprint().toString();
    return HttpResponse.unprocessableEntity()
        .body(
            new StateView.Mismatch(
                "%s is known with another payload, of the fingerprint %s: give each its own ID"
                    .formatted(name(id), stored.isEmpty() ? "none" : stored)));
  }

  /** The caller has had this one before, and has given it back. */
  static HttpResponse<?> givenBack(RecordId id) {
    return HttpResponse.status(HttpStatus.CONFLICT)
        .body(
            new StateView.Free(
                "%s was granted for this Idempotency-Key before, and has been given back: claim it again with another key"
                    .formatted(name(id)),
                null,
                null,
                null));
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
