package io.firstclaim.lock.testkit.document;

import io.firstclaim.lock.document.Document;
import io.firstclaim.lock.document.DocumentKey;
import io.firstclaim.lock.document.DocumentStore;
import io.firstclaim.lock.document.History;
import io.firstclaim.lock.document.WriteResult;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A document store that applies every fifth write without saying so. */
public record LostAnswers(DocumentStore store, AtomicInteger writes) implements DocumentStore {
  /** Over this store. */
  public static LostAnswers of(DocumentStore store) {
    return new LostAnswers(store, new AtomicInteger());
  }

  @Override
  public Optional<Document> find(DocumentKey key) {
    return store.find(key);
  }

  @Override
  public WriteResult write(
      DocumentKey key, @Nullable String expected, String content, History history) {
    return answer(store.write(key, expected, content, history));
  }

  @Override
  public WriteResult delete(DocumentKey key, String expected) {
    return answer(store.delete(key, expected));
  }

  private WriteResult answer(WriteResult result) {
    return writes.incrementAndGet() % 5 == 0 ? new WriteResult.Unknown("it was lost") : result;
  }
}
