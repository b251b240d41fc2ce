package io.firstclaim.processor.service.claims;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimState;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.store.DrivenClaimStore;
import io.firstclaim.processor.service.admin.Problem;
import io.firstclaim.processor.service.config.ServesClaims;
import io.firstclaim.processor.service.instance.Served;
import io.micronaut.context.annotation.Requires;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.HttpStatus;
import jakarta.inject.Singleton;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.function.BiFunction;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Claims, and steps under what was granted. Nothing of them is kept here: what a step needs is in
 * its handle and in the store, so any instance may take the next one. Thread-safe.
 */
@Singleton
@Requires(condition = ServesClaims.class)
class Grants {
  /** So many requests are answered at once; those that wait for a lock count too. */
  private static final int AT_ONCE = 512;

  /**
   * So many of these may be other requests than steps under a handle: whoever holds something
   * renews it, and ends it, in the rest, however slow all else is. Else the work is lost that was
   * done, and done again.
   */
  private static final int NO_STEPS_AT_ONCE = AT_ONCE / 4 * 3;

  /** And so many of those may ask for locks, as these wait. */
  private static final int WAITING_AT_ONCE = AT_ONCE / 2;

  /** How often a step begins anew, as another has written between our read and our own write. */
  private static final int MAX_ROUNDS = 10;

  private final Served served;
  private final TimeSource time;
  private final Semaphore room = new Semaphore(AT_ONCE);
  private final Semaphore noSteps = new Semaphore(NO_STEPS_AT_ONCE);
  private final Semaphore waiting = new Semaphore(WAITING_AT_ONCE);

  Grants(Served served, TimeSource time) {
    this.served = served;
    this.time = time;
  }

  TimeSource time() {
    return time;
  }

  /**
   * The claims.
   *
   * @throws Problem if they cannot be asked yet
   */
  DrivenClaimStore store() {
    return served
        .opened()
        .orElseThrow(
            () -> Problem.notNow("the lock store has not answered yet: come back in a second"));
  }

  /**
   * Answers a request that is no step under a handle, if not too many are being answered.
   *
   * @throws Problem if they are
   */
  <T> T answered(Supplier<T> request) {
    return within(
        noSteps,
        "%d requests are being answered: come back in a second".formatted(NO_STEPS_AT_ONCE),
        () -> stepAnswered(request));
  }

  /** Answers a step under a handle, if not too many requests are being answered. */
  private <T> T stepAnswered(Supplier<T> step) {
    return within(
        room, "%d requests are being answered: come back in a second".formatted(AT_ONCE), step);
  }

  /**
   * Answers a request that may wait for a lock, if not too many such are being answered.
   *
   * @throws Problem if they are
   */
  <T> T answeredPatiently(Supplier<T> request) {
    return within(
        waiting,
        "%d requests ask for locks: come back in a second".formatted(WAITING_AT_ONCE),
        () -> answered(request));
  }

  private static <T> T within(Semaphore places, String otherwise, Supplier<T> request) {
    if (!places.tryAcquire()) {
      throw Problem.notNow(otherwise);
    }
    try {
      return request.get();
    } finally {
      places.release();
    }
  }

  /**
   * What a repetition of a claim is answered without claiming anew: what was granted to it before,
   * or that it was given back. Empty if this is the first, or has ended.
   *
   * @param claim of which the nonce is that of the caller's key
   */
  Optional<HttpResponse<?>> repeated(DrivenClaimStore store, Claim claim) {
    Optional<ClaimRecord> stored =
        store.find(claim.id()).filter(found -> found.nonce().isUnder(claim.nonce()));
    if (stored.isEmpty()) {
      return Optional.empty();
    }
    return switch (stored.get().state()) {
      case ClaimState.Free free ->
          free.cause().equals(DrivenClaimStore.BLOCKED)
              ? Optional.empty() // a claim that was blocked was granted nothing
              : Optional.of(Refusals.givenBack(claim.id()));
      case ClaimState.Held _ ->
          stored.get().nonce().equals(claim.nonce())
              ? grantedAgain(store, claim)
              : grantedBefore(store, claim, stored.get());
      // The claim itself says the rest.
      case ClaimState.Done _, ClaimState.Dead _ -> Optional.empty();
    };
  }

  /** The answer to the grant may be long lost: renewed, so that the lease is as long as it says. */
  private Optional<HttpResponse<?>> grantedAgain(DrivenClaimStore store, Claim claim) {
    return store.claim(claim) instanceof ClaimResult.Granted(Lease lease, _)
        ? Optional.of(renewed(store, claim, lease))
        : Optional.empty();
  }

  /** What a repetition is answered whose grant was renewed since by its handle. */
  private Optional<HttpResponse<?>> grantedBefore(
      DrivenClaimStore store, Claim claim, ClaimRecord stored) {
    List<Handle.Resource> resources = new ArrayList<>();
    for (Claim each : claim.resources()) {
      Optional<ClaimRecord> held = store.find(each.id());
      if (held.isEmpty()) {
        return Optional.empty();
      }
      resources.add(new Handle.Resource(each.id(), held.get().token()));
    }
    Handle handle = new Handle(stored.token(), claim.nonce(), resources);
    return switch (renewed(store, claim.id(), handle)) {
      case SettleResult.Settled(Lease lease) ->
          Optional.of(HttpResponse.created(GrantView.of(lease, handle.text())));
      case SettleResult.Lost _ -> Optional.empty();
      case SettleResult.Unknown(String why) -> throw unknown(why);
    };
  }

  /**
   * The answer to a grant. A later attempt than the first is counted now, as its work is about to
   * begin: else a client that dies of it each time would be at its second attempt for ever.
   */
  HttpResponse<?> granted(DrivenClaimStore store, Claim claim, Lease lease) {
    return lease.counted()
        ? HttpResponse.created(GrantView.of(lease, claim.nonce()))
        : renewed(store, claim, lease);
  }

  private HttpResponse<?> renewed(DrivenClaimStore store, Claim claim, Lease lease) {
    return switch (store.renew(lease.counted(true))) {
      case SettleResult.Settled(Lease counted) ->
          HttpResponse.created(GrantView.of(counted, claim.nonce()));
      case SettleResult.Lost(String by) -> lost(claim.id(), Optional.ofNullable(by));
      case SettleResult.Unknown(String why) -> throw unknown(why);
    };
  }

  private static SettleResult renewed(DrivenClaimStore store, RecordId id, Handle handle) {
    return step(store, id, () -> handle.resume(store, id), DrivenClaimStore::renew);
  }

  /** Answers a renewal, after which the same handle is good. */
  HttpResponse<?> renew(RecordId id, String text) {
    Handle handle = Handle.parse(text);
    return stepAnswered(
        () ->
            switch (renewed(store(), id, handle)) {
              case SettleResult.Settled(Lease lease) -> HttpResponse.ok(GrantView.of(lease, text));
              case SettleResult.Unknown(String why) -> throw unknown(why);
              case SettleResult.Lost _ -> lost(store(), id);
            });
  }

  /**
   * A step that ends a grant.
   *
   * @param ended the answer, if it has
   * @param isThis whether what is stored is what the same step has left before
   * @param needsAll whether all that was claimed must still be held; else it ends what is left
   */
  record End(
      BiFunction<DrivenClaimStore, Lease, SettleResult> step,
      StateView ended,
      Predicate<ClaimState> isThis,
      boolean needsAll) {}

  /** Answers a step that ends a grant. */
  HttpResponse<?> end(RecordId id, String text, End end) {
    Handle handle = Handle.parse(text);
    return stepAnswered(() -> end(store(), id, handle, end));
  }

  private static HttpResponse<?> end(DrivenClaimStore store, RecordId id, Handle handle, End end) {
    Supplier<Optional<Lease>> found =
        () -> end.needsAll ? handle.resume(store, id) : handle.resumeWhatIsLeft(store, id);
    return switch (step(store, id, found, end.step)) {
      case SettleResult.Settled _ -> HttpResponse.ok(end.ended);
      case SettleResult.Unknown(String why) -> throw unknown(why);
      case SettleResult.Lost _ -> {
        freeResources(store, id, handle);
        yield endedBy(store, id, handle).filter(end.isThis).isPresent()
            ? HttpResponse.ok(end.ended)
            : lost(store, id);
      }
    };
  }

  /** Of a grant whose record has ended, or is another's: nobody needs them any more. */
  private static void freeResources(DrivenClaimStore store, RecordId id, Handle handle) {
    if (handle.resources().isEmpty() || handle.resumeWhatIsLeft(store, id).isPresent()) {
      return;
    }
    for (Lease left : handle.resourcesLeft(store)) {
      SettleResult freed =
          store
              .forHolder(left.holder(), left.length())
              .release(left, ClaimStore.AT_ONCE, "%s is settled".formatted(id));
      if (freed instanceof SettleResult.Unknown(String why)) {
        throw unknown(why);
      }
    }
  }

  /** Makes a step under a grant, conditional on what is stored of it now. */
  private static SettleResult step(
      DrivenClaimStore store,
      RecordId id,
      Supplier<Optional<Lease>> stored,
      BiFunction<DrivenClaimStore, Lease, SettleResult> step) {
    for (int round = 0; round < MAX_ROUNDS; round++) {
      Optional<Lease> found = stored.get();
      if (found.isEmpty()) {
        return new SettleResult.Lost(null);
      }
      Lease lease = found.get();
      DrivenClaimStore holders = store.forHolder(lease.holder(), lease.length());
      SettleResult result = tried(holders, lease, step);
      if (!(result instanceof SettleResult.Lost)) {
        return result;
      }
      // Lost, or renewed by the same handle in between: the next look tells.
    }
    throw new StoreUnavailableException(
        "%s changed %d times during one step".formatted(Refusals.name(id), MAX_ROUNDS));
  }

  private static SettleResult tried(
      DrivenClaimStore store, Lease lease, BiFunction<DrivenClaimStore, Lease, SettleResult> step) {
    try {
      return step.apply(store, lease);
    } catch (IllegalArgumentException e) {
      throw new Problem(HttpStatus.REQUEST_ENTITY_TOO_LARGE, String.valueOf(e.getMessage()));
    }
  }

  /**
   * What is stored, if it was left by a step of this handle that ended its grant: what was asked
   * for may be a repetition of that.
   */
  private static Optional<ClaimState> endedBy(DrivenClaimStore store, RecordId id, Handle handle) {
    return store
        .find(id)
        .filter(found -> found.token() == handle.token())
        .filter(found -> found.nonce().isUnder(handle.grant()))
        .map(ClaimRecord::state)
        .filter(state -> !(state instanceof ClaimState.Held));
  }

  /** The answer to a step under a handle that is not the holder's. */
  private static HttpResponse<?> lost(DrivenClaimStore store, RecordId id) {
    return lost(
        id,
        store
            .find(id)
            .flatMap(
                found ->
                    switch (found.state()) {
                      case ClaimState.Held held -> Optional.of(held.holder());
                      case ClaimState.Done done -> Optional.of(done.by());
                      case ClaimState.Dead dead -> Optional.of(dead.by());
                      case ClaimState.Free _ -> Optional.empty();
                    }));
  }

  private static HttpResponse<?> lost(RecordId id, Optional<String> by) {
    return HttpResponse.status(HttpStatus.CONFLICT)
        .body(
            new StateView.Lost(
                "%s is not held by this handle, or not any more: stop what is done under it"
                    .formatted(Refusals.name(id)),
                by.orElse(null)));
  }

  private static Problem unknown(String why) {
    return Problem.notNow(
        "it is not known whether this was written, so send it again as it is: " + why);
  }

  /** What a claim is answered that was not granted. */
  HttpResponse<?> refused(RecordId id, ClaimResult result) {
    return switch (result) {
      case ClaimResult.Held held -> Refusals.held(id, held);
      case ClaimResult.Blocked blocked -> Refusals.blocked(id, blocked);
      case ClaimResult.Later later -> Refusals.notDue(id, later, time.now().wall());
      case ClaimResult.Done done -> Refusals.done(done);
      case ClaimResult.Dead dead -> Refusals.dead(id, dead);
      case ClaimResult.Mismatch mismatch -> Refusals.mismatch(id, mismatch);
      case ClaimResult.Granted _ -> throw new IllegalStateException("it was granted");
    };
  }
}
