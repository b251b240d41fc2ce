package io.firstclaim.processor.service.claims;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimState;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.store.DrivenClaimStore;
import io.firstclaim.processor.service.admin.Ids;
import io.firstclaim.processor.service.admin.Problem;
import io.firstclaim.processor.service.config.ServesClaims;
import io.micronaut.context.annotation.Requires;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.annotation.Body;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.PathVariable;
import io.micronaut.http.annotation.Post;
import io.micronaut.scheduling.annotation.ExecuteOn;
import io.micronaut.security.authentication.Authentication;
import jakarta.validation.Valid;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Claims over HTTP. */
@Controller("/api/claims")
@ExecuteOn(ClaimThreads.NAME)
@Requires(condition = ServesClaims.class)
class ClaimsController {
  private static final String PATH = "/api/claims/";
  private static final Pattern HASH = Pattern.compile("[0-9a-fA-F]{64}");

  private final Grants grants;

  ClaimsController(Grants grants) {
    this.grants = grants;
  }

  /**
   * Claims an ID, and what is to be held with it. 201: it is the caller's, and what it is to be
   * done for may be done; 200: it is done, with its result; 409: somebody holds it, or its next
   * attempt is not due; 410: it was given up; 422: it is known with another payload.
   *
   * @param id percent-encoded
   * @param body its terms
   */
  @Post("/{id:[^/]+}")
  HttpResponse<?> claim(
      HttpRequest<?> request,
      Authentication caller,
      @PathVariable String id,
      @Nullable @Valid @Body ClaimRequest body) {
    RecordId record = Ids.exactly(PATH, request.getPath());
    ClaimRequest asked = Objects.requireNonNullElse(body, ClaimRequest.PLAIN);
    WriteKey key = WriteKey.of(request);
    return grants.answered(() -> claim(record, asked, key, caller));
  }

  private HttpResponse<?> claim(
      RecordId record, ClaimRequest asked, WriteKey key, Authentication caller) {
    DrivenClaimStore store =
        Terms.store(
            grants.store(),
            Objects.requireNonNullElse(asked.holder(), caller.getName()),
            asked.lease());
    Fingerprint fingerprint = fingerprint(asked.fingerprint());
    List<RecordId> resources = resources(asked.resources());
    String namespace = store.settings().namespace();
    String[] about =
        Stream.concat(
                Stream.of("claim", record.key(namespace), fingerprint.toString()),
                resources.stream().sorted().distinct().map(each -> each.key(namespace)))
            .toArray(String[]::new);
    Claim claim =
        new Claim(record, fingerprint, key.nonce(about), grants.time().now(), null)
            .withResources(resources);
    if (key.isGiven()) {
      Optional<HttpResponse<?>> before = grants.repeated(store, claim);
      if (before.isPresent()) {
        return before.get();
      }
    }
    ClaimResult result = store.claim(claim);
    return result instanceof ClaimResult.Granted(Lease lease, _)
        ? grants.granted(store, claim, lease)
        : grants.refused(record, result);
  }

  private static Fingerprint fingerprint(@Nullable String given) {
    if (given == null) {
      return Fingerprint.none();
    }
    return HASH.matcher(given).matches()
        ? Fingerprint.ofHash(HexFormat.of().parseHex(given))
        : Fingerprint.of(given.getBytes(StandardCharsets.UTF_8));
  }

  private static List<RecordId> resources(@Nullable List<String> given) {
    if (given == null) {
      return List.of();
    }
    List<RecordId> resources = given.stream().map(ClaimsController::resource).toList();
    int bytes = resources.stream().mapToInt(RecordId::length).sum();
    if (bytes > Handle.MAX_RESOURCE_BYTES) {
      throw Problem.wrong(
          "resources: they have %d bytes; give names of %d together at most"
              .formatted(bytes, Handle.MAX_RESOURCE_BYTES));
    }
    return resources;
  }

  private static RecordId resource(String name) {
    try {
      return RecordId.of(name).asResource();
    } catch (IllegalArgumentException e) {
      throw Problem.wrong("resources", name, "give names of 1 to 1024 bytes of UTF-8");
    }
  }

  /**
   * Extends a lease by its whole length from now. The handle stays good.
   *
   * @param id percent-encoded
   * @param handle of the grant
   */
  @Post("/{id:[^/]+}/{handle:[^/]+}/renew")
  HttpResponse<?> renew(
      HttpRequest<?> request, @PathVariable String id, @PathVariable String handle) {
    WriteKey _ = WriteKey.of(request); // only checked, as the handle is enough to tell a repetition
    return grants.renew(Ids.exactly(PATH, request.getPath()), handle);
  }

  /**
   * Records that the work is done, for good. Later claims are answered 200 with the result.
   *
   * @param id percent-encoded
   * @param handle of the grant
   * @param body the result
   */
  @Post("/{id:[^/]+}/{handle:[^/]+}/complete")
  HttpResponse<?> complete(
      HttpRequest<?> request,
      @PathVariable String id,
      @PathVariable String handle,
      @Nullable @Valid @Body CompleteRequest body) {
    @Nullable String result = Objects.requireNonNullElse(body, CompleteRequest.PLAIN).result();
    WriteKey _ = WriteKey.of(request);
    return grants.end(
        Ids.exactly(PATH, request.getPath()),
        handle,
        new Grants.End(
            (store, lease) -> store.complete(lease, result),
            StateView.Done.now(result),
            state -> state instanceof ClaimState.Done done && Objects.equals(done.result(), result),
            true));
  }

  /**
   * Gives it back for another attempt, by anybody.
   *
   * @param id percent-encoded
   * @param handle of the grant
   * @param body when the next attempt is due
   */
  @Post("/{id:[^/]+}/{handle:[^/]+}/release")
  HttpResponse<?> release(
      HttpRequest<?> request,
      @PathVariable String id,
      @PathVariable String handle,
      @Nullable @Valid @Body ReleaseRequest body) {
    ReleaseRequest asked = Objects.requireNonNullElse(body, ReleaseRequest.PLAIN);
    Instant latest = grants.time().now().wall().plus(grants.store().settings().retention());
    Instant retryAt =
        asked.retryAt() == null
            ? ClaimStore.AT_ONCE
            : Terms.instant("retryAt", asked.retryAt(), latest);
    String cause = Objects.requireNonNullElse(asked.cause(), "given back");
    WriteKey _ = WriteKey.of(request);
    return grants.end(
        Ids.exactly(PATH, request.getPath()),
        handle,
        new Grants.End(
            (store, lease) -> store.release(lease, retryAt, cause),
            StateView.Free.AT_ONCE,
            state -> state instanceof ClaimState.Free,
            false));
  }

  /**
   * Gives it up, for good: later claims are answered 410, until an operator redrives it. Write down
   * first what is to become of it: nobody does that here.
   *
   * @param id percent-encoded
   * @param handle of the grant
   * @param body why
   */
  @Post("/{id:[^/]+}/{handle:[^/]+}/bury")
  HttpResponse<?> bury(
      HttpRequest<?> request,
      @PathVariable String id,
      @PathVariable String handle,
      @Nullable @Valid @Body BuryRequest body) {
    String cause =
        Objects.requireNonNullElse(
            Objects.requireNonNullElse(body, BuryRequest.PLAIN).cause(), "given up over HTTP");
    WriteKey _ = WriteKey.of(request);
    return grants.end(
        Ids.exactly(PATH, request.getPath()),
        handle,
        new Grants.End(
            (store, lease) -> store.bury(lease, cause),
            StateView.Dead.now(cause),
            state -> state instanceof ClaimState.Dead,
            false));
  }
}
