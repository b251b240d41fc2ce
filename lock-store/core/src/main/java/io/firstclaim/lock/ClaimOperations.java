package io.firstclaim.lock;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What operators may do to a claim that is not theirs. Apart from {@link ClaimStore}, so that who
 * only claims cannot free what others hold. {@link io.firstclaim.lock.store.DrivenClaimStore} has
 * both, and so has every store that is made with it.
 *
 * <p>Each is a write on the condition that what was just read is still stored, as all writes to
 * claims are: it changes nothing that is newer. Thread-safe; may block for the store's time limit.
 * All of them throw {@link StoreUnavailableException} if the store did not answer, when the write
 * may or may not have been applied: repeat it. {@link StoreRefusedException} and {@link
 * UnreadableClaimException} are as for {@link ClaimStore}.
 */
public interface ClaimOperations {
  /**
   * What is stored for an ID, by a strongly consistent read. Its times are by the clock that judges
   * leases there.
   */
  Optional<ClaimRecord> find(RecordId id);

  /**
   * Frees what somebody holds, for the next who asks. Its token and attempts stay, so that the
   * holder, if it lives, is fenced as after a takeover: its next step is told {@link
   * SettleResult.Lost}. It is not told before, so its handler may still be at work when another
   * begins.
   *
   * <p>What the record was claimed with ({@link Lease#resources()}) stays held: the store does not
   * know it from the record. The holder gives it back when it learns of its loss, or it is free
   * once its leases are over. The ID of a resource may be released by itself.
   *
   * @param reason for people; kept with the claim
   */
  ReleaseResult release(RecordId id, String reason);

  /**
   * Frees what is held under this grant alone: what has been granted since it was looked at stays
   * held.
   *
   * @param token of the grant
   */
  ReleaseResult release(RecordId id, long token, String reason);

  /**
   * Frees a record that was given up, as if nobody had tried it, for one more round of attempts: no
   * attempts, a higher token than any before, due at once. The redrive's ID stays with the claim
   * until another redrive's takes its place, whatever becomes of it: so the same redrive frees it
   * once, however often it is repeated, even if it has died again since. The store remembers only
   * the last redrive; do not repeat an old one after a newer one.
   *
   * <p>Then deliver the record again: nothing does that by itself. What another redrive has freed
   * and nobody has tried since is freed in this one's name, as the other may have died before it
   * was delivered.
   *
   * @param payload of the record that is to be delivered again, which must be the one that died
   * @param by names the redrive
   */
  default RedriveResult redrive(RecordId id, Fingerprint payload, RedriveId by) {
    return redrive(id, payload, by, null);
  }

  /**
   * Frees a record that was given up, as above, with a reason.
   *
   * @param reason for people; kept with the claim until it is granted
   */
  RedriveResult redrive(RecordId id, Fingerprint payload, RedriveId by, @Nullable String reason);

  /**
   * Undoes a redrive of a record that could not be delivered again: it is dead as it was, and the
   * next redrive, even one of the same ID, finds it so. Only what is still free, of this very
   * redrive and under the token of its freeing, is changed: whoever has claimed it since has it.
   *
   * @param token of {@link RedriveResult.Freed}
   * @param attempts that had been made when it died
   * @param end that it had
   * @return whether it is dead again; if not, nothing was changed
   */
  boolean undoRedrive(RecordId id, RedriveId by, long token, int attempts, ClaimState.Dead end);
}
