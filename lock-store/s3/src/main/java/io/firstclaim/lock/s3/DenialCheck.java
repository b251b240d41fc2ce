package io.firstclaim.lock.s3;

import io.firstclaim.lock.ConformanceResult;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.aws.Faults;
import io.firstclaim.lock.aws.TimeLimits;
import io.firstclaim.lock.s3.ProtectedPrefix.Protection;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;
import software.amazon.awssdk.services.s3.model.S3Exception;

/**
 * Tries on one scratch object what a {@link BucketPolicy} denies under a prefix, and removes what
 * was written as it was not. For one run, by one thread.
 */
final class DenialCheck {
  private static final Logger LOG = LoggerFactory.getLogger(DenialCheck.class);

  private final S3Client client;
  private final String bucket;
  private final ProtectedPrefix prefix;
  private final String key;

  /** The ETag of what was written; null if nothing is there. */
  private @Nullable String eTag;

  DenialCheck(S3Client client, String bucket, ProtectedPrefix prefix) {
    this.client = client;
    this.bucket = bucket;
    this.prefix = prefix;
    this.key = prefix.prefix() + "self-test/" + Nonce.random() + "/denied";
  }

  /**
   * Makes all tries; returns what was answered to each.
   *
   * @throws StoreUnavailableException if S3 does not answer
   */
  List<ConformanceResult> run() {
    List<ConformanceResult> results = new ArrayList<>();
    try {
      results.add(tried("PUT without a condition", () -> put(null)));
      if (prefix.protection() == Protection.ONCE) {
        results.add(tried("PUT with If-Match", () -> put("\"0\"")));
      }
      results.add(tried("DELETE without a condition", () -> delete(null)));
      return results;
    } finally {
      removeWhatIsLeft();
    }
  }

  /**
   * Tries one thing.
   *
   * @param request returns the ETag of what is there after it; null for nothing
   */
  private ConformanceResult tried(String what, Supplier<@Nullable String> request) {
    String name = "%s under %s".formatted(what, prefix.prefix());
    try {
      eTag = request.get();
      return new ConformanceResult(name, "taken", false);
    } catch (S3Exception e) {
      if (e.statusCode() >= 500 && e.statusCode() != 501) {
        throw unavailable(e);
      }
      String answer = "%d %s".formatted(e.statusCode(), Faults.code(e)).strip();
      return new ConformanceResult(name, answer, e.statusCode() == 403);
    } catch (SdkException e) {
      throw unavailable(e);
    }
  }

  private StoreUnavailableException unavailable(SdkException fault) {
    return new StoreUnavailableException(
        "S3 bucket %s: %s".formatted(bucket, Faults.inOneLine(fault)), fault);
  }

  private @Nullable String put(@Nullable String on) {
    PutObjectRequest put =
        PutObjectRequest.builder()
            .bucket(bucket)
            .key(key)
            .ifMatch(on)
            .overrideConfiguration(TimeLimits.SETUP)
            .build();
    return client.putObject(put, RequestBody.fromString("scratch")).eTag();
  }

  private @Nullable String delete(@Nullable String on) {
    var unused =
        client.deleteObject(
            delete ->
                delete.bucket(bucket).key(key).ifMatch(on).overrideConfiguration(TimeLimits.SETUP));
    return null;
  }

  private void removeWhatIsLeft() {
    if (eTag != null) {
      try {
        eTag = delete(eTag);
      } catch (SdkException e) {
        LOG.debug("Object {} of S3 bucket {} is left", key, bucket, e);
      }
    }
  }
}
