package io.firstclaim.lock.testkit.board;

import static io.firstclaim.lock.testkit.board.ScriptedBoard.LOSE_ANSWER;
import static io.firstclaim.lock.testkit.board.ScriptedBoard.LOSE_REQUEST;
import static io.firstclaim.lock.testkit.board.Status.EDITING;
import static io.firstclaim.lock.testkit.board.Status.LOCKED;
import static io.firstclaim.lock.testkit.board.Status.NORMAL;
import static io.firstclaim.lock.testkit.board.Status.RULES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.firstclaim.lock.ContendedException;
import io.firstclaim.lock.Effects;
import io.firstclaim.lock.EffectsRefusedException;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.board.BoardOperations;
import io.firstclaim.lock.board.BoardStore;
import io.firstclaim.lock.board.Change;
import io.firstclaim.lock.board.Expected;
import io.firstclaim.lock.board.Item;
import io.firstclaim.lock.board.ItemKey;
import io.firstclaim.lock.board.Move;
import io.firstclaim.lock.board.MoveResult;
import io.firstclaim.lock.board.StatusBoard;
import io.firstclaim.lock.board.StoredItem;
import io.firstclaim.lock.board.TransitionResult;
import io.firstclaim.lock.board.TransitionResult.Moved;
import io.firstclaim.lock.board.TransitionResult.Refused;
import io.firstclaim.lock.testkit.Soak;
import io.firstclaim.lock.testkit.board.ScriptedBoard.Fate;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The contract of every store of a board, and of transitions over it. In this machine's time. */
public abstract class StatusBoardContract {
  private static final Logger LOG = LoggerFactory.getLogger(StatusBoardContract.class);

  /** Time for the slowest machine; nothing depends on it. */
  protected static final Duration PATIENCE = Duration.ofMinutes(1);

  private final String name = "board-" + Nonce.random();
  private BoardStore store;
  private StatusBoard<Status> board;

  /** The store of the board of this name, straight and sound. */
  protected abstract BoardStore store(String board);

  /**
   * Effects that this store takes.
   *
   * @param counter what they count up by one
   * @param most what it has to be less than before, or they are refused
   */
  protected abstract Effects count(String counter, int most);

  /** What effects have counted up. */
  protected abstract int counted(String counter);

  @BeforeEach
  void open() {
    store = store(name);
    board = over(store);
  }

  protected static StatusBoard<Status> over(BoardStore store) {
    return new StatusBoard<>(store, RULES, TimeSource.system(), PATIENCE);
  }

  protected static Change<Status> edit(String key, String editor) {
    return Change.ofFree(key, NORMAL, EDITING, editor);
  }

  protected static Change<Status> lock(String key, String editor, String child) {
    return Change.ofFree(key, NORMAL, LOCKED, editor).onBehalfOf(child);
  }

  protected static List<Item<Status>> moved(StatusBoard<Status> board, List<Change<Status>> changes)
      throws InterruptedException {
    TransitionResult<Status> result = board.transition(changes);
    assertThat(result).isInstanceOf(Moved.class);
    return ((Moved<Status>) result).items();
  }

  protected static List<Item<Status>> inTheWay(
      StatusBoard<Status> board, List<Change<Status>> changes) throws InterruptedException {
    TransitionResult<Status> result = board.transition(changes);
    assertThat(result).isInstanceOf(Refused.class);
    return ((Refused<Status>) result).inTheWay();
  }

  private void assertItem(
      String key, Status status, @Nullable String editor, @Nullable String lockedBy) {
    assertThat(board.find(key))
        .extracting(Item::status, Item::editor, Item::lockedBy)
        .containsExactly(status, editor, lockedBy);
  }

  // One after the other

  @Test
  void itemThatNobodyMoved_isInTheInitialStatus_andNotListed() {
    assertThat(board.find("a"))
        .isEqualTo(new Item<>(ItemKey.of("a"), NORMAL, null, null, List.of(), null, 0, null));
    assertThat(board.list()).isEmpty();
  }

  @Test
  void severalItems_moveAtOnce_withWhoAndOnWhoseBehalfAndSinceWhen() throws Exception {
    List<Item<Status>> items =
        moved(board, List.of(edit("a", "ada"), lock("b", "ada", "a"), lock("c", "ada", "a")));

    assertThat(items).extracting(item -> item.key().value()).containsExactly("a", "b", "c");
    assertThat(items).extracting(Item::status).containsExactly(EDITING, LOCKED, LOCKED);
    assertThat(items).extracting(Item::editor).containsOnly("ada");
    assertThat(items).extracting(Item::lockedBy).containsExactly(null, "a", "a");
    assertThat(items).extracting(Item::change).doesNotContainNull();
    assertThat(items.getFirst().since()).isCloseTo(Instant.now(), within(1, ChronoUnit.MINUTES));
    assertThat(board.list()).isEqualTo(items);
    assertThat(items).allMatch(item -> item.equals(board.find(item.key().value())));
  }

  @Test
  void operator_seesAnItem_andMovesItOn_withoutTheBoardsRules() throws Exception {
    var operations = new BoardOperations(store);
    assertThat(operations.find("a")).isEmpty();
    moved(board, List.of(edit("b", "ada"), lock("a", "ada", "b")));
    StoredItem seen = operations.find("a").orElseThrow();
    assertThat(seen.status()).isEqualTo(LOCKED.name());
    assertThat(seen.lockedBy()).isEqualTo("b");

    StoredItem next = operations.move(seen, NORMAL.name(), "operator: ada is gone");

    assertThat(operations.find("a")).contains(next);
    assertItem("a", NORMAL, "operator: ada is gone", null);
    assertThat(inTheWay(board, List.of(Change.ofOwn("a", LOCKED, NORMAL, "ada", "b")))).hasSize(1);
    moved(board, List.of(edit("a", "bob")));
  }

  @Test
  void itemThatMovedSinceAnOperatorSawIt_staysAsItIs() throws Exception {
    var operations = new BoardOperations(store);
    moved(board, List.of(edit("a", "ada")));
    StoredItem seen = operations.find("a").orElseThrow();
    moved(board, List.of(Change.ofOwn("a", EDITING, NORMAL, "ada")));
    moved(board, List.of(edit("a", "bob")));

    assertThatThrownBy(() -> operations.move(seen, NORMAL.name(), "operator"))
        .isInstanceOf(ContendedException.class);
    assertThatThrownBy(() -> operations.move(seen, "", "operator"))
        .isInstanceOf(IllegalArgumentException.class);

    assertItem("a", EDITING, "bob", null);
  }

  @Test
  void itemsGivenBack_areFreeForOthers() throws Exception {
    moved(board, List.of(edit("a", "ada"), lock("b", "ada", "a")));

    moved(
        board,
        List.of(
            Change.ofOwn("a", EDITING, NORMAL, "ada"),
            Change.ofOwn("b", LOCKED, NORMAL, "ada", "a")));

    assertItem("a", NORMAL, "ada", null);
    assertItem("b", NORMAL, "ada", null);
    moved(board, List.of(edit("b", "bob")));
  }

  @Test
  void itemsInTheWay_areAllNamedWithTheirHolders_andNoneMoves() throws Exception {
    moved(board, List.of(edit("a", "ada"), lock("b", "ada", "a")));
    moved(board, List.of(edit("c", "cleo")));

    List<Item<Status>> inTheWay =
        inTheWay(board, List.of(lock("c", "bob", "d"), edit("d", "bob"), lock("b", "bob", "d")));

    assertThat(inTheWay).containsExactly(board.find("c"), board.find("b"));
    assertThat(inTheWay).extracting(Item::editor).containsExactly("cleo", "ada");
    assertThat(inTheWay).extracting(Item::lockedBy).containsExactly(null, "a");
    assertThat(inTheWay).extracting(Item::since).doesNotContainNull();
    assertItem("d", NORMAL, null, null);
  }

  @Test
  void anothersItem_isNotGivenBackByAccident() throws Exception {
    moved(board, List.of(edit("a", "ada"), lock("b", "ada", "a")));

    assertThat(inTheWay(board, List.of(Change.ofOwn("a", EDITING, NORMAL, "bob"))))
        .containsExactly(board.find("a"));
    assertThat(inTheWay(board, List.of(Change.ofOwn("b", LOCKED, NORMAL, "ada", "other"))))
        .containsExactly(board.find("b"));
    assertThat(inTheWay(board, List.of(Change.ofOwn("b", LOCKED, NORMAL, "ada"))))
        .containsExactly(board.find("b"));
    assertThat(inTheWay(board, List.of(Change.ofOwn("c", EDITING, NORMAL, "ada"))))
        .containsExactly(board.find("c"));

    assertItem("a", EDITING, "ada", null);
    assertItem("b", LOCKED, "ada", "a");
  }

  @Test
  void operator_freesWhatWasSeen_unlessItHasMovedSince_evenThereAndBack() throws Exception {
    List<Item<Status>> seen = moved(board, List.of(edit("a", "ada"), lock("b", "ada", "a")));
    moved(board, List.of(Change.ofOwn("a", EDITING, NORMAL, "ada")));
    List<Item<Status>> again = moved(board, List.of(edit("a", "ada")));

    assertThat(
            inTheWay(
                board,
                List.of(
                    Change.ofSeen(seen.getFirst(), NORMAL, "operator"),
                    Change.ofSeen(seen.getLast(), NORMAL, "operator"))))
        .isEqualTo(again);

    moved(
        board,
        List.of(
            Change.ofSeen(again.getFirst(), NORMAL, "operator"),
            Change.ofSeen(seen.getLast(), NORMAL, "operator")));
    assertItem("a", NORMAL, "operator", null);
    assertItem("b", NORMAL, "operator", null);
  }

  @Test
  void itemSeenUntouched_isTaken_onceOnly() throws Exception {
    Item<Status> seen = board.find("a");

    moved(board, List.of(Change.ofSeen(seen, EDITING, "ada")));

    assertThat(inTheWay(board, List.of(Change.ofSeen(seen, EDITING, "bob"))))
        .containsExactly(board.find("a"));
  }

  @Test
  void itemThatChangesHands_isTheOthersAfterwards() throws Exception {
    Item<Status> adas = moved(board, List.of(edit("a", "ada"))).getFirst();

    moved(board, List.of(Change.ofSeen(adas, EDITING, "bob")));

    inTheWay(board, List.of(Change.ofOwn("a", EDITING, NORMAL, "ada")));
    moved(board, List.of(Change.ofOwn("a", EDITING, NORMAL, "bob")));
  }

  // Shared

  /** Ada edits a, or bob b: children of p, which they share. */
  private static List<Change<Status>> editChild(String child, String editor) {
    return List.of(edit(child, editor), Change.ofShared("p", NORMAL, LOCKED, editor, child));
  }

  private static List<Change<Status>> finishChild(String child, String editor) {
    return List.of(
        Change.ofOwn(child, EDITING, NORMAL, editor),
        Change.ofOwnShare("p", LOCKED, NORMAL, editor, child));
  }

  private void assertShared(String... childrenAndEditors) {
    Item<Status> parent = board.find("p");
    assertThat(parent.status()).isEqualTo(childrenAndEditors.length == 0 ? NORMAL : LOCKED);
    assertThat(parent.lockedBy()).isNull();
    assertThat(parent.shares())
        .extracting(share -> share.lockedBy() + " " + share.editor())
        .containsExactly(childrenAndEditors);
    assertThat(store.read(List.of(ItemKey.of("p"))).getFirst().shares()).isEqualTo(parent.shares());
  }

  @Test
  void childrenOfOneParent_areEditedAtOnce_andTheParentNotBeforeTheLastIsDone() throws Exception {
    Instant first = moved(board, editChild("a", "ada")).getLast().since();
    assertShared("a ada");
    assertThat(inTheWay(board, List.of(edit("p", "cleo")))).containsExactly(board.find("p"));
    moved(board, editChild("b", "bob"));
    assertShared("a ada", "b bob");
    assertThat(board.find("p").shares().getFirst().since()).isEqualTo(first);

    moved(board, finishChild("a", "ada"));
    assertShared("b bob");
    assertThat(inTheWay(board, List.of(edit("p", "cleo")))).containsExactly(board.find("p"));
    moved(board, finishChild("b", "bob"));
    assertShared();

    moved(board, List.of(edit("p", "cleo")));
  }

  @Test
  void parentThatIsEdited_orLockedForOneAlone_isNotShared_andNorIsTheOtherWayRound()
      throws Exception {
    for (Change<Status> alone : List.of(edit("p", "cleo"), lock("p", "cleo", "c"))) {
      moved(board, List.of(alone));
      assertThat(inTheWay(board, editChild("a", "ada"))).containsExactly(board.find("p"));
      moved(board, List.of(Change.ofSeen(board.find("p"), NORMAL, "cleo")));

      moved(board, editChild("a", "ada"));
      assertThat(inTheWay(board, List.of(alone))).containsExactly(board.find("p"));
      moved(board, finishChild("a", "ada"));
    }
    assertItem("a", NORMAL, "ada", null);
  }

  @Test
  void othersShare_isNotLetGoByAccident() throws Exception {
    moved(board, editChild("a", "ada"));
    moved(board, editChild("b", "bob"));

    for (Change<Status> wrong :
        List.of(
            Change.ofOwnShare("p", LOCKED, NORMAL, "bob", "a"),
            Change.ofOwnShare("p", LOCKED, NORMAL, "ada", "b"),
            Change.ofOwnShare("p", LOCKED, NORMAL, "cleo", "c"),
            Change.ofOwn("p", LOCKED, NORMAL, "bob"),
            Change.ofOwn("p", LOCKED, NORMAL, "bob", "b"),
            Change.ofShared("p", NORMAL, LOCKED, "cleo", "b"))) {
      assertThat(inTheWay(board, List.of(wrong))).containsExactly(board.find("p"));
    }

    assertShared("a ada", "b bob");
  }

  @Test
  void shareOfAnEditorWhoVanished_isFreedByAnOperator_andTheOthersStay() throws Exception {
    Item<Status> adas = moved(board, editChild("a", "ada")).getFirst();
    moved(board, editChild("b", "bob"));

    moved(
        board,
        List.of(
            Change.ofSeen(adas, NORMAL, "operator"),
            new Change<>(
                ItemKey.of("p"),
                new Expected.Shared<>(LOCKED, "ada", "a"),
                NORMAL,
                "operator",
                null)));

    assertShared("b bob");
    assertThat(inTheWay(board, finishChild("a", "ada"))).hasSize(2);
    moved(board, finishChild("b", "bob"));
    assertShared();
  }

  @Test
  void operatorWhoMovesASharedItem_endsAllShares() throws Exception {
    moved(board, editChild("a", "ada"));
    moved(board, editChild("b", "bob"));
    var operations = new BoardOperations(store);

    operations.move(operations.find("p").orElseThrow(), NORMAL.name(), "operator");

    assertShared();
    assertThat(inTheWay(board, finishChild("a", "ada"))).containsExactly(board.find("p"));
  }

  @Test
  void shareWhoseAnswerIsLost_isTakenOnce_andSoWithOneThatComesInBetween() throws Exception {
    moved(over(new ScriptedBoard(store).next(LOSE_ANSWER)), editChild("a", "ada"));
    assertShared("a ada");
    var overtaken =
        new ScriptedBoard(store)
            .next(
                move -> {
                  everybodyMoves(editChild("c", "cleo"));
                  return move.get();
                });
    moved(over(overtaken), editChild("b", "bob"));
    assertShared("a ada", "c cleo", "b bob");

    moved(over(new ScriptedBoard(store).next(LOSE_ANSWER)), finishChild("a", "ada"));

    assertShared("c cleo", "b bob");
  }

  /** The texts that an item keeps are limited, so that its size is bounded. */
  @Test
  void itemIsShared_withTheLongestTexts_byNoMoreThanItHasRoomFor() throws Exception {
    IntFunction<String> text = i -> i + "\u00e4".repeat(126) + "x";
    for (int i = 100; i < 100 + StoredItem.MAX_SHARES; i++) {
      moved(board, editChild(text.apply(i), text.apply(i)));
    }

    assertThat(inTheWay(board, editChild("one more", "ada"))).containsExactly(board.find("p"));

    assertThat(board.find("p").shares()).hasSize(StoredItem.MAX_SHARES);
    moved(board, finishChild(text.apply(117), text.apply(117)));
    moved(board, editChild("one more", "ada"));
  }

  @Test
  void itemIsShared_fromTheInitialStatus_andOnSomebodysBehalf() {
    assertThatThrownBy(
            () -> board.transition(List.of(Change.ofShared("p", EDITING, NORMAL, "ada", "a"))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("somebody's");
    assertThatThrownBy(
            () ->
                new Change<>(
                    ItemKey.of("p"), new Expected.Shareable<>(NORMAL), LOCKED, "ada", null))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("p is shared on nobody's behalf");
  }

  // Tokens

  @Test
  void tokenOfAnItem_beginsWithTheTime_andRisesWithEachMove_whoeverMakesIt() throws Exception {
    List<Item<Status>> seen = new ArrayList<>();
    seen.addAll(moved(board, List.of(edit("a", "ada"))));
    seen.addAll(moved(board, List.of(Change.ofOwn("a", EDITING, NORMAL, "ada"))));
    seen.addAll(moved(board, List.of(edit("a", "bob"), edit("b", "bob"))).subList(0, 1));
    seen.addAll(moved(board, List.of(Change.ofSeen(seen.getLast(), EDITING, "ada"))));
    var operations = new BoardOperations(store);
    StoredItem freed =
        operations.move(operations.find("a").orElseThrow(), NORMAL.name(), "operator");
    seen.addAll(moved(board, List.of(edit("a", "ada"))));

    long first = seen.getFirst().token();
    assertThat(first).isCloseTo(Instant.now().toEpochMilli(), within(60_000L));
    assertThat(seen)
        .extracting(Item::token)
        .containsExactly(first, first + 1, first + 2, first + 3, first + 5);
    assertThat(freed.token()).isEqualTo(first + 4);
    assertThat(board.find("a")).isEqualTo(seen.getLast());
  }

  // Effects

  private TransitionResult<Status> save(StatusBoard<Status> by, String editor, int most)
      throws InterruptedException {
    return by.transition(List.of(Change.ofOwn("a", EDITING, EDITING, editor)), count(name, most));
  }

  @Test
  void effects_areWritten_withTheMoveAlone() throws Exception {
    assertThat(board.transition(List.of(edit("a", "ada"), edit("b", "ada")), count(name, 9)))
        .isInstanceOf(Moved.class);
    assertThat(counted(name)).isEqualTo(1);

    assertThat(save(board, "ada", 9)).isInstanceOf(Moved.class);

    assertThat(counted(name)).isEqualTo(2);
    assertItem("a", EDITING, "ada", null);
  }

  @Test
  void editorWhoWasFreed_savesNothing_evenIfTheItemIsEditedAgain() throws Exception {
    Item<Status> adas = moved(board, List.of(edit("a", "ada"))).getFirst();
    moved(board, List.of(Change.ofSeen(adas, NORMAL, "operator")));

    assertThat(save(board, "ada", 9)).isEqualTo(new Refused<>(List.of(board.find("a"))));
    moved(board, List.of(edit("a", "bob")));
    assertThat(save(board, "ada", 9)).isEqualTo(new Refused<>(List.of(board.find("a"))));
    assertThat(board.transition(List.of(Change.ofSeen(adas, EDITING, "ada")), count(name, 9)))
        .isInstanceOf(Refused.class);

    assertThat(counted(name)).isZero();
    assertItem("a", EDITING, "bob", null);
  }

  /** The save was looked at in time, and arrives too late. */
  @Test
  void saveThatArrivesAfterItsEditorWasFreed_savesNothing() throws Exception {
    moved(board, List.of(edit("a", "ada")));
    var late =
        new ScriptedBoard(store)
            .next(
                move -> {
                  theOperatorFrees("a");
                  return move.get();
                });

    assertThat(save(over(late), "ada", 9)).isEqualTo(new Refused<>(List.of(board.find("a"))));

    assertThat(counted(name)).isZero();
  }

  @Test
  void effectsThatCannotBeWritten_moveNothing_andAreNotBlamedForWhatIsInTheWay() throws Exception {
    Item<Status> before = moved(board, List.of(edit("a", "ada"))).getFirst();

    assertThatThrownBy(() -> save(board, "ada", 0)).isInstanceOf(EffectsRefusedException.class);
    assertThat(board.find("a")).isEqualTo(before);

    var late =
        new ScriptedBoard(store)
            .next(
                move -> {
                  theOperatorFrees("a");
                  return move.get();
                });
    assertThat(save(over(late), "ada", 0)).isInstanceOf(Refused.class);
    assertThat(counted(name)).isZero();
  }

  @Test
  void effectsOfAnotherKind_areRefused_andNothingMoves() throws Exception {
    Item<Status> before = moved(board, List.of(edit("a", "ada"))).getFirst();
    record Unknown() implements Effects {}

    assertThatThrownBy(
            () ->
                board.transition(List.of(Change.ofOwn("a", EDITING, NORMAL, "ada")), new Unknown()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("Unknown");

    assertThat(board.find("a")).isEqualTo(before);
  }

  /** Its own effects stand in the way of its repetition, and are not what it is told. */
  @Test
  void effectsWhoseAnswerIsLost_areWrittenOnce() throws Exception {
    moved(board, List.of(edit("a", "ada")));
    for (int n = 1; n <= 2; n++) {
      Fate fate = n == 1 ? LOSE_ANSWER : LOSE_REQUEST;

      assertThat(save(over(new ScriptedBoard(store).next(fate)), "ada", n))
          .isInstanceOf(Moved.class);

      assertThat(counted(name)).isEqualTo(n);
    }
  }

  @Test
  void boards_areApart() throws Exception {
    moved(board, List.of(edit("a", "ada")));

    StatusBoard<Status> other = over(store(name + "/a"));
    moved(other, List.of(edit("a", "bob")));

    assertItem("a", EDITING, "ada", null);
    assertThat(other.list()).extracting(Item::editor).containsExactly("bob");
  }

  @Test
  void hundredItems_moveAtOnce_andMoreAreListed() throws Exception {
    for (String letter : List.of("a", "b")) {
      TransitionResult<Status> result =
          board.transition(
              IntStream.range(0, 100).mapToObj(i -> edit(letter + (100 + i), "ada")).toList());
      assertThat(result).isInstanceOf(Moved.class);
    }

    assertThat(board.list()).hasSize(200).extracting(Item::status).containsOnly(EDITING);
    assertThat(board.list().get(57).key().value()).isEqualTo("a157");
    assertThat(
            board.transition(
                IntStream.range(0, 100).mapToObj(i -> edit("b" + (199 - i), "bob")).toList()))
        .isEqualTo(new Refused<>(board.list().subList(100, 200).reversed()));
  }

  // Before anything is written

  @Test
  void illegalMove_isRefused_withWhatWouldBeLegal_andNothingWritten() {
    assertThatThrownBy(
            () ->
                board.transition(
                    List.of(edit("a", "ada"), Change.ofOwn("b\n", LOCKED, EDITING, "ada", "a"))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("b  must not move from LOCKED to EDITING; from there it may move to [NORMAL]");

    assertThat(board.list()).isEmpty();
  }

  @Test
  void statusThatSomebodyGave_isNotExpectedOfJustAnybody() {
    assertThatThrownBy(() -> board.transition(List.of(Change.ofFree("a", EDITING, NORMAL, "ada"))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("ofOwn")
        .hasMessageContaining("ofSeen");
  }

  @Test
  void itemNamedTwice_noItems_andTooMany_areRefused() {
    assertThatThrownBy(() -> board.transition(List.of(edit("a", "ada"), lock("a", "ada", "a"))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("a transition moves an item once; a is named twice");
    assertThatThrownBy(() -> board.transition(List.of()))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(
            () ->
                board.transition(
                    IntStream.range(0, 101).mapToObj(i -> edit("a" + i, "ada")).toList()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("a transition moves 1 to 100 items, this one 101");
    assertThat(board.list()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        " ",
        "\n",
        "a/b",
        "../a",
        "a\u0000b\r\n\t\"'\\${x} :#? \u202e \ud83d\udca3 </script>",
        "e\u0301\u00e9\ufeff"
      })
  void anyText_isKeptAsItIs(String text) throws Exception {
    moved(board, List.of(Change.ofFree(text, NORMAL, LOCKED, text).onBehalfOf(text)));

    assertItem(text, LOCKED, text, text);
    assertThat(board.list()).extracting(item -> item.key().value()).containsExactly(text);
    moved(board, List.of(Change.ofOwn(text, LOCKED, NORMAL, text, text)));
  }

  @Test
  void longestTexts_areKept_hundredAtOnce() throws Exception {
    List<Change<Status>> changes =
        IntStream.range(100, 200)
            .mapToObj(i -> i + "\u00e4".repeat(126) + "x")
            .map(text -> Change.ofFree(text, NORMAL, LOCKED, text).onBehalfOf(text))
            .toList();

    assertThat(board.transition(changes)).isInstanceOf(Moved.class);

    assertThat(board.list()).hasSize(100);
  }

  // Answers that never come

  private static MoveResult send(BoardStore store, List<Move> moves) {
    return store.move(moves, null, Nonce.random());
  }

  private static Move first(String key, Nonce change) {
    Instant now = Instant.now().truncatedTo(ChronoUnit.MILLIS);
    return new Move(
        null,
        new StoredItem(
            ItemKey.of(key), "EDITING", "ada", null, List.of(), now, 1, List.of(change)));
  }

  @Test
  void sameMoves_inAnotherRequest_areNotMadeAgain_andShowTheirOwnChange() {
    Nonce change = Nonce.random();
    List<Move> moves = List.of(first("a", change), first("b", change));
    assertThat(send(store, moves)).isEqualTo(new MoveResult.Took());

    assertThat(send(store, moves))
        .isInstanceOfSatisfying(
            MoveResult.Differs.class,
            differs ->
                assertThat(differs.present())
                    .extracting(StoredItem::change)
                    .containsExactly(change, change));
  }

  @Test
  void itemsThatAreAsExpected_areNotAmongThoseThatDiffer() {
    assertThat(send(store, List.of(first("b", Nonce.random())))).isEqualTo(new MoveResult.Took());

    assertThat(send(store, List.of(first("a", Nonce.random()), first("b", Nonce.random()))))
        .isInstanceOfSatisfying(
            MoveResult.Differs.class,
            differs ->
                assertThat(differs.present())
                    .extracting(StoredItem::key)
                    .containsExactly(ItemKey.of("b")));
    assertThat(store.read(List.of(ItemKey.of("a")))).isEmpty();
  }

  @Test
  void transitionWhoseAnswerIsLost_isMadeOnce_andKnownAgain() throws Exception {
    var lossy = new ScriptedBoard(store).next(LOSE_ANSWER);

    List<Item<Status>> items = moved(over(lossy), List.of(edit("a", "ada"), lock("b", "ada", "a")));

    assertThat(lossy.requests()).isEqualTo(2);
    assertThat(board.list()).isEqualTo(items);
  }

  @Test
  void transitionWhoseAnswerIsLost_isKnownAgain_evenIfOthersHaveMovedItsItemsSince()
      throws Exception {
    var lossy =
        new ScriptedBoard(store)
            .next(
                LOSE_ANSWER,
                move -> {
                  theOperatorFrees("a", "b");
                  bobTakes("a", "b");
                  return move.get();
                });

    moved(over(lossy), List.of(edit("a", "ada"), lock("b", "ada", "a")));

    assertItem("a", EDITING, "bob", null);
    assertItem("b", EDITING, "bob", null);
  }

  @Test
  void transitionWhoseRequestIsLost_isRefused_ifAnotherTookItsItemsMeanwhile() throws Exception {
    var lossy =
        new ScriptedBoard(store)
            .next(
                LOSE_REQUEST,
                move -> {
                  bobTakes("b");
                  return move.get();
                });

    assertThat(inTheWay(over(lossy), List.of(edit("a", "ada"), lock("b", "ada", "a"))))
        .containsExactly(board.find("b"));

    assertItem("a", NORMAL, null, null);
    assertItem("b", EDITING, "bob", null);
  }

  /** Refused is final: nothing of it can come true later. */
  @Test
  void requestThatArrivesAfterItsRefusal_changesNothing() throws Exception {
    List<Supplier<MoveResult>> late = new ArrayList<>();
    var slow =
        new ScriptedBoard(store)
            .next(
                move -> {
                  late.add(move);
                  return new MoveResult.Unknown("no answer");
                },
                move -> {
                  bobTakes("b");
                  return move.get();
                });
    inTheWay(over(slow), List.of(edit("a", "ada"), lock("b", "ada", "a")));
    moved(board, List.of(Change.ofOwn("b", EDITING, NORMAL, "bob")));

    assertThat(late.getFirst().get()).isInstanceOf(MoveResult.Differs.class);

    assertItem("a", NORMAL, null, null);
    assertItem("b", NORMAL, "bob", null);
  }

  private void bobTakes(String... keys) {
    everybodyMoves(Arrays.stream(keys).map(key -> edit(key, "bob")).toList());
  }

  private void theOperatorFrees(String... keys) {
    everybodyMoves(
        Arrays.stream(keys)
            .map(key -> Change.ofSeen(board.find(key), NORMAL, "operator"))
            .toList());
  }

  private void everybodyMoves(List<Change<Status>> changes) {
    try {
      assertThat(board.transition(changes)).isInstanceOf(Moved.class);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  // Many at once

  @Test
  @Timeout(600)
  void manyEditorsAtOnce_editAndLockOneByOne() throws Exception {
    race(EditorsRace.over(() -> store(name)));
  }

  @Test
  @Timeout(600)
  void manyEditorsAtOnce_whoShareTheParents_editNoneWhoseChildIsEdited() throws Exception {
    race(EditorsRace.sharing(() -> store(name)));
  }

  @Test
  @Timeout(600)
  void manyEditorsAtOnce_whoseRequestsAndAnswersAreLost_editAndLockOneByOne() throws Exception {
    AtomicInteger requests = new AtomicInteger();
    Fate lossy =
        move ->
            switch (requests.incrementAndGet() % 11) {
              case 3 -> LOSE_ANSWER.meet(move);
              case 7 -> LOSE_REQUEST.meet(move);
              default -> move.get();
            };
    race(EditorsRace.over(() -> new ScriptedBoard(store(name)).then(lossy)));
  }

  private static void race(EditorsRace race) throws Exception {
    race.run(soundly(), new Random(4711));
    LOG.info("Race of editors: {}", race);
  }

  /** How long a race lasts: a second, or a minute in a soak. */
  private static Duration soundly() {
    return Duration.ofSeconds(Soak.times(1, 60));
  }
}
