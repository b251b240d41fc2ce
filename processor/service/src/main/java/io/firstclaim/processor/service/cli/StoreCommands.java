package io.firstclaim.processor.service.cli;

import io.firstclaim.lock.ClaimOperations;
import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.ClaimState;
import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.RedriveId;
import io.firstclaim.lock.RedriveResult;
import io.firstclaim.lock.ReleaseResult;
import io.firstclaim.lock.StoreListener;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.board.BoardOperations;
import io.firstclaim.lock.board.StoredItem;
import io.firstclaim.processor.engine.setting.WrongSettingException;
import io.firstclaim.processor.service.config.Backend;
import io.firstclaim.processor.service.config.StoreSettings;
import io.firstclaim.processor.service.store.LockStore;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What {@code claim}, {@code release} and {@code redrive} do in the configured lock store, without
 * a running service. Each prints what is stored then, and returns the exit code. For one thread.
 */
final class StoreCommands implements AutoCloseable {
  /** As much of a reason as an item's editor has room for. */
  private static final int REASON = 60;

  private final LockStore store;
  private final TimeSource time;
  private final Target target;

  /**
   * Commands on the store of these settings; nothing is asked of it yet.
   *
   * @param target what they are about
   * @throws WrongSettingException if the store is one that can be asked by its own process alone,
   *     or the AWS SDK lacks one of its settings
   */
  StoreCommands(StoreSettings settings, TimeSource time, Target target) {
    if (settings.backend() instanceof Backend.Memory) {
      throw new WrongSettingException(
          "firstclaim.claim.backend", "memory", "give dynamodb or s3: memory is another process's");
    }
    this.store = LockStore.of(settings);
    this.time = time;
    this.target = target;
  }

  private ClaimOperations claims() {
    return store.operations(time, StoreListener.NONE);
  }

  /** Prints what is stored; returns 1 if that is nothing. */
  int claim() {
    String board = target.board();
    if (board != null) {
      return shown(board, found(board));
    }
    RecordId id = target.id();
    return shown(id, claims().find(id));
  }

  /**
   * Frees what somebody holds; 1 if nobody does.
   *
   * @param status that an item of a board gets; null for what is no such item
   */
  int release(String reason, @Nullable String status) {
    String board = target.board();
    if (board != null && status != null) {
      return moved(board, reason, status);
    }
    if (board != null || status != null) {
      throw new WrongSettingException(
          "--to", status, "give the status that an item gets, with --board and only then");
    }
    RecordId id = target.id();
    return switch (claims().release(id, reason)) {
      case ReleaseResult.Released(ClaimRecord before, ClaimRecord after) -> {
        int code = shown(id, Optional.of(after));
        String holder = before.state() instanceof ClaimState.Held held ? held.holder() : "nobody";
        System.out.println("Freed: %s is refused from now on.".formatted(OneLine.of(holder)));
        yield code;
      }
      case ReleaseResult.NotReleased(ClaimRecord present) -> {
        shown(id, Optional.ofNullable(present));
        System.out.println("Nothing was changed: it is not held.");
        yield 1;
      }
    };
  }

  private int moved(String board, String reason, String status) {
    Optional<StoredItem> seen = found(board);
    if (seen.isEmpty()) {
      return shown(board, seen);
    }
    String editor = "operator: " + OneLine.of(reason, REASON);
    StoredItem next =
        store.onBoard(
            board, time, items -> new BoardOperations(items).move(seen.get(), status, editor));
    return shown(board, Optional.of(next));
  }

  /**
   * Frees a record that was given up; 1 if it was not.
   *
   * @throws WrongSettingException if it is about something else, as only records are given up
   */
  int redrive(String reason) {
    RecordId id = target.id();
    if (target.board() != null || id.space() != RecordId.Space.RECORD) {
      throw new WrongSettingException(
          "redrive",
          OneLine.of(target.text(), 100),
          "give a record's ID: nothing else is ever given up, and what is held release frees");
    }
    // What another redrive has freed is free already: there is no letter here to publish once more.
    Optional<ClaimRecord> found =
        claims().find(id).filter(claim -> claim.state() instanceof ClaimState.Dead);
    boolean freed =
        found.isPresent()
            && claims().redrive(id, found.get().fingerprint(), RedriveId.random(), reason)
                instanceof RedriveResult.Freed;
    shown(id, claims().find(id));
    System.out.println(
        freed
            ? "Freed for another round of attempts, by whoever delivers it or asks for it again."
            : "Nothing was changed: it is not dead.");
    return freed ? 0 : 1;
  }

  private Optional<StoredItem> found(String board) {
    return store.onBoard(board, time, items -> new BoardOperations(items).find(target.text()));
  }

  private int shown(RecordId id, Optional<ClaimRecord> claim) {
    System.out.println(Stored.table(store.name(), Stored.lines(id, store.key(id), claim)));
    return claim.isPresent() ? 0 : 1;
  }

  private int shown(String board, Optional<StoredItem> item) {
    System.out.println(Stored.table(store.name(), Stored.lines(board, target.text(), item)));
    return item.isPresent() ? 0 : 1;
  }

  @Override
  public void close() {
    store.close();
  }
}
