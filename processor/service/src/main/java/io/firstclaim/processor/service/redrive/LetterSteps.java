package io.firstclaim.processor.service.redrive;

import io.firstclaim.lock.ClaimOperations;
import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.ClaimState;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.RedriveId;
import io.firstclaim.lock.RedriveResult;
import io.firstclaim.lock.StoreException;
import io.firstclaim.lock.UnreadableClaimException;
import io.firstclaim.processor.engine.api.DeadLetter;
import io.firstclaim.processor.engine.api.Holder;
import io.firstclaim.processor.service.redrive.LetterState.Completed;
import io.firstclaim.processor.service.redrive.LetterState.DiedAgain;
import io.firstclaim.processor.service.redrive.LetterState.Open;
import io.firstclaim.processor.service.redrive.LetterState.Skipped;
import io.firstclaim.processor.service.redrive.LetterState.UnderWay;
import io.firstclaim.processor.service.redrive.LetterState.Unpublishable;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Predicate;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a redrive does with one dead letter: free the claim of its record in the name of the
 * redrive, publish the record again, look what becomes of it. What cannot be published is dead
 * again as it was. Each step may be repeated, as the store says what has been done. For one thread.
 */
final class LetterSteps implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(LetterSteps.class);

  /** One record may have several letters: it is moved by the first. */
  private static final int REMEMBERED = 10_000;

  /**
   * A letter whose record this redrive has freed.
   *
   * @param token under which it is free
   */
  private record FreedLetter(DeadLetter letter, long token) {}

  /** Publishes the records of dead letters again. */
  @FunctionalInterface
  interface Publisher extends AutoCloseable {
    /**
     * Publishes it and waits for the acknowledgement.
     *
     * @throws KafkaException if there is none
     * @throws UnpublishableException if there will never be one
     */
    void publish(DeadLetter letter, RedriveId by) throws InterruptedException;

    /** Does nothing, unless there is something to close. */
    @Override
    default void close() {}
  }

  private final RedriveId id;
  private final boolean namesRecords;
  private final boolean mayBeDone;
  private final Predicate<DeadLetter> isOurs;
  private final Predicate<RecordId> isDismissed;
  private final ClaimOperations claims;
  private final Publisher publisher;
  private final Map<RecordId, Boolean> moved =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<RecordId, Boolean> eldest) {
          return size() > REMEMBERED;
        }
      };

  /** Freed, and not known to be published. */
  private @Nullable FreedLetter unpublished;

  /**
   * The steps of this redrive.
   *
   * @param isOurs whether a letter is of this application
   * @param isDismissed whether a record's end was judged to need no redrive: those are passed over,
   *     unless the redrive names them
   * @param publisher closed with the steps
   */
  LetterSteps(
      Job job,
      Predicate<DeadLetter> isOurs,
      Predicate<RecordId> isDismissed,
      ClaimOperations claims,
      Publisher publisher) {
    this.id = new RedriveId(job.id());
    this.namesRecords = job.spec().namesRecords();
    this.mayBeDone = job.spec().mayBeDone();
    this.isOurs = isOurs;
    this.isDismissed = isDismissed;
    this.claims = claims;
    this.publisher = publisher;
  }

  /**
   * Frees and publishes the letter's record, unless it is to be passed over.
   *
   * @throws StoreException if the lock store does not answer: repeat it
   * @throws KafkaException if Kafka does not answer: repeat it
   */
  LetterState redrive(DeadLetter letter) throws InterruptedException {
    if (!isOurs.test(letter)) {
      return new Skipped("of another application");
    }
    if (!letter.whole()) {
      return new Skipped("too large for its dead letter");
    }
    if (moved.containsKey(letter.id())) {
      return new Skipped("another letter of the same record");
    }
    if (!namesRecords && isDismissed.test(letter.id())) {
      return new Skipped("dismissed");
    }
    LetterState state = free(letter);
    if (state.isMoved()) {
      moved.put(letter.id(), true);
    }
    return state;
  }

  private LetterState free(DeadLetter letter) throws InterruptedException {
    RedriveResult result;
    try {
      result = claims.redrive(letter.id(), letter.payload(), id);
    } catch (UnreadableClaimException e) {
      return new Skipped("unreadable claim");
    }
    return switch (result) {
      case RedriveResult.Freed(long token) -> publish(new FreedLetter(letter, token));
      case RedriveResult.FreedBefore before ->
          before.isFree()
              ? publish(new FreedLetter(letter, before.present().token()))
              : stateOf(before.present());
      case RedriveResult.NotDead(ClaimRecord present) when present == null ->
          mayBeDone ? publishForgotten(letter) : new Skipped("forgotten");
      case RedriveResult.NotDead(ClaimRecord present) -> new Skipped(name(present.state()));
      case RedriveResult.Mismatch _ -> new Skipped("mismatch");
    };
  }

  private LetterState publish(FreedLetter freed) throws InterruptedException {
    unpublished = freed;
    LetterState state;
    try {
      publisher.publish(freed.letter, id);
      state = new UnderWay();
    } catch (UnpublishableException e) {
      state = undo(freed) ? unpublishable(freed.letter, e) : look(freed.letter.id());
    }
    unpublished = null;
    return state;
  }

  /** The lock store does not know the record: to the zones it is a new one. */
  private LetterState publishForgotten(DeadLetter letter) throws InterruptedException {
    try {
      publisher.publish(letter, id);
      return new UnderWay();
    } catch (UnpublishableException e) {
      return unpublishable(letter, e);
    }
  }

  private LetterState unpublishable(DeadLetter letter, UnpublishableException fault) {
    LOG.warn("Redrive {}: {} cannot be published again: {}", id, letter.id(), fault.getMessage());
    return new Unpublishable(String.valueOf(fault.getMessage()));
  }

  /** Has it dead as its letter says; false if somebody has claimed it since. */
  private boolean undo(FreedLetter freed) {
    DeadLetter letter = freed.letter;
    var end =
        new ClaimState.Dead(
            new Holder(letter.zone(), "").toString(),
            Instant.ofEpochMilli(letter.letter().timestamp()),
            letter.cause());
    return claims.undoRedrive(letter.id(), id, freed.token, letter.attempts(), end);
  }

  /**
   * Leaves nothing behind that is free and was not published: nobody may go on. Only for whoever
   * has the redrive's mutex, as another would publish it meanwhile.
   *
   * @throws StoreException if the lock store does not answer: it stays free, for another redrive
   */
  void leave() {
    if (unpublished != null && undo(unpublished)) {
      LOG.info("Redrive {} leaves {} dead, as it was", id, unpublished.letter.id());
    }
    unpublished = null;
  }

  /**
   * What has become of a record that was moved.
   *
   * @throws StoreException if the lock store does not answer: repeat it
   */
  LetterState look(RecordId record) {
    try {
      return stateOf(claims.find(record).orElse(null));
    } catch (UnreadableClaimException e) {
      return new Open(); // somebody has overwritten it since, which concerns this record alone
    }
  }

  private LetterState stateOf(@Nullable ClaimRecord stored) {
    if (mayBeDone && (stored == null || stored.redrive() == null)) {
      // As if it were new: nobody has claimed it yet, or a claim that no redrive has freed.
      return stored == null ? new UnderWay() : stateOf(stored.state());
    }
    if (stored == null || !id.equals(stored.redrive())) {
      return new Open(); // it has been forgotten, or another redrive has moved it since
    }
    return stateOf(stored.state());
  }

  private static LetterState stateOf(ClaimState state) {
    return switch (state) {
      case ClaimState.Done _ -> new Completed();
      case ClaimState.Dead(var _, var _, String cause) -> new DiedAgain(cause);
      case ClaimState.Free _, ClaimState.Held _ -> new UnderWay();
    };
  }

  @Override
  public void close() {
    publisher.close();
  }

  private static String name(ClaimState state) {
    return switch (state) {
      case ClaimState.Held _ -> "held";
      case ClaimState.Free _ -> "free";
      case ClaimState.Done _ -> "done";
      case ClaimState.Dead _ -> "dead";
    };
  }
}
