package io.firstclaim.lock.memory;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.protocol.ClaimRecord;
import io.firstclaim.lock.protocol.ClaimState.Dead;
import io.firstclaim.lock.protocol.ClaimState.Done;
import io.firstclaim.lock.protocol.Command;
import io.firstclaim.lock.protocol.Decision;
import io.firstclaim.lock.protocol.Protocol;
import java.time.Instant;
import java.util.Objects;
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
public final class MemoryClaimStore implements ClaimStore {
  /** The claims that several stores of one process share. */
  public static final class Claims {
    private static final int PURGE_EVERY = 1 << 20;

    private final ConcurrentMap<Key, Entry> entries = new ConcurrentHashMap<>();
    private final AtomicInteger calls = new AtomicInteger();

    /** No claims yet. */
    public Claims() {}

    private record Key(String namespace, RecordId id) {}

    private record Entry(ClaimRecord claim, Instant written) {}

    private void purgeNowAndThen(Instant before) {
      if (calls.incrementAndGet() % PURGE_EVERY != 0) {
        return;
      }
      entries
          .values()
          .removeIf(
              entry ->
                  (entry.claim.state() instanceof Done || entry.claim.state() instanceof Dead)
                      && entry.written.isBefore(before));
    }
  }

  private final Claims claims;
  private final ClaimSettings settings;
  private final TimeSource time;

  /** A store of its own. */
  public MemoryClaimStore(ClaimSettings settings, TimeSource time) {
    this(new Claims(), settings, time);
  }

  /** One of several stores, each with its own holder, over the same claims. */
  public MemoryClaimStore(Claims claims, ClaimSettings settings, TimeSource time) {
    this.claims = claims;
    this.settings = settings;
    this.time = time;
  }

  @Override
  public ClaimResult claim(Claim claim) {
    Command.Acquire acquire = new Command.Acquire(claim);
    return apply(claim.id(), (stored, now) -> Protocol.decide(stored, acquire, now, settings));
  }

  @Override
  public SettleResult renew(Lease lease) {
    return settle(new Command.Renew(lease));
  }

  @Override
  public SettleResult complete(Lease lease, @Nullable String result) {
    return settle(new Command.Complete(lease, result));
  }

  @Override
  public SettleResult release(Lease lease, Instant retryAt, String cause) {
    return settle(new Command.Release(lease, retryAt, cause));
  }

  @Override
  public SettleResult bury(Lease lease, String cause) {
    return settle(new Command.Bury(lease, cause));
  }

  @Override
  public Optional<ClaimRecord> find(RecordId id) {
    return Optional.ofNullable(claims.entries.get(key(id))).map(Claims.Entry::claim);
  }

  private SettleResult settle(Command.Settle command) {
    return apply(
        command.lease().id(), (stored, now) -> Protocol.decide(stored, command, now, settings));
  }

  private interface Decider<R> {
    Decision<R> decide(@Nullable ClaimRecord stored, Moment now);
  }

  private <R> R apply(RecordId id, Decider<R> decider) {
    var answer =
        new Object() {
          @Nullable R value;
        };
    claims.entries.compute(
        key(id),
        (unused, entry) -> {
          // Read here, for what is seen of a lease must not count from before it was seen.
          Moment now = time.now();
          switch (decider.decide(entry == null ? null : entry.claim, now)) {
            case Decision.Write<R>(ClaimRecord next, R then) -> {
              answer.value = then;
              return new Claims.Entry(next, now.wall());
            }
            case Decision.Answer<R>(R result) -> {
              answer.value = result;
              return entry;
            }
          }
        });
    claims.purgeNowAndThen(time.now().wall().minus(settings.retention()));
    return Objects.requireNonNull(answer.value);
  }

  private Claims.Key key(RecordId id) {
    return new Claims.Key(settings.namespace(), id);
  }
}
