package io.firstclaim.lock.s3;

import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.aws.Faults;
import io.firstclaim.lock.aws.TimeLimits;
import java.util.Optional;
import java.util.regex.Pattern;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.model.S3Exception;

/**
 * The object that names what is kept under a prefix: written once, by whoever is first, and never
 * changed. It stands beside the prefix, not under it, where the lifecycle rule would delete it.
 */
record Identity(S3Bucket bucket) {
  private static final Pattern FORM = Pattern.compile("[0-9a-f]{32}");

  /** Where it is: {@code claims.identity} for the prefix {@code claims/}. */
  String key() {
    return bucket.prefix().replaceFirst("/$", "") + ".identity";
  }

  /** The identity, made if there is none. */
  String get() {
    try {
      Optional<String> made = read();
      if (made.isEmpty()) {
        make();
      }
      return made.or(this::read)
          .filter(text -> FORM.matcher(text).matches())
          .orElseThrow(
              () -> refused("holds no identity: delete it, and restart all that use the prefix"));
    } catch (S3Exception e) {
      throw switch (e.statusCode()) {
        case 403 ->
            refused(
                "%s. Claims need s3:GetObject and s3:PutObject on it, and s3:ListBucket on the bucket"
                    .formatted(Faults.inOneLine(e)));
        case 404 -> refused(Faults.inOneLine(e));
        default -> bucket.unavailable(e);
      };
    } catch (SdkException e) {
      throw bucket.unavailable(e);
    }
  }

  private Optional<String> read() {
    try {
      return Optional.of(
          bucket
              .client()
              .getObjectAsBytes(
                  get ->
                      get.bucket(bucket.name())
                          .key(key())
                          .range("bytes=0-63")
                          .overrideConfiguration(TimeLimits.SETUP))
              .asUtf8String());
    } catch (S3Exception e) {
      if (S3Bucket.isMissingKey(e)) {
        return Optional.empty();
      }
      throw e;
    }
  }

  private void make() {
    try {
      var unused =
          bucket
              .client()
              .putObject(
                  put ->
                      put.bucket(bucket.name())
                          .key(key())
                          .ifNoneMatch("*")
                          .contentType("text/plain")
                          .overrideConfiguration(TimeLimits.SETUP),
                  RequestBody.fromString(Nonce.random().toString()));
    } catch (S3Exception e) {
      // 412: another instance was faster, or the answer to this very request was lost. Read it
      // back.
      if (e.statusCode() != 412) {
        throw e;
      }
    }
  }

  private StoreRefusedException refused(String why) {
    return new StoreRefusedException(
        "object %s of S3 bucket %s: %s".formatted(key(), bucket.name(), why));
  }
}
