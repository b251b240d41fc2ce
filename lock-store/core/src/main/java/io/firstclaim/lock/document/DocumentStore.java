package io.firstclaim.lock.document;

import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Keeps documents, each with its history, by conditional writes. Update them with {@link
 * SharedDocuments}; a write that goes past it takes a document's history away.
 *
 * <p>A text that something else has put where a document would be is one, without a history, until
 * it is written here.
 *
 * <p>Thread-safe. Every method may block for the client's time limit.
 */
public interface DocumentStore {
  /**
   * The document, by a strongly consistent read.
   *
   * @throws StoreUnavailableException if the store did not answer
   * @throws StoreRefusedException if what is there is not a document, or must not be read; the
   *     message names it and the remedy
   */
  Optional<Document> find(DocumentKey key);

  /**
   * Writes a document on the condition that it is the expected one. Answers {@link
   * WriteResult.Differs} only if the write was sent once: a condition that fails on a retry may
   * have failed because the first try succeeded.
   *
   * @param expected the version it must have; null if it must not be there
   * @param content its text, which UTF-8 must be able to write
   * @param history of the document, with this write as its latest, by a nonce that no other write
   *     has, before or after: the version may be made of it
   * @throws IllegalArgumentException if the document is too large for the store
   * @throws StoreRefusedException if it must not be written; the message names the remedy
   */
  WriteResult write(DocumentKey key, @Nullable String expected, String content, History history);

  /**
   * Deletes a document, and its history with it, on the condition that it is the expected one.
   * Answers {@link WriteResult.Differs} only if the request was sent once, as {@link #write} does.
   *
   * @param expected the version it must have
   * @throws StoreRefusedException if it must not be deleted; the message names the remedy
   */
  WriteResult delete(DocumentKey key, String expected);
}
