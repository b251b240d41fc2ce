package io.firstclaim.lock.store;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Effects;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.StoreOperation;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The claims of one namespace in a store that can read and write on condition: all that a store's
 * author has to write. {@link DrivenClaimStore} does the rest.
 *
 * <p>Two writes with the same condition must never both be applied, whatever happens to the
 * processes, the network and the answers. A write whose answer was lost may be sent again as it is:
 * every record has a {@linkplain ClaimRecord#nonce() nonce} that no other write has, by which the
 * driver recognises its own.
 *
 * <p>Faults come in three kinds. One that passes, such as no answer, an overload or a conflict with
 * a request under way, is a {@link io.firstclaim.lock.StoreUnavailableException}; for a step under
 * a lease the driver turns it into {@link io.firstclaim.lock.SettleResult.Unknown}, and the caller
 * repeats the step. One that no retry can mend is a {@link
 * io.firstclaim.lock.StoreRefusedException} that says what would, or an {@link
 * IllegalArgumentException} where the fault is in what the caller gave, such as a result that is
 * too large; it reaches the caller as it is. So does the third, an {@link
 * io.firstclaim.lock.UnreadableClaimException}, from reads and from writes whose condition failed.
 *
 * <p>Thread-safe. All methods may block for the store's time limit.
 */
public interface ClaimRecords {
  /**
   * Reads what is stored for an ID, strongly consistent: never what was there before a write that
   * has ended.
   *
   * @throws io.firstclaim.lock.UnreadableClaimException if that is not a claim
   */
  Optional<Stored> read(RecordId id);

  /**
   * Writes {@code next} if the expected write is still what is stored.
   *
   * @param op what it is for
   * @param on what is expected, known by its {@linkplain Stored#version() version} in stores that
   *     have one, else by its record's token, nonce and kind of state, as in {@link
   *     ClaimRecord#isOfOneWriteWith}: the rest may differ. Null: nothing
   * @param now when this was decided, by the {@linkplain StoreMoment#judging judging} clock
   */
  Write write(StoreOperation op, RecordId id, ClaimRecord next, @Nullable Stored on, Moment now);

  /**
   * The store's {@linkplain ClaimStore#identity() identity}: random, made on condition that there
   * is none, kept for ever and read back; {@linkplain BoundIdentity bound} to its place, so that a
   * copy has another. The driver asks once.
   */
  String identity();

  /**
   * The first write for a claim, when nothing is known of it yet. Most IDs are new, so this one
   * writes if nothing is stored. A store that can judge in one request whether any record may be
   * claimed does that instead, and says what it wrote over. As a network may deliver that request
   * again once the record is free, it must not take one that is due only now ({@code retryAt <
   * now}, strictly), and one that is due {@link ClaimStore#AT_ONCE} it leaves as it is, and says
   * so: only who has seen it may write over it.
   *
   * @param first what to write if nothing is stored
   * @param now when this was decided, by the {@linkplain StoreMoment#judging judging} clock
   */
  default Write claim(Claim claim, ClaimRecord first, Moment now) {
    return write(StoreOperation.CLAIM, claim.id(), first, null, now);
  }

  /** See {@link ClaimStore#writesAtOnce}. */
  default int writesAtOnce() {
    return ClaimStore.REQUESTS_AT_ONCE;
  }

  /**
   * Several at once, if the store can read and write them in transactions. A store that cannot
   * claims them one after the other, and gives them back at the first that is taken.
   */
  default Optional<Together> together() {
    return Optional.empty();
  }

  /** Reads and writes of several claims, each in one transaction. Faults as for single ones. */
  interface Together {
    /**
     * Reads what is stored for these IDs, strongly consistent. Those that are not in the answer are
     * not stored.
     */
    Map<RecordId, Stored> read(Collection<RecordId> ids);

    /**
     * Makes all of these changes, or none. A transaction that is in conflict with another is a
     * fault that passes, and says nothing of what is stored.
     *
     * @param effects to make with them; null if there are none
     * @throws io.firstclaim.lock.EffectsRefusedException if the changes could be made and the
     *     effects not
     * @throws IllegalArgumentException if the effects are not of this store's kind
     */
    Writes write(
        StoreOperation op, List<ConditionalPut> changes, @Nullable Effects effects, Moment now);
  }

  /**
   * One of several {@linkplain ClaimRecords#write writes}.
   *
   * @param id of the claim
   * @param next what to write
   * @param on what is expected; null for nothing
   */
  record ConditionalPut(RecordId id, ClaimRecord next, @Nullable Stored on) {}

  /** What came of several conditional writes. */
  sealed interface Writes {
    /** All were applied. */
    record Took() implements Writes {}

    /**
     * No write was applied, as something else is stored: others' writes, or these very ones, sent
     * twice.
     *
     * @param found what is stored instead of what was expected; the rest is as expected
     */
    record Differ(Map<RecordId, Optional<Stored>> found) implements Writes {}
  }

  /**
   * What is stored for an ID.
   *
   * @param claim the record
   * @param version the store's own name for the write, in stores whose writes are conditional on it
   * @param seen a moment after it was read: a sighting of a lease counts from then, and the
   *     record's times are by the store's clock as it was known then
   */
  record Stored(ClaimRecord claim, @Nullable String version, StoreMoment seen) {
    /** What a store holds whose clock is this machine's. */
    public Stored(ClaimRecord claim, @Nullable String version, Moment seen) {
      this(claim, version, StoreMoment.of(seen));
    }
  }

  /** What came of a conditional write. */
  sealed interface Write {
    /**
     * It was applied.
     *
     * @param version the store's own name for the write, in stores whose writes are conditional on
     *     it
     * @param over what a {@linkplain #claim claim} wrote over, if anything
     */
    record Took(@Nullable String version, @Nullable ClaimRecord over) implements Write {
      /** Applied over what was expected. */
      public Took(@Nullable String version) {
        this(version, null);
      }
    }

    /**
     * The write was not applied, as something else is stored: another's write, or this very one,
     * sent twice.
     *
     * @param stored what is; null for nothing
     */
    record Differs(@Nullable Stored stored) implements Write {}
  }
}
