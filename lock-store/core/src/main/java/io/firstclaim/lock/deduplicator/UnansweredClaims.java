package io.firstclaim.lock.deduplicator;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.RecordId;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/**
 * The claims whose answers never came. One of them may have been granted: sent again, the store
 * knows it by its nonce, where another claim would find the ID held by nobody who works on it. Each
 * is handed to one caller alone, so that no two work under one token. Bounded: the oldest is
 * forgotten, and its lease runs out. Thread-safe.
 */
final class UnansweredClaims {
  private static final int MOST = 10_000;

  /** Guarded by this. */
  private final SequencedMap<RecordId, Claim> claims = new LinkedHashMap<>();

  /** Keeps a claim that was not answered. */
  synchronized void keep(Claim claim) {
    claims.putLast(claim.id(), claim);
    if (claims.size() > MOST) {
      claims.pollFirstEntry();
    }
  }

  /** Hands out all of them. */
  synchronized List<Claim> takeAll() {
    List<Claim> all = List.copyOf(claims.values());
    claims.clear();
    return all;
  }

  /** Hands out the claim on this ID and payload, for the caller alone; null if there is none. */
  synchronized @Nullable Claim take(RecordId id, Fingerprint fingerprint) {
    Claim claim = claims.get(id);
    return claim != null && claim.fingerprint().equals(fingerprint) ? claims.remove(id) : null;
  }
}
