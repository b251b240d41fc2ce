package io.firstclaim.lock.board;

import static io.firstclaim.lock.testkit.board.ScriptedBoard.CONFLICT;
import static io.firstclaim.lock.testkit.board.ScriptedBoard.LOSE_ANSWER;
import static io.firstclaim.lock.testkit.board.ScriptedBoard.LOSE_REQUEST;
import static io.firstclaim.lock.testkit.board.ScriptedBoard.THROTTLE;
import static io.firstclaim.lock.testkit.board.Status.EDITING;
import static io.firstclaim.lock.testkit.board.Status.LOCKED;
import static io.firstclaim.lock.testkit.board.Status.NORMAL;
import static io.firstclaim.lock.testkit.board.Status.RULES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.ContendedException;
import io.firstclaim.lock.Effects;
import io.firstclaim.lock.EffectsRefusedException;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.board.TransitionResult.Moved;
import io.firstclaim.lock.board.TransitionResult.Refused;
import io.firstclaim.lock.board.TransitionResult.Unknown;
import io.firstclaim.lock.memory.MemoryBoardStore;
import io.firstclaim.lock.memory.MemoryEffects;
import io.firstclaim.lock.testkit.ManualTime;
import io.firstclaim.lock.testkit.board.ScriptedBoard;
import io.firstclaim.lock.testkit.board.ScriptedBoard.Fate;
import io.firstclaim.lock.testkit.board.Status;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Transitions, on a store whose faults the test chooses; the test drives the time. */
class StatusBoardTest {
  private static final Duration LIMIT = Duration.ofSeconds(10);
  private static final Fate DENY =
      _ -> {
        throw new StoreRefusedException("the role may not write");
      };
  private static final Fate TELL_NOTHING = _ -> new MoveResult.Differs(List.of());

  private final ManualTime time = ManualTime.start();
  private final MemoryBoardStore sound = new MemoryBoardStore(time);
  private final ScriptedBoard store = new ScriptedBoard(sound);

  private static Change<Status> edit(String key, String editor) {
    return Change.ofFree(key, NORMAL, EDITING, editor);
  }

  private static Change<Status> lock(String key, String editor, String child) {
    return Change.ofFree(key, NORMAL, LOCKED, editor).onBehalfOf(child);
  }

  private TransitionResult<Status> transition(Duration atMost, List<Change<Status>> changes)
      throws Exception {
    return transition(atMost, changes, new MemoryEffects(() -> {}));
  }

  private TransitionResult<Status> transition(
      Duration atMost, List<Change<Status>> changes, Effects effects) throws Exception {
    var board = new StatusBoard<>(store, RULES, time, atMost);
    var task = new FutureTask<>(() -> board.transition(changes, effects));
    Thread thread = Thread.ofVirtual().start(task);
    time.passFor(thread, () -> true);
    try {
      return task.get();
    } catch (ExecutionException e) {
      throw (Exception) e.getCause();
    }
  }

  private TransitionResult<Status> adaEditsAAndLocksB() throws Exception {
    return transition(LIMIT, List.of(edit("a", "ada"), lock("b", "ada", "a")));
  }

  /** Bob moves each so many times, to editing or back to normal, past the faults. */
  private void bobMoves(int times, String... keys) {
    for (int i = 0; i < times; i++) {
      for (String key : keys) {
        Item<Status> seen = found(key);
        move(Change.ofSeen(seen, seen.status() == NORMAL ? EDITING : NORMAL, "bob"));
      }
    }
  }

  private void move(Change<Status> change) {
    try {
      assertThat(board().transition(List.of(change))).isInstanceOf(Moved.class);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private Item<Status> found(String key) {
    return board().find(key);
  }

  private StatusBoard<Status> board() {
    return new StatusBoard<>(sound, RULES, time);
  }

  // Tried again

  @Test
  void conflictsThrottlingAndLostRequests_areTriedAgain() throws Exception {
    store.next(CONFLICT, THROTTLE, LOSE_REQUEST, CONFLICT, THROTTLE);

    assertThat(adaEditsAAndLocksB()).isInstanceOf(Moved.class);

    assertThat(store.requests()).isEqualTo(6);
    assertThat(found("b").lockedBy()).isEqualTo("a");
  }

  @Test
  void answerThatDoesNotTellWhatDiffers_isReadBack() throws Exception {
    move(edit("b", "bob"));
    bobMoves(2, "b");
    store.next(
        move -> {
          move(edit("b", "bob"));
          var _ = move.get();
          return new MoveResult.Differs(List.of());
        });

    assertThat(adaEditsAAndLocksB()).isEqualTo(new Refused<>(List.of(found("b"))));
  }

  @Test
  void itemsThatWereMovedThereAndBackMeanwhile_areMovedAllTheSame() throws Exception {
    store.next(
        move -> {
          bobMoves(2, "a", "b");
          return move.get();
        });

    assertThat(adaEditsAAndLocksB()).isInstanceOf(Moved.class);

    assertThat(found("a").editor()).isEqualTo("ada");
    assertThat(store.requests()).isEqualTo(2);
  }

  @Test
  void oneTry_isRefusedByWhatCameInBetween() throws Exception {
    store.next(
        move -> {
          move(edit("b", "bob"));
          return move.get();
        });

    assertThat(transition(Duration.ZERO, List.of(lock("b", "ada", "a"))))
        .isEqualTo(new Refused<>(List.of(found("b"))));
  }

  // Given up

  @Test
  void conflictsUntilTheTimeIsUp_areContention_andNothingIsWritten() {
    store.then(CONFLICT);

    assertThatThrownBy(this::adaEditsAAndLocksB)
        .isInstanceOf(ContendedException.class)
        .hasMessage("2 items did not move within PT10S: TransactionConflict");

    assertThat(time.elapsed()).isEqualTo(LIMIT);
    assertThat(sound.list()).isEmpty();
  }

  @Test
  void throttlingUntilTheTimeIsUp_isUnavailable_andNothingIsWritten() {
    store.then(THROTTLE);

    assertThatThrownBy(this::adaEditsAAndLocksB).isInstanceOf(StoreUnavailableException.class);

    assertThat(time.elapsed()).isEqualTo(LIMIT);
    assertThat(sound.list()).isEmpty();
  }

  @Test
  void silenceUntilTheTimeIsUp_isUnknown() throws Exception {
    store.next(LOSE_ANSWER).then(LOSE_REQUEST);

    assertThat(adaEditsAAndLocksB())
        .isEqualTo(
            new Unknown<>(
                "no answer, and then: 2 items did not move within PT10S: the time was up"));

    assertThat(time.elapsed()).isEqualTo(LIMIT);
  }

  @Test
  void silenceAndThenThrottling_isUnknown() throws Exception {
    store.next(LOSE_ANSWER).then(THROTTLE);

    assertThat(adaEditsAAndLocksB())
        .isInstanceOfSatisfying(
            Unknown.class, unknown -> assertThat(unknown.why()).contains("slow down"));
  }

  @Test
  void denial_isReportedAtOnce() {
    store.then(DENY);

    assertThatThrownBy(this::adaEditsAAndLocksB)
        .isInstanceOf(StoreRefusedException.class)
        .hasMessage("the role may not write");

    assertThat(store.requests()).isEqualTo(1);
  }

  @Test
  void silenceAndThenDenial_isUnknown() throws Exception {
    store.next(LOSE_ANSWER).then(DENY);

    assertThat(adaEditsAAndLocksB())
        .isEqualTo(new Unknown<>("no answer, and then: the role may not write"));
  }

  /** The first request may arrive yet, when its effects can be written. */
  @Test
  void silenceAndThenEffectsThatCannotBeWritten_isUnknown() throws Exception {
    move(edit("a", "ada"));
    store.next(LOSE_REQUEST);
    Effects refused =
        new MemoryEffects(
            () -> {
              throw new EffectsRefusedException("effect 1 cannot be written");
            });

    assertThat(transition(LIMIT, List.of(Change.ofOwn("a", EDITING, NORMAL, "ada")), refused))
        .isEqualTo(new Unknown<>("no answer, and then: effect 1 cannot be written"));
  }

  /** What nobody can tell any more is not guessed. */
  @Test
  void lostRequest_afterWhichOthersLeftNoTraceOfIt_isUnknown() throws Exception {
    store.next(
        LOSE_REQUEST,
        move -> {
          bobMoves(StoredItem.MAX_CHANGES, "a", "b");
          return move.get();
        });

    assertThat(adaEditsAAndLocksB())
        .isEqualTo(
            new Unknown<>(
                "no answer, and then: others have moved them so often that no trace is left"));
  }

  @Test
  void lostAnswer_afterWhichOthersMovedOneItemVeryOften_isKnownAgainByTheOther() throws Exception {
    store.next(
        LOSE_ANSWER,
        move -> {
          bobMoves(StoredItem.MAX_CHANGES, "a");
          return move.get();
        });

    assertThat(adaEditsAAndLocksB()).isInstanceOf(Moved.class);
  }

  @Test
  void answersThatNeverTellWhatDiffers_endInContention() {
    store.then(TELL_NOTHING);

    assertThatThrownBy(this::adaEditsAAndLocksB).isInstanceOf(ContendedException.class);
  }

  // Odd items

  @Test
  void itemInAStatusThatTheBoardLacks_isReported_inOneLine() {
    StoredItem odd =
        new StoredItem(
            ItemKey.of("a"),
            "OLD\n",
            "ada",
            null,
            List.of(),
            Instant.EPOCH,
            1,
            List.of(Nonce.random()));
    assertThat(sound.move(List.of(new Move(null, odd)), null, Nonce.random()))
        .isEqualTo(new MoveResult.Took());

    assertThatThrownBy(() -> board().find("a"))
        .isInstanceOf(StoreRefusedException.class)
        .hasMessageStartingWith("item a is in the status OLD , which this board does not know");
    assertThatThrownBy(this::adaEditsAAndLocksB).isInstanceOf(StoreRefusedException.class);
  }

  @Test
  void itemSeenInAnotherStatusThanItHas_isRefused() throws Exception {
    move(lock("a", "bob", "x"));
    Item<Status> real = found("a");
    var forged =
        new Item<>(
            real.key(),
            EDITING,
            real.editor(),
            null,
            List.of(),
            real.since(),
            real.token(),
            real.change());

    assertThat(transition(LIMIT, List.of(Change.ofSeen(forged, EDITING, "ada"))))
        .isEqualTo(new Refused<>(List.of(real)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "\ud83d", "\udca3x"})
  void textThatIsNone_isRefused(String text) {
    assertThatThrownBy(() -> edit(text, "ada")).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> edit("a", text)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> lock("a", "ada", text)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void textThatIsTooLong_isRefused_withALineOfIt() {
    String tooLong = "\n" + "\u00e4".repeat(128);

    assertThatThrownBy(() -> edit(tooLong, "ada"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "the key of an item has 1 to 256 bytes in UTF-8, this one 257:  %s…",
            "\u00e4".repeat(39));
    assertThat(edit("\u00e4".repeat(128), "ada").key().value()).hasSize(128);
  }
}
