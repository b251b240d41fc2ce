package io.firstclaim.processor.service.store;

import io.firstclaim.lock.ClaimOperations;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ConformanceResult;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.StoreListener;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.board.BoardStore;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.lock.memory.MemoryDocumentStore;
import io.firstclaim.lock.store.DrivenClaimStore;
import io.firstclaim.processor.engine.setting.WrongSettingException;
import java.util.List;
import java.util.function.Function;

/** Claims in this process. */
record MemoryStore(
    ClaimSettings claims, MemoryClaimStore.Claims kept, MemoryDocumentStore documents)
    implements LockStore {
  MemoryStore(ClaimSettings claims) {
    this(claims, new MemoryClaimStore.Claims(), new MemoryDocumentStore());
  }

  @Override
  public String name() {
    return "memory";
  }

  @Override
  public DrivenClaimStore open(TimeSource time, StoreMetrics metrics, Upkeep upkeep) {
    return new MemoryClaimStore(kept, claims, time);
  }

  @Override
  public DrivenClaimStore unverified(TimeSource time) {
    return new MemoryClaimStore(kept, claims, time);
  }

  @Override
  public ClaimOperations operations(TimeSource time, StoreListener listener) {
    return new MemoryClaimStore(kept, claims, time);
  }

  @Override
  public <T> T onBoard(String board, TimeSource time, Function<BoardStore, T> asked) {
    throw new WrongSettingException(
        "firstclaim.claim.backend", "memory", "give dynamodb: memory is another process's");
  }

  @Override
  public String documentsPrefix() {
    return "";
  }

  @Override
  public String key(RecordId id) {
    return id.key(claims.namespace());
  }

  @Override
  public List<ConformanceResult> probe() {
    throw new WrongSettingException(
        "firstclaim.claim.backend", "memory", "give dynamodb or s3 to probe it");
  }

  @Override
  public void close() {}
}
