package io.firstclaim.lock.memory;

import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimState.Dead;
import io.firstclaim.lock.ClaimState.Done;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.StoreOperation;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.store.ClaimRecords;
import io.firstclaim.lock.store.DrivenClaimStore;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A claim store in the memory of one process, with the same conditions as the real ones. For tests
 * and trials: another process cannot see it and a restart forgets it. Claimants of one process
 * share a {@link Claims}. Thread-safe.
 */
public final class MemoryClaimStore extends DrivenClaimStore {
  /** The claims that several stores of one process share. */
  public static final class Claims {
    private static final int PURGE_EVERY = 1 << 20;

    private final ConcurrentMap<Key, ClaimRecord> records = new ConcurrentHashMap<>();
    private final AtomicInteger writes = new AtomicInteger();
    private final String identity = Nonce.random().toString();

    /** No claims yet. */
    public Claims() {}

    private record Key(String namespace, RecordId id) {}

    private void purgeNowAndThen(String namespace, Instant before) {
      if (writes.incrementAndGet() % PURGE_EVERY == 0) {
        records
            .entrySet()
            .removeIf(
                each ->
                    each.getKey().namespace.equals(namespace)
                        && endedBefore(each.getValue(), before));
      }
    }

    private static boolean endedBefore(ClaimRecord claim, Instant time) {
      return (claim.state() instanceof Done done && done.at().isBefore(time))
          || (claim.state() instanceof Dead dead && dead.at().isBefore(time));
    }
  }

  /** A store of its own. */
  public MemoryClaimStore(ClaimSettings settings, TimeSource time) {
    this(new Claims(), settings, time);
  }

  /** One of several stores, each with its own holder, over the same claims. */
  public MemoryClaimStore(Claims claims, ClaimSettings settings, TimeSource time) {
    super(new Records(claims, settings, time), settings, time);
  }

  private record Records(Claims claims, ClaimSettings settings, TimeSource time)
      implements ClaimRecords {
    @Override
    public Optional<Stored> read(RecordId id) {
      return Optional.ofNullable(stored(claims.records.get(key(id))));
    }

    @Override
    public Write write(
        StoreOperation op, RecordId id, ClaimRecord next, @Nullable Stored on, Moment now) {
      claims.purgeNowAndThen(settings.namespace(), now.wall().minus(settings.retention()));
      Claims.Key key = key(id);
      while (true) {
        ClaimRecord stored = claims.records.get(key);
        if (!isExpected(stored, on)) {
          return new Write.Differs(stored(stored));
        }
        if (stored == null
            ? claims.records.putIfAbsent(key, next) == null
            : claims.records.replace(key, stored, next)) {
          return new Write.Took(null);
        }
      }
    }

    @Override
    public String identity() {
      return claims.identity;
    }

    private Claims.Key key(RecordId id) {
      return new Claims.Key(settings.namespace(), id);
    }

    private static boolean isExpected(@Nullable ClaimRecord stored, @Nullable Stored on) {
      return on == null ? stored == null : stored != null && stored.isOfOneWriteWith(on.claim());
    }

    private @Nullable Stored stored(@Nullable ClaimRecord claim) {
      return claim == null ? null : new Stored(claim, null, time.now());
    }
  }
}
