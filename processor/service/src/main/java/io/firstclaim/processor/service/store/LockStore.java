package io.firstclaim.processor.service.store;

import io.firstclaim.lock.ClaimOperations;
import io.firstclaim.lock.ConformanceResult;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.StoreListener;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.board.BoardStore;
import io.firstclaim.lock.document.DocumentStore;
import io.firstclaim.lock.store.DrivenClaimStore;
import io.firstclaim.lock.store.SweepTurn;
import io.firstclaim.processor.service.config.Backend;
import io.firstclaim.processor.service.config.StoreSettings;
import java.util.List;
import java.util.function.Function;

/** The chosen lock store, created before use if that is configured. Used by one thread. */
public interface LockStore extends AutoCloseable {
  /**
   * The store for these settings; nothing is asked of it yet.
   *
   * @throws io.firstclaim.processor.engine.setting.WrongSettingException if the AWS SDK lacks one
   *     of its settings
   */
  static LockStore of(StoreSettings settings) {
    return switch (settings.backend()) {
      case Backend.DynamoDb place -> new DynamoDbStore(place, settings.claims());
      case Backend.S3 place -> new S3Store(place, settings.claims());
      case Backend.Memory _ -> new MemoryStore(settings.claims());
    };
  }

  /** What claims are kept in, for people. */
  String name();

  /**
   * The store, after verifying that claims can rest on it.
   *
   * @param metrics hears of every request to it
   * @param upkeep runs the chores that it needs again and again
   * @throws io.firstclaim.lock.StoreUnavailableException if it does not answer yet
   * @throws io.firstclaim.lock.StoreRefusedException if it must not be used
   * @throws io.firstclaim.processor.engine.setting.WrongSettingException if it is reached with the
   *     wrong credentials or in the wrong Region
   */
  DrivenClaimStore open(TimeSource time, StoreMetrics metrics, Upkeep upkeep);

  /**
   * The claims, for operators. Nothing is created or tried, and nothing is asked yet.
   *
   * @param listener hears of every request to it
   * @return what throws what {@link #open} throws, and reads and writes the same claims
   */
  ClaimOperations operations(TimeSource time, StoreListener listener);

  /**
   * Asks something of the board of this name, which the store keeps beside the claims.
   *
   * @throws io.firstclaim.processor.engine.setting.WrongSettingException if it keeps none, and as
   *     {@link #open}
   */
  <T> T onBoard(String board, TimeSource time, Function<BoardStore, T> asked);

  /**
   * The claims, for a command that is over soon: nothing is created or tried, and nothing is asked
   * yet.
   */
  DrivenClaimStore unverified(TimeSource time);

  /**
   * The documents that are kept beside the claims, in the same table, bucket or memory; never under
   * the prefix of a bucket's claims, which expire.
   */
  DocumentStore documents();

  /** What the store puts before the key of each document, and counts as a part of it. */
  String documentsPrefix();

  /** The key, of an item or object, under which the claim on this ID is kept. */
  String key(RecordId id);

  /**
   * Tries what claims rest on; throws what {@link #open} throws.
   *
   * @return one check for each condition
   */
  List<ConformanceResult> probe();

  /** Ends the connections. */
  @Override
  void close();

  /** Hears of every request to a store, and of what a sweep of it does. */
  interface StoreMetrics extends StoreListener, SweepTurn.Listener {}
}
