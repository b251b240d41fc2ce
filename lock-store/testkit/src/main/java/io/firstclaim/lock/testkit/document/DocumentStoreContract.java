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
