package io.firstclaim.lock.testkit.board;

import io.firstclaim.lock.Effects;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.board.BoardStore;
import io.firstclaim.lock.board.ItemKey;
import io.firstclaim.lock.board.Move;
import io.firstclaim.lock.board.MoveResult;
import io.firstclaim.lock.board.StoredItem;
import java.io.IOException;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A board's store, with what goes wrong on the way to it. It never knows a request again: each goes
 * on with a name of its own.
 */
public final class ScriptedBoard implements BoardStore {
  /** What becomes of a request. */
  public interface Fate {
    /** It is applied, or not, by {@code move}; the answer is what its sender hears. */
    MoveResult meet(Supplier<MoveResult> move);
  }

  /** Applied, and the answer is lost. */
  public static final Fate LOSE_ANSWER =
      move -> {
        var unused = move.get();
        return new MoveResult.Unknown("no answer");
      };

  /** Lost on its way. */
  public static final Fate LOSE_REQUEST = unused -> new MoveResult.Unknown("no answer");

  /** Others write the same items just now. */
  public static final Fate CONFLICT = unused -> new MoveResult.Conflict("TransactionConflict");

  /** The store asks to slow down. */
  public static final Fate THROTTLE =
      unused -> {
        throw new StoreUnavailableException("slow down", new IOException("slow down"));
      };

  private final BoardStore store;
  private final Queue<Fate> fates = new ConcurrentLinkedQueue<>();
  private final AtomicInteger requests = new AtomicInteger();
  private volatile @Nullable Fate always;

  /** Over this store. */
  public ScriptedBoard(BoardStore store) {
    this.store = store;
  }

  /** What becomes of the next requests; those after go well. */
  public ScriptedBoard next(Fate... next) {
    fates.addAll(Arrays.asList(next));
    return this;
  }

  /** What becomes of all requests after those. */
  public ScriptedBoard then(Fate fate) {
    always = fate;
    return this;
  }

  /** How many requests to write were sent. */
  public int requests() {
    return requests.get();
  }

  @Override
  public List<StoredItem> read(Collection<ItemKey> keys) {
    return store.read(keys);
  }

  @Override
  public List<StoredItem> list() {
    return store.list();
  }

  @Override
  public MoveResult move(List<Move> moves, @Nullable Effects effects, Nonce request) {
    requests.incrementAndGet();
    Supplier<MoveResult> move = () -> store.move(moves, effects, Nonce.random());
    Fate fate = fates.poll();
    if (fate == null) {
      fate = always;
    }
    return fate == null ? move.get() : fate.meet(move);
  }

  @Override
  public Instant now() {
    return store.now();
  }
}
