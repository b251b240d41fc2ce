package io.firstclaim.lock.memory;

import io.firstclaim.lock.document.DocumentStore;
import io.firstclaim.lock.testkit.document.LostAnswers;
import io.firstclaim.lock.testkit.document.SharedDocumentsContract;

class MemoryDocumentStoreTest extends SharedDocumentsContract {
  private final MemoryDocumentStore store = new MemoryDocumentStore();
  private final DocumentStore lossy = LostAnswers.of(store);

  @Override
  protected DocumentStore store() {
    return store;
  }

  @Override
  protected DocumentStore storeThatLosesAnswers() {
    return lossy;
  }

  @Override
  protected void othersPut(String text) {
    store.put(key, text);
  }

  @Override
  protected int maxBytes() {
    return 0;
  }
}
