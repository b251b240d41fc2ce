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
import io.firstclaim.processor.service.redrive.LetterState.Completed;
import io.firstclaim.processor.service.redrive.LetterState.DiedAgain;
import io.firstclaim.processor.service.redrive.LetterState.Open;
import io.firstclaim.processor.service.redrive.LetterState.Skipped;
import io.firstclaim.processor.service.redrive.LetterState.UnderWay;
import io.firstclaim.processor.service.redrive.LetterState.Unpublishable;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Predicate;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;

/**
 * What a redrive does with one dead letter: free the claim of its record in the name of the
 * redrive, publish the record again, look what becomes of it. Each step may be repeated, as the
 * store says what has been done. For one thread.
 */
final class LetterSteps implements AutoCloseable {
  /** One record may have several letters: it is moved by the first. */
  private static final int REMEMBERED = 10_000;

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
  private final boolean isForOneRecord;
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

  /**
   * The steps of this redrive.
   *
   * @param isOurs whether a letter is of this application
   * @param isDismissed whether a record's end was judged to need no redrive: those are passed over,
   *     unless the redrive is for one record
   * @param publisher closed with the steps
   */
  LetterSteps(
      Job job,
      Predicate<DeadLetter> isOurs,
      Predicate<RecordId> isDismissed,
      ClaimOperations claims,
      Publisher publisher) {
    this.id = new RedriveId(job.id());
    this.isForOneRecord = job.spec().record() != null;
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
    if (!isForOneRecord && isDismissed.test(letter.id())) {
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
      case RedriveResult.Freed _ -> publish(letter);
      case RedriveResult.FreedBefore before ->
          before.isFree() ? publish(letter) : stateOf(before.present());
      case RedriveResult.NotDead(ClaimRecord present) ->
          new Skipped(present == null ? "forgotten" : name(present.state()));
      case RedriveResult.Mismatch _ -> new Skipped("mismatch");
    };
  }

  private LetterState publish(DeadLetter letter) throws InterruptedException {
    try {
      publisher.publish(letter, id);
      return new UnderWay();
    } catch (UnpublishableException e) {
      return new Unpublishable();
    }
  }

  /**
   * What has become of a record that was moved.
   *
   * @throws StoreException if the lock store does not answer: repeat it
   */
  LetterState look(RecordId record) {
    return stateOf(claims.find(record).orElse(null));
  }

  private LetterState stateOf(@Nullable ClaimRecord stored) {
    if (stored == null || !id.equals(stored.redrive())) {
      return new Open(); // it has been forgotten, or another redrive has moved it since
    }
    return switch (stored.state()) {
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
