package io.firstclaim.lock.s3;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.ConformanceResult;
import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.aws.Faults;
import io.firstclaim.lock.aws.TimeLimits;
import io.firstclaim.lock.aws.TranslatedFaults;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.awscore.retry.AwsRetryStrategy;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.client.config.ClientOverrideConfiguration;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.retry.RetryMode;
import software.amazon.awssdk.retries.api.RetryStrategy;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;
import software.amazon.awssdk.services.s3.endpoints.S3EndpointProvider;
import software.amazon.awssdk.services.s3.model.S3Exception;

/**
 * The bucket that claims are kept in, all under one prefix. Creates it, and refuses one that cannot
 * keep the protocol's promise. Immutable; the client stays the caller's.
 */
public final class S3Bucket {
  private static final S3EndpointProvider ENDPOINTS = S3EndpointProvider.defaultProvider();

  private static final Pattern FOLDER = Pattern.compile("([^/]+/)+");

  /** Errors that no retry can mend, besides that access is denied. */
  private static final Set<String> PERMANENT =
      Set.of(
          "EntityTooLarge",
          "InvalidArgument",
          "InvalidRequest",
          "KeyTooLongError",
          "MethodNotAllowed",
          "NoSuchBucket",
          "NotImplemented");

  private final S3Client client;
  private final String name;
  private final String prefix;

  /**
   * The bucket of this name, which need not be there yet.
   *
   * @param prefix under which there may be nothing but claims: parts that end in {@code /}, such as
   *     {@code claims/}, as the lifecycle rule removes whatever begins with it
   * @throws IllegalArgumentException if it is empty, or has a part that is, or does not end so
   */
  public S3Bucket(S3Client client, String name, String prefix) {
    if (!FOLDER.matcher(prefix).matches()) {
      throw new IllegalArgumentException(
          "prefix \"%s\" in S3 bucket %s would share what it begins with: give parts that end in /, such as claims/"
              .formatted(OneLine.of(prefix), name));
    }
    this.client = TranslatedFaults.of(S3Client.class, client);
    this.name = name;
    this.prefix = prefix;
  }

  /**
   * Gives a client time limits that suit a lease, and path-style addresses where it has an endpoint
   * of its own, which stores other than AWS want. Within the limits the SDK's own retries, with
   * jittered backoff, answer throttling, faults and conflicts with concurrent requests. Replaces
   * the builder's service configuration and endpoint provider; keeps the rest of what it was given.
   *
   * <p>How many connections it may have is its HTTP client's to say: the SDK's own have 50 unless
   * told otherwise, and an engine makes the most of {@link ClaimStore#REQUESTS_AT_ONCE}.
   */
  public static S3ClientBuilder configure(S3ClientBuilder builder, ClaimSettings settings) {
    return configure(builder, settings.storeTimeout());
  }

  /**
   * The same for requests that are not claims.
   *
   * @param limit for one request with its retries
   */
  public static S3ClientBuilder configure(S3ClientBuilder builder, Duration limit) {
    // Not overrideConfiguration(Consumer), which would forget what the caller has set.
    ClientOverrideConfiguration given = builder.overrideConfiguration();
    RetryStrategy retries =
        given
            .retryStrategy()
            .orElseGet(() -> AwsRetryStrategy.forRetryMode(RetryMode.defaultRetryMode()));
    return builder
        // The signature or TLS protects a marker; some stores cannot cope with a checksum as well.
        .requestChecksumCalculation(RequestChecksumCalculation.WHEN_REQUIRED)
        // With chunks, even a short signed body takes a buffer of 128 KiB.
        .serviceConfiguration(s3 -> s3.chunkedEncodingEnabled(false))
        .endpointProvider(
            asked ->
                ENDPOINTS.resolveEndpoint(
                    asked.endpoint() == null
                        ? asked
                        : asked.toBuilder().forcePathStyle(true).build()))
        .overrideConfiguration(
            TimeLimits.limited(given, limit)
                .retryStrategy(retries.toBuilder().retryOnException(S3Bucket::isConflict).build())
                .build());
  }

  /**
   * A conflict with a request under way, whoever had the object: S3's {@code
   * ConditionalRequestConflict} and {@code OperationAborted}, Ceph's {@code
   * ConcurrentModification}.
   */
  static boolean isConflict(@Nullable Throwable fault) {
    return fault instanceof S3Exception refused && refused.statusCode() == 409;
  }

  /** The answer that the bucket is there and the object is not; a gateway's 404 says neither. */
  static boolean isMissingKey(Throwable fault) {
    return fault instanceof S3Exception refused
        && refused.statusCode() == 404
        && Faults.code(refused).equals("NoSuchKey");
  }

  /** Asks about a part of a bucket's configuration; true if the answer is that there is none. */
  static boolean isMissing(Runnable question) {
    try {
      question.run();
      return false;
    } catch (S3Exception e) {
      if (e.statusCode() == 404) {
        return true;
      }
      throw e;
    }
  }

  /**
   * Whether this is a refusal that no retry can mend, of a request that was sent only once: if the
   * answer to an earlier try was lost, that one may have been applied.
   */
  static boolean isPermanent(RuntimeException fault) {
    return fault instanceof S3Exception refused
        && Faults.wasSentOnce(refused)
        && (refused.statusCode() == 403 || PERMANENT.contains(Faults.code(refused)));
  }

  /**
   * Creates the bucket if it is missing, and adds what it lacks of these: a block on public access;
   * a lifecycle rule that removes what is older than the retention, the longest if it was created
   * for several; a policy that denies writes and deletes without a condition. Warns of what the
   * store does not support or allow.
   *
   * @throws StoreRefusedException if S3 does not allow the bucket, with the remedy
   * @throws StoreUnavailableException if S3 does not answer
   */
  public void create(ClaimSettings settings) {
    create(settings, List.of());
  }

  /**
   * The same, for a bucket that has more in it than claims.
   *
   * @param alsoProtected what else in it the policy protects
   * @throws StoreRefusedException as {@link #create(ClaimSettings)}
   * @throws StoreUnavailableException as {@link #create(ClaimSettings)}
   */
  public void create(ClaimSettings settings, List<ProtectedPrefix> alsoProtected) {
    new BucketSetup(this, settings, alsoProtected).run();
  }

  /**
   * The identity of what is kept under the prefix, an object of its own; made if it is missing.
   *
   * @throws StoreRefusedException if it is missing and the role may not write it
   * @throws StoreUnavailableException if S3 does not answer
   */
  String identity() {
    return new Identity(this).get();
  }

  /**
   * Checks that the bucket is there and that claims can rest on it, by means of {@link #checks()}.
   *
   * @throws StoreRefusedException if they cannot, with what was seen
   * @throws StoreUnavailableException if S3 does not answer
   */
  public void verify() {
    ConformanceResult.requireAll("S3 bucket " + name, checks());
  }

  /**
   * Tries out conditional writes in the bucket, also with many racing for an object.
   *
   * @return one check for each condition and race; only that of its kind for a bucket that is not
   *     one general purpose bucket
   * @throws StoreRefusedException if the bucket is missing or the role may not use it
   * @throws StoreUnavailableException if S3 does not answer
   */
  public List<ConformanceResult> checks() {
    String kind = unfitKind();
    return kind == null
        ? new BucketConformanceCheck(this).run()
        : List.of(
            new ConformanceResult(
                "kind of the bucket", kind + ". Use a general purpose bucket", false));
  }

  /** What it is by its name, if claims cannot rest on that; null if they may. */
  private @Nullable String unfitKind() {
    if (name.endsWith("--x-s3") || name.endsWith("--xa-s3")) {
      return "a directory bucket (S3 Express One Zone), or an access point to one: it is in one"
          + " Availability Zone and has conditions, keys and expiry of its own, on which claims"
          + " were never proven";
    }
    if (name.endsWith(".mrap")) {
      return "a Multi-Region Access Point: it leads to buckets in several Regions, and two of them"
          + " could each take a claim of one record";
    }
    return null;
  }

  /**
   * Whether conditional deletes are kept, also with many racing for an object: what a {@link
   * Sweeper} rests on, and no claim does.
   *
   * @throws StoreRefusedException if the bucket is missing or the role may not delete in it
   * @throws StoreUnavailableException if S3 does not answer
   */
  ConformanceResult deletes() {
    return new BucketConformanceCheck(this).deletes();
  }

  /** The limits of each request. */
  AwsRequestOverrideConfiguration limits(Duration limit) {
    return TimeLimits.of(client.serviceClientConfiguration().overrideConfiguration(), limit);
  }

  S3Client client() {
    return client;
  }

  String name() {
    return name;
  }

  String prefix() {
    return prefix;
  }

  /** Where the claim on this ID is in the bucket. */
  public String key(RecordId id, String namespace) {
    return key(id.key(namespace));
  }

  /**
   * Where a claim is. The hash comes first, so that the load is even over whatever ranges of keys
   * S3 <a
   * href="https://docs.aws.amazon.com/AmazonS3/latest/userguide/optimizing-performance.html">splits
   * a prefix into</a> as it grows; the slashes make 256 folders of it for people.
   */
  String key(String hash) {
    return prefix + hash.substring(0, 2) + "/" + hash.substring(2, 4) + "/" + hash;
  }

  /** The permissions that a role needs, in words. */
  String permissions() {
    return "s3:GetObject, s3:PutObject and s3:DeleteObject on %s/%s* and s3:ListBucket on %s, without which a missing object is answered 403"
        .formatted(name, prefix, name);
  }

  StoreUnavailableException unavailable(SdkException fault) {
    return new StoreUnavailableException(
        "S3 bucket %s: %s".formatted(name, Faults.inOneLine(fault)), fault);
  }
}
