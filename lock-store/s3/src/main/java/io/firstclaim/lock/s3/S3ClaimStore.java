package io.firstclaim.lock.s3;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.StoreListener;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.store.DrivenClaimStore;

/**
 * Claims as objects in an S3 bucket, one marker per ID.
 *
 * <p>A claim is first written with {@code If-None-Match: *}, as most records are new; after a
 * refusal (412) one read shows what is there, which is the answer or is overwritten with {@code
 * If-Match}. Steps under a lease are conditional on the ETag of its last write, which travels with
 * the lease, and need no read; a refusal leads to a read as well, as what refused it may be this
 * very step, its answer lost and the request repeated by the SDK. An ETag is taken as a name and
 * nothing else: under SSE-KMS it is not an MD5. A conflict with a concurrent request (409) or
 * overload (503) says nothing about who has the record and is tried again (<a
 * href="https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html">conditional
 * writes</a>).
 *
 * <p>Whether a lease is over is judged by the store's clock alone: the answer's {@code Date}
 * against the marker's {@code Last-Modified}, both cut to the second, so that for others a lease
 * ends up to a second later than it could; {@code max-skew} bounds how far the store's own machines
 * differ.
 *
 * <p>A claim with its result is at most {@value Marker#MAX_BYTES} bytes; {@link #complete} throws
 * {@link IllegalArgumentException} if it is more.
 *
 * <p>Thread-safe. The client stays the caller's; {@link S3Bucket#configure} gives it the retries
 * that suit claims. No request takes longer than {@link ClaimSettings#storeTimeout()}, whatever its
 * client allows.
 */
public final class S3ClaimStore extends DrivenClaimStore {
  /**
   * A store in a bucket that is there and verified.
   *
   * @see S3Bucket#verify()
   */
  public S3ClaimStore(
      S3Bucket bucket, ClaimSettings settings, TimeSource time, StoreListener listener) {
    this(new Markers(bucket, settings, time, listener), settings);
  }

  private S3ClaimStore(Markers markers, ClaimSettings settings) {
    super(markers, settings, markers.clock());
  }

  /**
   * A store in a bucket, after verifying it. Warns of lifecycle rules that remove claims too early,
   * and if none removes them at all.
   *
   * @throws io.firstclaim.lock.StoreRefusedException if the bucket must not be used, with the
   *     remedy
   * @throws io.firstclaim.lock.StoreUnavailableException if it cannot be asked
   */
  public static S3ClaimStore open(S3Bucket bucket, ClaimSettings settings, TimeSource time) {
    return open(bucket, settings, time, StoreListener.NONE);
  }

  /** The same, with a listener that hears of its requests. */
  public static S3ClaimStore open(
      S3Bucket bucket, ClaimSettings settings, TimeSource time, StoreListener listener) {
    bucket.verify();
    new Lifecycle(bucket, settings).warn();
    var store = new S3ClaimStore(bucket, settings, time, listener);
    String unused = store.identity(); // read now, so that nobody has to wait for it later
    return store;
  }
}
