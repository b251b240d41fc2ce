package io.firstclaim.processor.service.store;

import io.firstclaim.lock.document.Document;
import io.firstclaim.lock.document.DocumentKey;
import io.firstclaim.lock.document.DocumentStore;
import io.firstclaim.lock.document.History;
import io.firstclaim.lock.document.WriteResult;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Documents in a folder of their own beside the claims' in a bucket, whose objects expire: {@code
 * documents/} beside {@code claims/}. Thread-safe.
 */
final class DocumentsApart implements DocumentStore {
  private static final String FOLDER = "documents/";

  private final DocumentStore all;
  private final String prefix;

  /**
   * Documents in a bucket.
   *
   * @param claims the prefix of its claims, which ends in a slash
   */
  DocumentsApart(DocumentStore all, String claims) {
    this.all = all;
    this.prefix = prefix(claims);
  }

  /** What is before the key of each document, where claims have this prefix. */
  static String prefix(String claims) {
    String beside = claims.substring(0, claims.lastIndexOf('/', claims.length() - 2) + 1);
    return beside + (claims.equals(beside + FOLDER) ? "shared-" : "") + FOLDER;
  }

  private DocumentKey key(DocumentKey key) {
    return DocumentKey.of(prefix + key.value());
  }

  @Override
  public Optional<Document> find(DocumentKey key) {
    return all.find(key(key));
  }

  @Override
  public WriteResult write(
      DocumentKey key, @Nullable String expected, String content, History history) {
    return all.write(key(key), expected, content, history);
  }

  @Override
  public WriteResult delete(DocumentKey key, String expected) {
    return all.delete(key(key), expected);
  }
}
