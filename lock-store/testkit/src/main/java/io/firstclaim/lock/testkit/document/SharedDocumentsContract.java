package io.firstclaim.lock.testkit.document;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.document.Document;
import io.firstclaim.lock.document.DocumentStore;
import io.firstclaim.lock.document.SharedDocuments;
import io.firstclaim.lock.testkit.Soak;
import io.firstclaim.lock.testkit.fault.Fault;
import io.firstclaim.lock.testkit.fault.FaultProxy;
import io.firstclaim.lock.testkit.fault.Match;
import io.firstclaim.lock.testkit.fault.Request;
import io.firstclaim.lock.testkit.fault.Rule;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The contract of a document store: {@link DocumentStoreContract}, and what updates of shared
 * documents promise over it. Runs in this machine's time.
 */
public abstract class SharedDocumentsContract extends DocumentStoreContract {
  private static final int WRITERS = 32;

  /** The place in a history by which a document is told from one that is made anew. */
  private static final int BIRTH = 1;

  private static final int INCREMENTS = Soak.times(10, 50);

  /** Time for the slowest machine; nothing depends on it. */
  private static final Duration PATIENCE = Duration.ofMinutes(5);

  /** Every fifth of these requests breaks its connection, and every hundredth is never answered. */
  protected static void loseAnswers(FaultProxy proxy, Predicate<Request> write) {
    proxy.add(Rule.always(write.and(Match.everyNth(100)), new Fault.LoseResponse()));
    proxy.add(Rule.always(write.and(Match.everyNth(5)), new Fault.ResetAfterApply()));
  }

  private static SharedDocuments over(DocumentStore store) {
    return new SharedDocuments(store, TimeSource.system());
  }

  private static String increment(Optional<String> old) {
    return Integer.toString(old.map(Integer::parseInt).orElse(0) + 1);
  }

  @Test
  void update_createsReplacesAndAnswersTheDocument() throws Exception {
    SharedDocuments documents = over(store());

    assertThat(documents.update(key, PATIENCE, old -> old.orElse("new"))).isEqualTo("new");
    assertThat(documents.update(key, PATIENCE, old -> old.orElseThrow() + "er")).isEqualTo("newer");

    assertThat(found().content()).isEqualTo("newer");
  }

  @Test
  void changeOfNothing_writesNothing() throws Exception {
    SharedDocuments documents = over(store());
    documents.update(key, PATIENCE, unused -> "same");
    Document before = found();

    assertThat(documents.update(key, PATIENCE, Optional::orElseThrow)).isEqualTo("same");

    assertThat(found()).isEqualTo(before);
  }

  @Test
  void updatesOfOneWriter_takeOnePlaceInTheHistory() throws Exception {
    SharedDocuments documents = over(store());
    for (int i = 0; i < 5; i++) {
      documents.update(key, PATIENCE, SharedDocumentsContract::increment);
    }

    assertThat(found().content()).isEqualTo("5");
    assertThat(found().history().writes()).hasSize(BIRTH + 1);
  }

  @Test
  void textOfOthers_isAdoptedByTheFirstUpdate_asItIs() throws Exception {
    othersPut("{\"a\": 1}\n");

    assertThat(over(store()).update(key, PATIENCE, old -> old.orElseThrow() + "b"))
        .isEqualTo("{\"a\": 1}\nb");

    assertThat(found().content()).isEqualTo("{\"a\": 1}\nb");
    assertThat(found().history().writes()).hasSize(BIRTH + 1);
  }

  @Test
  void documentThatMeetsTheCondition_isDeleted_andOneThatDoesNotIsKept() throws Exception {
    SharedDocuments documents = over(store());
    documents.update(key, PATIENCE, unused -> "some");

    assertThat(documents.deleteIf(key, PATIENCE, String::isEmpty)).isEmpty();
    assertThat(found().content()).isEqualTo("some");

    assertThat(documents.deleteIf(key, PATIENCE, "some"::equals)).contains("some");
    assertThat(store().find(key)).isEmpty();

    assertThat(documents.deleteIf(key, PATIENCE, "some"::equals)).isEmpty();
    assertThat(documents.update(key, PATIENCE, old -> old.orElse("new"))).isEqualTo("new");
  }

  @Test
  @Timeout(600)
  void manyWritersAtOnce_loseNoUpdate() throws Exception {
    assertEveryIncrementCounts(store());
  }

  @Test
  @Timeout(600)
  void manyWritersAtOnce_whoseAnswersAreLost_adoptWhatWasThere_loseNoUpdate_andMakeNoneTwice()
      throws Exception {
    othersPut("0");
    assertEveryIncrementCounts(storeThatLosesAnswers());
  }

  /** What is deleted and what is left, all told, is what was counted. */
  @Test
  @Timeout(600)
  void manyWriteAndDeleteAtOnce_andNothingIsLost() throws Exception {
    assumeTrue(tellsOfDeletions());
    List<Integer> deleted =
        inParallel(
            WRITERS / 2,
            writer -> {
              SharedDocuments documents = over(store());
              int sum = 0;
              for (int i = 0; i < INCREMENTS; i++) {
                documents.update(key, PATIENCE, SharedDocumentsContract::increment);
                sum +=
                    documents
                        .deleteIf(key, PATIENCE, count -> writer % 4 == 0 && count.length() > 1)
                        .map(Integer::parseInt)
                        .orElse(0);
              }
              return sum;
            });

    int left = store().find(key).map(Document::content).map(Integer::parseInt).orElse(0);
    assertThat(deleted.stream().mapToInt(Integer::intValue).sum() + left)
        .isEqualTo(WRITERS / 2 * INCREMENTS);
    assertThat(deleted).anyMatch(sum -> sum > 0);
  }

  private void assertEveryIncrementCounts(DocumentStore used) throws Exception {
    inParallel(
        WRITERS,
        unused -> {
          SharedDocuments writer = over(used);
          for (int i = 0; i < INCREMENTS; i++) {
            writer.update(key, PATIENCE, SharedDocumentsContract::increment);
          }
          return writer;
        });

    assertThat(found().content()).isEqualTo(Integer.toString(WRITERS * INCREMENTS));
    assertThat(found().history().writes()).hasSize(BIRTH + WRITERS);
  }
}
