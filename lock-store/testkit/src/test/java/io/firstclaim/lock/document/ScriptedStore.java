package io.firstclaim.lock.document;

import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.memory.MemoryDocumentStore;
import java.io.IOException;
import java.util.Arrays;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Documents in memory, with what goes wrong on the way to them. */
final class ScriptedStore implements DocumentStore {
  /** What becomes of a write. */
  interface Fate {
    /** It is applied, or not, by {@code write}; the answer is what its sender hears. */
    WriteResult meet(Supplier<WriteResult> write);
  }

  static final WriteResult.Unknown NO_ANSWER = new WriteResult.Unknown("no answer");

  private final MemoryDocumentStore store = new MemoryDocumentStore();
  private final Queue<Fate> fates = new ConcurrentLinkedQueue<>();
  private final AtomicInteger writes = new AtomicInteger();
  private volatile BooleanSupplier unreadable = () -> false;
  private volatile BooleanSupplier refused = () -> false;

  /** What becomes of the next writes; those after go well. */
  void next(Fate... next) {
    fates.addAll(Arrays.asList(next));
  }

  /** No read is answered while this holds. */
  void unreadableWhile(BooleanSupplier holds) {
    unreadable = holds;
  }

  /** No read is permitted while this holds. */
  void refusedWhile(BooleanSupplier holds) {
    refused = holds;
  }

  int writes() {
    return writes.get();
  }

  /** The same documents, soundly. */
  MemoryDocumentStore sound() {
    return store;
  }

  @Override
  public Optional<Document> find(DocumentKey key) {
    if (unreadable.getAsBoolean()) {
      throw new StoreUnavailableException("no answer", new IOException("connection reset"));
    }
    if (refused.getAsBoolean()) {
      throw new StoreRefusedException("the role may not read");
    }
    return store.find(key);
  }

  @Override
  public WriteResult write(
      DocumentKey key, @Nullable String expected, String content, History history) {
    return meet(() -> store.write(key, expected, content, history));
  }

  @Override
  public WriteResult delete(DocumentKey key, String expected) {
    return meet(() -> store.delete(key, expected));
  }

  private WriteResult meet(Supplier<WriteResult> write) {
    writes.incrementAndGet();
    Fate fate = fates.poll();
    return fate == null ? write.get() : fate.meet(write);
  }
}
