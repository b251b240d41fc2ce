package io.firstclaim.lock.testkit.document;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.document.Document;
import io.firstclaim.lock.document.DocumentKey;
import io.firstclaim.lock.document.DocumentStore;
import io.firstclaim.lock.document.History;
import io.firstclaim.lock.document.WriteResult;
import io.firstclaim.lock.document.WriteResult.Differs;
import io.firstclaim.lock.document.WriteResult.Written;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The contract of every document store, as far as single requests go. */
public abstract class DocumentStoreContract {
  static final @Nullable String ABSENT = null;

  protected final DocumentKey key = DocumentKey.of("tests/" + Nonce.random() + "/registry.json");

  /** The store, straight and sound. */
  protected abstract DocumentStore store();

  /** A store over the same documents that applies every fifth write without saying so. */
  protected abstract DocumentStore storeThatLosesAnswers();

  /** The largest content that a store keeps, in bytes; 0 if it has no limit that can be tried. */
  protected abstract int maxBytes();

  /** Puts a text where the document would be, as something else would that knows of no store. */
  protected abstract void othersPut(String text);

  /**
   * Whether the store says that there was nothing to delete. Of one that does not, nobody knows who
   * has deleted a document that many delete at once.
   */
  protected boolean tellsOfDeletions() {
    return true;
  }

  /** Whether this may be the answer to a write that came too late. */
  protected boolean isAnswerOfALoser(WriteResult result) {
    return result.equals(new Differs());
  }

  protected Document found() {
    return store().find(key).orElseThrow();
  }

  private WriteResult create(String content) {
    return store().write(key, ABSENT, content, History.NONE.with(Nonce.random()));
  }

  @Test
  void unknownDocument_isAbsent() {
    assertThat(store().find(key)).isEmpty();
  }

  @Test
  void createdDocument_isFound_withItsContentAndHistory() {
    History history = History.NONE.with(Nonce.random());

    assertThat(store().write(key, ABSENT, "{}", history)).isEqualTo(new Written());

    assertThat(found().content()).isEqualTo("{}");
    assertThat(found().history()).isEqualTo(history);
  }

  @Test
  void existingDocument_isNotCreatedAgain() {
    assertThat(create("first")).isEqualTo(new Written());

    assertThat(create("second")).isEqualTo(new Differs());

    assertThat(found().content()).isEqualTo("first");
  }

  @Test
  void documentOfTheExpectedVersion_isReplaced_once() {
    assertThat(create("first")).isEqualTo(new Written());
    Document first = found();

    assertThat(replace(first, "second")).isEqualTo(new Written());
    assertThat(replace(first, "third")).isEqualTo(new Differs());

    assertThat(found().content()).isEqualTo("second");
    assertThat(found().history().writes()).hasSize(2);
  }

  private WriteResult replace(Document expected, String content) {
    History history = expected.history().with(Nonce.random());
    return store().write(key, expected.version(), content, history);
  }

  @Test
  void absentDocument_isNotReplaced() {
    assertThat(create("first")).isEqualTo(new Written());
    DocumentKey other = DocumentKey.of(key + ".other");

    assertThat(store().write(other, found().version(), "second", found().history()))
        .isEqualTo(new Differs());

    assertThat(store().find(other)).isEmpty();
  }

  /**
   * Otherwise a write that was held up on its way could be applied to a state that only looks like
   * the one it expects.
   */
  @Test
  void versionNeverRecurs_thoughTheContentDoes() {
    assertThat(create("same")).isEqualTo(new Written());
    List<String> versions = new ArrayList<>(List.of(found().version()));
    for (String content : List.of("same", "other", "same")) {
      assertThat(replace(found(), content)).isEqualTo(new Written());
      versions.add(found().version());
    }

    assertThat(versions).doesNotHaveDuplicates();
  }

  @Test
  void longestHistory_isKept() {
    History history = History.NONE;
    for (int i = 0; i < History.WRITERS; i++) {
      history = history.with(Nonce.random());
    }

    assertThat(store().write(key, ABSENT, "{}", history)).isEqualTo(new Written());

    assertThat(found().history()).isEqualTo(history);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "\n",
        "a\u0000b\r\n\t\"'\\${x} \u202e \ud83d\udca3 </script>",
        "  \t\n{}\r\n\t  ",
        "e\u0301\u00e9\ufeff"
      })
  void content_isKeptAsItIs(String content) {
    assertThat(create(content)).isEqualTo(new Written());
    assertThat(found().content()).isEqualTo(content);

    assertThat(replace(found(), content + content)).isEqualTo(new Written());
    assertThat(found().content()).isEqualTo(content + content);
  }

  @ParameterizedTest
  @ValueSource(strings = {"a", "a/b", "year=2026/month=11/x.json", "!-_.*'()=", "a..b/...", "A"})
  void legalKeys_areDistinctDocuments(String name) {
    DocumentKey legal = DocumentKey.of(key + "/" + name);

    assertThat(store().write(legal, ABSENT, name, History.NONE.with(Nonce.random())))
        .isEqualTo(new Written());

    assertThat(store().find(legal)).get().extracting(Document::content).isEqualTo(name);
    assertThat(store().find(key)).isEmpty();
  }

  @Test
  void longestKey_isAKey() {
    DocumentKey longest = DocumentKey.of(key + "/" + "x".repeat(511 - key.value().length()));

    assertThat(store().write(longest, ABSENT, "{}", History.NONE.with(Nonce.random())))
        .isEqualTo(new Written());

    assertThat(store().find(longest)).isPresent();
  }

  @Test
  void documentOfTheLargestSize_isKept_andALargerOneRefusedWithTheRemedy() {
    if (maxBytes() == 0) {
      return;
    }
    String largest = "x".repeat(maxBytes());
    History history = History.NONE.with(Nonce.random());
    assertThat(store().write(key, ABSENT, largest, history)).isEqualTo(new Written());
    assertThat(found().content()).isEqualTo(largest);

    assertThatThrownBy(() -> store().write(key, found().version(), largest + "x", history))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("document " + key)
        .hasMessageContaining("bytes")
        .hasMessageContaining("split it");
  }

  // What others have put there

  @ParameterizedTest
  @ValueSource(strings = {"{\"a\": 1}\n", " ", "\ud83d\udca3"})
  void textOfOthers_isADocument_withoutAHistory(String text) {
    othersPut(text);

    assertThat(found().content()).isEqualTo(text);
    assertThat(found().history()).isEqualTo(History.NONE);
    assertThat(create("{}")).isEqualTo(new Differs());
  }

  @Test
  void textOfOthers_isReplaced_once() {
    othersPut("{}");
    Document theirs = found();

    assertThat(replace(theirs, "first")).isEqualTo(new Written());
    assertThat(replace(theirs, "second")).isEqualTo(new Differs());

    assertThat(found().content()).isEqualTo("first");
    assertThat(found().history().writes()).hasSize(1);
  }

  @Test
  void textThatOthersHaveChanged_isNotReplaced_norDeleted() {
    othersPut("{}");
    Document before = found();
    othersPut("{ }");

    assertThat(replace(before, "mine")).isEqualTo(new Differs());
    assertThat(store().delete(key, before.version())).isEqualTo(new Differs());

    assertThat(found().content()).isEqualTo("{ }");
  }

  @Test
  void documentThatOthersHaveWrittenOver_isNotReplaced_norDeleted() {
    assertThat(create("{}")).isEqualTo(new Written());
    Document before = found();
    othersPut("{}");

    assertThat(replace(before, "mine")).isEqualTo(new Differs());
    assertThat(store().delete(key, before.version())).isEqualTo(new Differs());

    assertThat(found().history()).isEqualTo(History.NONE);
  }

  // Deleted

  @Test
  void documentOfTheExpectedVersion_isDeleted_once() {
    assertThat(create("{}")).isEqualTo(new Written());
    String version = found().version();

    assertThat(store().delete(key, version)).isEqualTo(new Written());
    assertThat(store().find(key)).isEmpty();
    assertThat(store().delete(key, version))
        .isEqualTo(tellsOfDeletions() ? new Differs() : new Written());
  }

  @Test
  void textOfOthers_isDeleted() {
    othersPut("{}");

    assertThat(store().delete(key, found().version())).isEqualTo(new Written());

    assertThat(store().find(key)).isEmpty();
  }

  @Test
  void documentThatWasWrittenSince_isNotDeleted() {
    assertThat(create("first")).isEqualTo(new Written());
    Document first = found();
    assertThat(replace(first, "second")).isEqualTo(new Written());

    assertThat(store().delete(key, first.version())).isEqualTo(new Differs());

    assertThat(found().content()).isEqualTo("second");
  }

  @Test
  void documentThatIsMadeAnew_isAnotherOne() {
    assertThat(create("same")).isEqualTo(new Written());
    Document first = found();
    assertThat(store().delete(key, first.version())).isEqualTo(new Written());
    assertThat(create("same")).isEqualTo(new Written());

    assertThat(replace(first, "other")).isEqualTo(new Differs());
    assertThat(store().delete(key, first.version())).isEqualTo(new Differs());

    assertThat(found().content()).isEqualTo("same");
  }

  // Many at once

  @Test
  void manyReplaceAndDeleteOneVersionAtOnce_oneDoes() throws Exception {
    assertThat(create("first")).isEqualTo(new Written());
    Document first = found();

    assertThat(
            inParallel(
                16,
                writer ->
                    writer % 2 == 0
                        ? replace(first, "by " + writer)
                        : store().delete(key, first.version())))
        .containsOnlyOnce(new Written())
        .allMatch(result -> result.equals(new Written()) || isAnswerOfALoser(result));
  }

  @Test
  void manyCreateAtOnce_oneDoes() throws Exception {
    assertThat(inParallel(16, writer -> create("by " + writer)))
        .containsOnlyOnce(new Written())
        .containsOnly(new Written(), new Differs());
  }

  @Test
  void manyReplaceOneVersionAtOnce_oneDoes() throws Exception {
    assertThat(create("first")).isEqualTo(new Written());
    Document first = found();

    assertThat(inParallel(16, writer -> replace(first, "by " + writer)))
        .containsOnlyOnce(new Written())
        .allMatch(result -> result.equals(new Written()) || isAnswerOfALoser(result));
  }

  interface Writer<T> {
    T write(int number) throws Exception;
  }

  static <T> List<T> inParallel(int writers, Writer<T> writer) throws Exception {
    List<Callable<T>> all =
        Stream.iterate(0, i -> i < writers, i -> i + 1)
            .map(i -> (Callable<T>) () -> writer.write(i))
            .toList();
    List<T> results = new ArrayList<>();
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (Future<T> one : threads.invokeAll(all)) {
        results.add(one.get());
      }
    }
    return results;
  }
}
