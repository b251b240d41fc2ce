package io.firstclaim.lock.document;

import static io.firstclaim.lock.document.ScriptedStore.NO_ANSWER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.ContendedException;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.document.ScriptedStore.Fate;
import io.firstclaim.lock.testkit.ManualTime;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The loop, on a store whose faults the test chooses; the test drives the time. */
class SharedDocumentsTest {
  private static final DocumentKey KEY = DocumentKey.of("counter");
  private static final Duration LIMIT = Duration.ofMinutes(1);

  private static final Fate APPLIED_UNANSWERED =
      write -> {
        WriteResult _ = write.get();
        return NO_ANSWER;
      };
  private static final Fate LOST = _ -> NO_ANSWER;
  private static final Fate REPEATED_AND_REFUSED =
      write -> {
        WriteResult _ = write.get();
        return write.get();
      };

  private final ManualTime time = ManualTime.start();
  private final ScriptedStore store = new ScriptedStore();
  private final List<String> heard = new ArrayList<>();
  private final SharedDocuments documents =
      new SharedDocuments(
          store, time, (key, retries, took) -> heard.add("%s %d %s".formatted(key, retries, took)));
  private final AtomicInteger applied = new AtomicInteger();

  /** Writes that are held up on their way. */
  private final Deque<Supplier<WriteResult>> late = new ArrayDeque<>();

  private final Fate heldUp =
      write -> {
        late.add(write);
        return NO_ANSWER;
      };

  private String increment(Optional<String> old) {
    applied.incrementAndGet();
    return Integer.toString(old.map(Integer::parseInt).orElse(0) + 1);
  }

  private String update(Duration atMost, Function<Optional<String>, String> change)
      throws Exception {
    var update = new FutureTask<>(() -> documents.update(KEY, atMost, change));
    Thread thread = Thread.ofVirtual().start(update);
    time.passFor(thread, () -> true);
    try {
      return update.get();
    } catch (ExecutionException e) {
      throw (Exception) e.getCause();
    }
  }

  private String increment() throws Exception {
    return update(LIMIT, this::increment);
  }

  private void others(int writers) {
    for (int i = 0; i < writers; i++) {
      try {
        new SharedDocuments(store.sound(), time)
            .update(
                KEY,
                Duration.ZERO,
                old -> Integer.toString(old.map(Integer::parseInt).orElse(0) + 1000));
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }
  }

  private Optional<String> stored() {
    return store.sound().find(KEY).map(Document::content);
  }

  // One's own success

  @Test
  void writeWhoseAnswerIsLost_isKnownAgain_andNotRepeated() throws Exception {
    store.next(APPLIED_UNANSWERED, write -> write.get(), APPLIED_UNANSWERED);

    assertThat(increment()).isEqualTo("1");
    assertThat(increment()).isEqualTo("2");
    assertThat(increment()).isEqualTo("3");

    assertThat(stored()).contains("3");
    assertThat(store.writes()).isEqualTo(3);
    assertThat(applied).hasValue(3);
  }

  @Test
  void writeThatIsRefusedAfterItsOwnSuccess_isKnownAgain() throws Exception {
    store.next(REPEATED_AND_REFUSED);

    assertThat(increment()).isEqualTo("1");

    assertThat(stored()).contains("1");
    assertThat(applied).hasValue(1);
  }

  @Test
  void writeWhoseAnswerIsLost_isKnownAgain_whileFewerThan48OtherWritersFollow() throws Exception {
    for (int before : new int[] {0, 1, 100}) {
      others(before);
      int base = stored().map(Integer::parseInt).orElse(0);
      store.next(
          write -> {
            WriteResult _ = write.get();
            others(History.WRITERS - 1);
            return NO_ANSWER;
          });

      assertThat(increment()).as("the document as it was left").isEqualTo("" + (base + 1));

      assertThat(stored()).contains("" + (base + 1 + 1000 * (History.WRITERS - 1)));
    }
  }

  @Test
  void writeWhoseAnswerIsLost_isUnknown_whenTooManyOtherWritersFollow() {
    for (Fate fate : new Fate[] {APPLIED_UNANSWERED, LOST}) {
      store.next(
          write -> {
            WriteResult answer = fate.meet(write);
            others(History.WRITERS);
            return answer;
          });

      assertThatThrownBy(this::increment)
          .isInstanceOf(OutcomeUnknownException.class)
          .hasMessage(
              "it is not known whether the update of document counter was applied: no answer, and"
                  + " 48 others have written since");
    }
  }

  // A write that was not applied, or not yet

  @Test
  void writeThatIsLost_isSentAgain_withoutApplyingTheChangeAnew() throws Exception {
    store.next(LOST, LOST);

    assertThat(increment()).isEqualTo("1");

    assertThat(store.writes()).isEqualTo(3);
    assertThat(applied).hasValue(1);
  }

  @Test
  void writeThatIsLost_isMadeAnew_onWhatOthersHaveWritten() throws Exception {
    store.next(
        _ -> {
          others(3);
          return NO_ANSWER;
        });

    assertThat(increment()).isEqualTo("3001");

    assertThat(applied).hasValue(2);
  }

  @Test
  void writeThatArrivesLate_beforeItsRepetition_isTheOneThatCounts() throws Exception {
    store.next(
        heldUp,
        write -> {
          assertThat(late.remove().get()).isEqualTo(new WriteResult.Written());
          return write.get();
        });

    assertThat(increment()).isEqualTo("1");

    assertThat(stored()).contains("1");
  }

  @Test
  void writeThatArrivesLate_afterItsRepetition_changesNothing() throws Exception {
    store.next(heldUp);

    assertThat(increment()).isEqualTo("1");

    assertThat(late.remove().get()).isEqualTo(new WriteResult.Differs());
    assertThat(stored()).contains("1");
  }

  /** Two updates of one writer, of which the first was given up on its way. */
  @Test
  void writeOfAnUpdateGivenUp_thatArrivesLate_isNotTakenForTheNextOne() throws Exception {
    store.next(heldUp);
    assertThatThrownBy(() -> update(Duration.ZERO, this::increment))
        .isInstanceOf(OutcomeUnknownException.class)
        .hasMessage(
            "it is not known whether the update of document counter was applied: no answer, until"
                + " the time was up");
    store.next(
        write -> {
          assertThat(late.remove().get()).isEqualTo(new WriteResult.Written());
          return write.get();
        });

    assertThat(increment()).isEqualTo("2");

    assertThat(stored()).contains("2");
  }

  @Test
  void documentDeletedAfterALostAnswer_isUnknown() throws Exception {
    var deleting =
        new DocumentStore() {
          boolean written;

          @Override
          public Optional<Document> find(DocumentKey key) {
            return written ? Optional.empty() : Optional.of(document());
          }

          private Document document() {
            return new Document("1", "version", History.NONE);
          }

          @Override
          public WriteResult write(
              DocumentKey key, @Nullable String expected, String content, History history) {
            written = true;
            return NO_ANSWER;
          }

          @Override
          public WriteResult delete(DocumentKey key, String expected) {
            throw new AssertionError("nothing deletes it here");
          }
        };

    assertThatThrownBy(
            () -> new SharedDocuments(deleting, time).update(KEY, Duration.ZERO, this::increment))
        .isInstanceOf(OutcomeUnknownException.class)
        .hasMessageEndingWith("no answer, and it was deleted since");
  }

  // What others write past it

  @Test
  void lostAnswer_afterWhichOthersWroteWithoutAHistory_isUnknown() throws Exception {
    for (boolean createdBefore : new boolean[] {false, true}) {
      if (createdBefore) {
        others(2);
      }
      store.next(
          write -> {
            WriteResult _ = write.get();
            store.sound().put(KEY, "0");
            if (createdBefore) {
              others(1);
            }
            return NO_ANSWER;
          });

      assertThatThrownBy(this::increment)
          .isInstanceOf(OutcomeUnknownException.class)
          .hasMessageEndingWith("no answer, and its history has begun anew since");
    }
  }

  // Deletions

  private Optional<String> delete() throws Exception {
    return delete(LIMIT);
  }

  private Optional<String> delete(Duration atMost) throws Exception {
    var deletion = new FutureTask<>(() -> documents.deleteIf(KEY, atMost, _ -> true));
    Thread thread = Thread.ofVirtual().start(deletion);
    time.passFor(thread, () -> true);
    try {
      return deletion.get();
    } catch (ExecutionException e) {
      throw (Exception) e.getCause();
    }
  }

  @Test
  void deletionWhoseAnswerIsLost_isMadeOnce() throws Exception {
    for (Fate fate : new Fate[] {APPLIED_UNANSWERED, LOST}) {
      others(1);
      store.next(fate);

      assertThat(delete()).contains("1000");

      assertThat(stored()).isEmpty();
    }
  }

  @Test
  void deletionWhoseRequestIsLost_isDecidedAnew_onWhatOthersHaveWritten() throws Exception {
    others(1);
    store.next(
        _ -> {
          others(1);
          return NO_ANSWER;
        });

    assertThat(delete()).contains("2000");
  }

  @Test
  void deletionWhoseAnswerIsLost_isUnknown_ifOthersMadeTheDocumentAnew() {
    for (Runnable before : new Runnable[] {() -> others(1), () -> store.sound().put(KEY, "0")}) {
      before.run();
      store.next(
          write -> {
            WriteResult _ = write.get();
            others(1);
            return NO_ANSWER;
          });

      assertThatThrownBy(this::delete)
          .isInstanceOf(OutcomeUnknownException.class)
          .hasMessageEndingWith("no answer, and its history has begun anew since");
    }
  }

  /** The same writers wrote the document before and after. */
  @Test
  void lostAnswer_isUnknown_ifItsWritersMadeTheDocumentAnew() throws Exception {
    var others = new SharedDocuments(store.sound(), time);
    var deleting = new SharedDocuments(store.sound(), time);
    for (String lost : new String[] {"deletion", "update"}) {
      others.update(KEY, LIMIT, _ -> "7");
      store.next(
          write -> {
            WriteResult _ = write.get();
            try {
              deleting.deleteIf(KEY, LIMIT, _ -> true);
              others.update(KEY, LIMIT, _ -> "1");
            } catch (InterruptedException e) {
              throw new AssertionError(e);
            }
            return NO_ANSWER;
          });

      assertThatThrownBy(lost.equals("deletion") ? this::delete : this::increment)
          .as(lost)
          .isInstanceOf(OutcomeUnknownException.class)
          .hasMessageEndingWith("no answer, and its history has begun anew since");

      assertThat(stored()).as("what came since").contains("1");
      others.deleteIf(KEY, LIMIT, _ -> true);
    }
  }

  @Test
  void writeThatIsLost_isMadeAnew_thoughItsDocumentsOnlyWriterWroteMeanwhile() throws Exception {
    var other = new SharedDocuments(store.sound(), time);
    other.update(KEY, LIMIT, _ -> "7");
    store.next(
        _ -> {
          try {
            other.update(KEY, LIMIT, _ -> "8");
          } catch (InterruptedException e) {
            throw new AssertionError(e);
          }
          return NO_ANSWER;
        });

    assertThat(increment()).isEqualTo("9");
  }

  // Under a nonce of the caller's

  @Test
  void documentThatIsMadeAnewUnderItsNonce_isAnotherOne() throws Exception {
    Nonce nonce = Nonce.random();
    documents.update(KEY, LIMIT, nonce, _ -> "same");
    documents.update(KEY, LIMIT, nonce, _ -> "not made again");
    Document first = store.sound().find(KEY).orElseThrow();
    assertThat(first.content()).isEqualTo("same");
    delete();

    documents.update(KEY, LIMIT, nonce, _ -> "same");

    assertThat(store.sound().delete(KEY, first.version())).isEqualTo(new WriteResult.Differs());
    assertThat(stored()).contains("same");
  }

  @Test
  void deletionThatArrivesLate_deletesNothingThatCameSince() throws Exception {
    others(1);
    store.next(heldUp, heldUp);
    assertThat(delete()).contains("1000");
    others(1);

    assertThat(late.remove().get()).isEqualTo(new WriteResult.Differs());
    assertThat(late.remove().get()).isEqualTo(new WriteResult.Differs());

    assertThat(stored()).contains("1000");
  }

  // Who listens

  @Test
  void listener_hearsHowOftenEachWasTriedAgain_howeverItEnded() throws Exception {
    increment();
    store.next(_ -> new WriteResult.Differs());
    assertThatThrownBy(() -> update(Duration.ZERO, this::increment))
        .isInstanceOf(ContendedException.class);
    store.next(_ -> new WriteResult.Differs());
    assertThatThrownBy(() -> delete(Duration.ZERO)).isInstanceOf(ContendedException.class);
    update(Duration.ZERO, Optional::orElseThrow);

    assertThat(heard)
        .containsExactly("counter 0 PT0S", "counter 1 PT0S", "counter 1 PT0S", "counter 0 PT0S");
  }

  // The end of patience

  @Test
  void othersAlwaysFaster_isContended_andNothingWritten() {
    Fate tooLate =
        write -> {
          others(1);
          return write.get();
        };
    for (int i = 0; i < 1000; i++) {
      store.next(tooLate);
    }

    assertThatThrownBy(this::increment)
        .isInstanceOf(ContendedException.class)
        .hasMessage(
            "document counter was not updated: others were faster until the time was up. Nothing"
                + " was written; allow more time, or gather changes into fewer updates");

    assertThat(time.elapsed()).isEqualTo(LIMIT);
    assertThat(store.writes()).as("with growing pauses").isBetween(30, 200);
    assertThat(stored()).contains(Integer.toString(1000 * store.writes()));
  }

  @Test
  void zeroTime_isOneAttempt() throws Exception {
    assertThat(update(Duration.ZERO, this::increment)).isEqualTo("1");
    store.next(_ -> new WriteResult.Differs());

    assertThatThrownBy(() -> update(Duration.ZERO, this::increment))
        .isInstanceOf(ContendedException.class);

    assertThat(store.writes()).isEqualTo(2);
    assertThat(time.elapsed()).isZero();
  }

  @Test
  void lostAnswer_isResolvedByOneMoreRead_thoughTheTimeIsUp() throws Exception {
    store.next(APPLIED_UNANSWERED);

    assertThat(update(Duration.ZERO, this::increment)).isEqualTo("1");
  }

  @Test
  void unreadableStore_isUnavailable_andComesBack() throws Exception {
    store.unreadableWhile(() -> true);
    assertThatThrownBy(this::increment).isInstanceOf(StoreUnavailableException.class);
    assertThat(time.elapsed()).isEqualTo(LIMIT);

    Duration back = LIMIT.plusSeconds(10);
    store.unreadableWhile(() -> time.elapsed().compareTo(back) < 0);
    assertThat(increment()).isEqualTo("1");
  }

  @Test
  void unreadableStore_afterALostAnswer_isUnknown() {
    store.next(APPLIED_UNANSWERED);
    store.unreadableWhile(() -> store.writes() > 0);

    assertThatThrownBy(this::increment).isInstanceOf(OutcomeUnknownException.class);
  }

  @Test
  void interruptedUpdate_waitsNoLonger() throws Exception {
    store.unreadableWhile(() -> true);
    var update = new FutureTask<>(() -> documents.update(KEY, LIMIT, this::increment));
    Thread thread = Thread.ofVirtual().name("updater").start(update);
    time.awaitSleeper("updater");

    thread.interrupt();

    assertThatThrownBy(update::get).hasCauseInstanceOf(InterruptedException.class);
  }

  // The change

  @Test
  void changeThatThrows_endsTheUpdate_withNothingWritten() throws Exception {
    assertThatThrownBy(
            () ->
                update(
                    LIMIT,
                    _ -> {
                      throw new IllegalStateException("not this document");
                    }))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("not this document");

    assertThat(store.writes()).isZero();
    assertThat(increment()).isEqualTo("1");
  }

  @Test
  void changeToWhatUtf8CannotWrite_isRefused() {
    assertThatThrownBy(() -> update(LIMIT, _ -> "half a pair: \ud83d"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("document counter would have half a surrogate pair, which UTF-8 cannot write");

    assertThat(stored()).isEmpty();
  }

  // A right that is withdrawn meanwhile

  @Test
  void refusalAfterAnUnknownWrite_leavesItUnknown() {
    store.next(
        APPLIED_UNANSWERED,
        _ -> {
          throw new AssertionError("not sent again");
        });
    store.refusedWhile(() -> store.writes() > 0);

    assertThatThrownBy(this::increment)
        .isInstanceOf(OutcomeUnknownException.class)
        .hasMessageContaining("no answer")
        .hasMessageContaining("the role may not read");
  }

  @Test
  void refusalOfAWriteAfterAnUnknownOne_leavesThatUnknown() {
    store.next(
        LOST,
        _ -> {
          throw new StoreRefusedException("the role may not write");
        });

    assertThatThrownBy(this::increment)
        .isInstanceOf(OutcomeUnknownException.class)
        .hasMessageContaining("the role may not write");
  }

  @Test
  void refusalOfTheFirstWrite_isARefusal() {
    store.next(
        _ -> {
          throw new StoreRefusedException("the role may not write");
        });

    assertThatThrownBy(this::increment).isInstanceOf(StoreRefusedException.class);
  }
}
