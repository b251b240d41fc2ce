package io.firstclaim.processor.service.claims;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.document.DocumentKey;
import io.firstclaim.lock.document.DocumentStore;
import io.firstclaim.lock.document.OutcomeUnknownException;
import io.firstclaim.lock.document.SharedDocuments;
import io.firstclaim.lock.store.DrivenClaimStore;
import io.firstclaim.processor.service.admin.Problem;
import io.micronaut.http.HttpResponse;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Deletions of documents that are known again by their {@code Idempotency-Key}. What is gone
 * remembers nothing: so the key is claimed, as a record is that is to be handled once, and is done
 * with the deletion. Thread-safe.
 */
final class KeyedDeletions {
  /** So many characters of what was deleted are remembered; of more, only that it was. */
  private static final int MAX_REMEMBERED = 64 * 1024;

  private final Grants grants;
  private final DocumentStore store;
  private final SharedDocuments documents;

  KeyedDeletions(Grants grants, DocumentStore store, SharedDocuments documents) {
    this.grants = grants;
    this.store = store;
    this.documents = documents;
  }

  /**
   * A deletion.
   *
   * @param nonce of its key
   * @param caller for whom
   * @param requirement of the document as it is, or of there being none; throws if it is not met
   */
  record Deletion(
      DocumentKey document, Nonce nonce, String caller, Consumer<Optional<String>> requirement) {}

  /**
   * Makes a deletion, if it was not made before.
   *
   * @param answer to what was deleted, now or before; to nothing if there was none, or too much to
   *     be remembered
   */
  HttpResponse<?> once(Deletion deletion, Function<Optional<String>, HttpResponse<?>> answer)
      throws InterruptedException {
    DrivenClaimStore claims = Terms.store(grants.store(), deletion.caller(), null);
    RecordId id = RecordId.of("deletion:" + deletion.nonce());
    ClaimResult result = claims.claim(Claim.of(id, Fingerprint.none(), grants.time().now()));
    return switch (result) {
      case ClaimResult.Granted(Lease lease, String takenFrom) ->
          answer.apply(
              takenFrom == null
                  ? made(claims, lease, deletion)
                  : madeBefore(claims, lease, deletion));
      case ClaimResult.Done(_, String deleted) -> answer.apply(Optional.ofNullable(deleted));
      case ClaimResult.Held held -> Refusals.beingAnswered(held);
      case ClaimResult.Blocked _, ClaimResult.Later _, ClaimResult.Dead _, ClaimResult.Mismatch _ ->
          grants.refused(id, result);
    };
  }

  /**
   * While it is not known whether it was made, the claim stands: it is a takeover that follows. And
   * it is not made once that may have come: what is there then may be another.
   */
  private Optional<String> made(DrivenClaimStore claims, Lease lease, Deletion deletion)
      throws InterruptedException {
    Predicate<String> underLease =
        content -> {
          Moment now = grants.time().now();
          if (lease.isOver(now) || lease.isDoubtful(now)) {
            throw Problem.notNow("this request took too long: send it again");
          }
          return DocumentsController.meets(deletion.requirement(), content);
        };
    Optional<String> deleted;
    try {
      deleted = documents.deleteIf(deletion.document(), DocumentsController.TRIES_FOR, underLease);
      if (deleted.isEmpty()) {
        deletion.requirement().accept(deleted);
      }
    } catch (OutcomeUnknownException e) {
      throw e;
    } catch (RuntimeException e) {
      SettleResult _ = claims.release(lease, ClaimStore.AT_ONCE, "nothing was deleted");
      throw e;
    }
    // If the store does not say whether it has this: whoever repeats it will not know, either.
    SettleResult _ = claims.complete(lease, remembered(deleted));
    return deleted;
  }

  /** Whoever had the claim may have deleted it, so what is there now may be another. */
  private Optional<String> madeBefore(DrivenClaimStore claims, Lease lease, Deletion deletion) {
    if (store.find(deletion.document()).isPresent()) {
      throw Problem.conflict(
          "it is not known whether an earlier request with this Idempotency-Key has deleted the"
              + " document, and others have made it anew: read it, and decide anew, with another key");
    }
    SettleResult _ = claims.complete(lease, null);
    return Optional.empty();
  }

  private static @Nullable String remembered(Optional<String> deleted) {
    return deleted.filter(content -> content.length() <= MAX_REMEMBERED).orElse(null);
  }
}
