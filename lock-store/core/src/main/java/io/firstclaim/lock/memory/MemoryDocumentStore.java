package io.firstclaim.lock.memory;

import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.document.Document;
import io.firstclaim.lock.document.DocumentKey;
import io.firstclaim.lock.document.DocumentStore;
import io.firstclaim.lock.document.History;
import io.firstclaim.lock.document.WriteResult;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/**
 * Documents in the memory of one process, with the same conditions as the real ones. For tests and
 * trials. Thread-safe.
 */
public final class MemoryDocumentStore implements DocumentStore {
  private final ConcurrentMap<DocumentKey, Document> documents = new ConcurrentHashMap<>();

  /** No documents yet. */
  public MemoryDocumentStore() {}

  /** Puts a text there as something else would: on no condition, and without a history. */
  public void put(DocumentKey key, String text) {
    documents.put(key, new Document(text, Nonce.random().toString(), History.NONE));
  }

  @Override
  public Optional<Document> find(DocumentKey key) {
    return Optional.ofNullable(documents.get(key));
  }

  @Override
  public WriteResult write(
      DocumentKey key, @Nullable String expected, String content, History history) {
    Document written = new Document(content, history.latest().toString(), history);
    Document stored = documents.get(key);
    boolean took =
        expected == null
            ? documents.putIfAbsent(key, written) == null
            : stored != null
                && stored.version().equals(expected)
                && documents.replace(key, stored, written);
    return took ? new WriteResult.Written() : new WriteResult.Differs();
  }

  @Override
  public WriteResult delete(DocumentKey key, String expected) {
    Document stored = documents.get(key);
    boolean took =
        stored != null && stored.version().equals(expected) && documents.remove(key, stored);
    return took ? new WriteResult.Written() : new WriteResult.Differs();
  }
}
