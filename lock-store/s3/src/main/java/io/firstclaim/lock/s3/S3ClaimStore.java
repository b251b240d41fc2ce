package io.firstclaim.lock.s3;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimResult.Granted;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.SettleResult.Settled;
import io.firstclaim.lock.StoreListener;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.protocol.ClaimRecord;
import io.firstclaim.lock.protocol.Command;
import io.firstclaim.lock.protocol.Decision;
import io.firstclaim.lock.protocol.Protocol;
import io.firstclaim.lock.s3.Markers.Write;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Claims as objects in an S3 bucket, one marker per ID.
 *
 * <p>A claim is first written with {@code If-None-Match: *}, for most records are new; a refusal
 * (412) is looked into with one read, and what that says is answered or written over with {@code
 * If-Match}. Steps under a lease are conditional on the ETag of its last write, which travels with
 * the lease, and need no read; a refusal is read too, for it may be this step itself, its answer
 * lost and the request repeated by the SDK. An ETag is taken for a name and nothing else: under
 * SSE-KMS it is no MD5. A conflict with a concurrent request (409) or overload (503) says nothing
 * about who has the record and is tried again (<a
 * href="https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html">conditional
 * writes</a>).
 *
 * <p>Whether a lease is over is judged by the store's clock alone: the answer's {@code Date}
 * against the marker's {@code Last-Modified}, both cut to the second, so that a lease ends for
 * others up to a second later than it might; {@code max-skew} bounds how far the store's own
 * machines differ.
 *
 * <p>A claim with its result takes at most {@value Marker#MAX_BYTES} bytes; {@link #complete}
 * throws {@link IllegalArgumentException} on more.
 *
 * <p>Thread-safe. The client stays the caller's; {@link S3Bucket#configure} gives it time limits
 * and retries that suit the lease.
 */
public final class S3ClaimStore implements ClaimStore {
  /** Decisions on a marker that changes under us converge at once; more rounds mean a defect. */
  private static final int MAX_ROUNDS = 10;

  private final Markers markers;
  private final S3Bucket bucket;
  private final ClaimSettings settings;
  private final TimeSource time;

  /**
   * A store in a bucket that is there and verified.
   *
   * @see S3Bucket#verify()
   */
  public S3ClaimStore(
      S3Bucket bucket, ClaimSettings settings, TimeSource time, StoreListener listener) {
    this.markers = new Markers(bucket, settings.namespace(), time, listener);
    this.bucket = bucket;
    this.settings = settings;
    this.time = time;
  }

  /**
   * A store in a bucket, after verifying it.
   *
   * @throws io.firstclaim.lock.StoreRefusedException if the bucket must not be used, with the
   *     remedy
   * @throws StoreUnavailableException if it cannot be asked
   */
  public static S3ClaimStore open(S3Bucket bucket, ClaimSettings settings, TimeSource time) {
    bucket.verify();
    return new S3ClaimStore(bucket, settings, time, StoreListener.NONE);
  }

  @Override
  public ClaimResult claim(Claim claim) {
    var acquire = new Command.Acquire(claim);
    return apply(
        "claim",
        claim.id(),
        null,
        (stored, now) -> Protocol.decide(stored, acquire, now, settings),
        (answer, version) ->
            answer instanceof Granted(Lease lease, String takenFrom)
                ? new Granted(lease.withVersion(version), takenFrom)
                : answer);
  }

  @Override
  public SettleResult renew(Lease lease) {
    return settle("renew", new Command.Renew(lease));
  }

  @Override
  public SettleResult complete(Lease lease, @Nullable String result) {
    return settle("complete", new Command.Complete(lease, result));
  }

  @Override
  public SettleResult release(Lease lease, Instant retryAt, String cause) {
    return settle("release", new Command.Release(lease, retryAt, cause));
  }

  @Override
  public SettleResult bury(Lease lease, String cause) {
    return settle("bury", new Command.Bury(lease, cause));
  }

  @Override
  public Optional<ClaimRecord> find(RecordId id) {
    return markers.read(id).map(read -> read.marker().claim());
  }

  private SettleResult settle(String op, Command.Settle command) {
    Lease lease = command.lease();
    try {
      String version = lease.version();
      Stored known =
          version == null
              ? read(lease.id())
              : new Stored(Protocol.stateOf(lease), version, time.now());
      return apply(
          op,
          lease.id(),
          known,
          (stored, now) -> Protocol.decide(stored, command, now, settings),
          (answer, written) ->
              // The end of a lease is nothing that a later step may be conditional on.
              command instanceof Command.Renew && answer instanceof Settled(Lease renewed)
                  ? new Settled(renewed.withVersion(written))
                  : answer);
    } catch (StoreUnavailableException e) {
      return new SettleResult.Unknown(String.valueOf(e.getMessage()));
    }
  }

  /** What is taken for stored, under which version, and since when. */
  private record Stored(ClaimRecord claim, String version, Moment at) {}

  private interface Decider<R> {
    Decision<R> decide(@Nullable ClaimRecord stored, Moment now);
  }

  /** Adds to an answer the version that the next step is conditional on. */
  private interface Versioner<R> {
    R with(R answer, @Nullable String version);
  }

  /**
   * Decides on what is expected to be stored, and anew on what is stored as long as that differs.
   */
  private <R> R apply(
      String op,
      RecordId id,
      @Nullable Stored expected,
      Decider<R> decider,
      Versioner<R> versioner) {
    Stored stored = expected;
    for (int round = 0; round < MAX_ROUNDS; round++) {
      String version = stored == null ? null : stored.version;
      // The moment of the read: its times hold on the clock as it stood then.
      Moment now = stored == null ? time.now() : stored.at;
      switch (decider.decide(stored == null ? null : stored.claim, now)) {
        case Decision.Answer<R>(R answer) -> {
          return versioner.with(answer, version);
        }
        case Decision.Write<R>(ClaimRecord next, R then) -> {
          switch (markers.write(op, id, next, version, now)) {
            case Write.Written(String written) -> {
              return versioner.with(then, written);
            }
            case Write.Gone() -> stored = null;
            case Write.Refused() -> stored = read(id);
          }
        }
      }
    }
    throw new StoreUnavailableException(
        "object %s of S3 bucket %s changed %d times while it was being claimed"
            .formatted(markers.key(id), bucket.name(), MAX_ROUNDS),
        new IllegalStateException());
  }

  private @Nullable Stored read(RecordId id) {
    return markers
        .read(id)
        .map(read -> new Stored(read.marker().claim(), read.version(), read.at()))
        .orElse(null);
  }
}
