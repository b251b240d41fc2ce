package io.firstclaim.processor.service.claims;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimState;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.Patience;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.Sighting;
import io.firstclaim.lock.store.DrivenClaimStore;
import io.firstclaim.processor.service.admin.Ids;
import io.firstclaim.processor.service.admin.Problem;
import io.firstclaim.processor.service.config.ServesClaims;
import io.micronaut.context.annotation.Requires;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.annotation.Body;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Delete;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.annotation.PathVariable;
import io.micronaut.http.annotation.Post;
import io.micronaut.scheduling.annotation.ExecuteOn;
import io.micronaut.security.authentication.Authentication;
import jakarta.validation.Valid;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Locks over HTTP: mutexes, which are held and given back, and never done. */
@Controller("/api/locks")
@ExecuteOn(ClaimThreads.NAME)
@Requires(condition = ServesClaims.class)
class LocksController {
  private static final String PATH = "/api/locks/";

  /** Precedes, in what a lock is held on behalf of, the time when it was taken. */
  private static final String SINCE = "since ";

  private final Grants grants;

  LocksController(Grants grants) {
    this.grants = grants;
  }

  private static RecordId lock(HttpRequest<?> request) {
    return Ids.exactly(PATH, request.getPath()).asMutex();
  }

  /**
   * Takes a lock. 201: it is the caller's, until the lease is over or it is given back; 409:
   * somebody else has it.
   *
   * @param name percent-encoded
   * @param body its terms
   */
  @Post("/{name:[^/]+}")
  HttpResponse<?> acquire(
      HttpRequest<?> request,
      Authentication caller,
      @PathVariable String name,
      @Nullable @Valid @Body LockRequest body) {
    RecordId lock = lock(request);
    LockRequest asked = Objects.requireNonNullElse(body, LockRequest.PLAIN);
    WriteKey key = WriteKey.of(request);
    String holder = Objects.requireNonNullElse(asked.holder(), caller.getName());
    return grants.answeredPatiently(() -> acquire(lock, asked, key, holder));
  }

  private HttpResponse<?> acquire(RecordId lock, LockRequest asked, WriteKey key, String holder) {
    DrivenClaimStore store = Terms.store(grants.store(), holder, asked.lease());
    Duration wait = Terms.patience(asked.waitsFor());
    Nonce nonce = key.nonce("lock", lock.key(store.settings().namespace()));
    Claim claim = claim(lock, nonce, null);
    if (key.isGiven()) {
      Optional<HttpResponse<?>> before = grants.repeated(store, claim);
      if (before.isPresent()) {
        return before.get();
      }
    }
    Patience patience = new Patience(grants.time(), wait);
    while (true) {
      ClaimResult result = store.claim(claim);
      if (result instanceof ClaimResult.Granted(Lease lease, _)) {
        return HttpResponse.created(GrantView.of(lease, nonce));
      }
      if (patience.isOver()) {
        return grants.refused(lock, result);
      }
      pause(patience, result);
      Nonce again = key.isGiven() ? nonce : Nonce.random();
      nonce = again;
      claim = claim(lock, again, result instanceof ClaimResult.Held held ? held.sighting() : null);
    }
  }

  private Claim claim(RecordId lock, Nonce nonce, @Nullable Sighting seen) {
    var now = grants.time().now();
    return new Claim(lock, Fingerprint.none(), nonce, now, seen, SINCE + now.wall(), List.of());
  }

  private static void pause(Patience patience, ClaimResult result) {
    try {
      if (result instanceof ClaimResult.Held held) {
        patience.pause(held.remaining());
      } else {
        patience.pause();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Problem.notNow("this instance stops: ask another one");
    }
  }

  /**
   * Extends a lock's lease by its whole length from now. The handle stays good.
   *
   * @param name percent-encoded
   * @param handle of the grant
   */
  @Post("/{name:[^/]+}/{handle:[^/]+}/renew")
  HttpResponse<?> renew(
      HttpRequest<?> request, @PathVariable String name, @PathVariable String handle) {
    WriteKey _ = WriteKey.of(request);
    return grants.renew(lock(request), handle);
  }

  /**
   * Gives a lock back.
   *
   * @param name percent-encoded
   * @param handle of the grant
   */
  @Delete("/{name:[^/]+}/{handle:[^/]+}")
  HttpResponse<?> release(
      HttpRequest<?> request, @PathVariable String name, @PathVariable String handle) {
    WriteKey _ = WriteKey.of(request);
    return grants.end(
        lock(request),
        handle,
        new Grants.End(
            (store, lease) -> store.release(lease, ClaimStore.AT_ONCE, "given back"),
            StateView.Free.AT_ONCE,
            _ -> true,
            false));
  }

  /**
   * Who holds a lock, and since when.
   *
   * @param name percent-encoded
   */
  @Get("/{name:[^/]+}")
  StateView get(HttpRequest<?> request, @PathVariable String name) {
    RecordId lock = lock(request);
    return grants.answered(() -> view(grants.store(), lock));
  }

  private static StateView view(DrivenClaimStore store, RecordId lock) {
    Optional<ClaimRecord> stored = store.find(lock);
    if (stored.isEmpty()
        || !(stored.get().state() instanceof ClaimState.Held held)
        || store.isOver(held)) {
      return new StateView.Free(null, stored.map(ClaimRecord::token).orElse(null), null, null);
    }
    String behalf = held.onBehalfOf();
    boolean tellsSince = behalf != null && behalf.startsWith(SINCE);
    return new StateView.Held(
        null,
        held.holder(),
        tellsSince ? null : behalf,
        stored.get().token(),
        behalf != null && tellsSince ? behalf.substring(SINCE.length()) : null,
        held.end().toString());
  }
}
