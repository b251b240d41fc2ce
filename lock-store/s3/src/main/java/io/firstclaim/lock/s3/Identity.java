package io.firstclaim.lock.s3;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.Sha256;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.aws.Faults;
import io.firstclaim.lock.aws.TimeLimits;
import io.firstclaim.lock.store.BoundIdentity;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import software.amazon.awssdk.core.ResponseBytes;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;
import software.amazon.awssdk.services.s3.model.S3Exception;

/**
 * The object that names what is kept under a prefix: written once, by whoever is first, and bound
 * to the place by its metadata, which that of an earlier build is later. It stands beside the
 * prefix, not under it, where the lifecycle rule would delete it.
 */
record Identity(S3Bucket bucket) {
  private static final String PLACE = "bound-to";
  private static final Pattern FORM = Pattern.compile("[0-9a-f]{32}");

  /** Where it is: {@code claims.identity} for the prefix {@code claims/}. */
  String key() {
    return bucket.prefix().replaceFirst("/$", "") + ".identity";
  }

  /** What names the place, in characters that metadata may have, whatever the prefix. */
  private String place() {
    return HexFormat.of().formatHex(Sha256.of((bucket.name() + "/" + key()).getBytes(UTF_8)));
  }

  /**
   * The object as it was read.
   *
   * @param version that makes a write conditional on it
   */
  private record Read(BoundIdentity identity, String version) {}

  /** The identity, made if there is none. */
  String get() {
    try {
      Optional<Read> made = read();
      if (made.isEmpty()) {
        write(Nonce.random().toString(), put -> put.ifNoneMatch("*"));
      }
      Read found =
          made.or(this::read)
              .filter(read -> FORM.matcher(read.identity.nonce()).matches())
              .orElseThrow(
                  () ->
                      refused("holds no identity: delete it, and restart all that use the prefix"));
      if (found.identity.place() == null) {
        write(found.identity.nonce(), put -> put.ifMatch(found.version));
      }
      return found.identity.in(place());
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

  private Optional<Read> read() {
    try {
      ResponseBytes<GetObjectResponse> object =
          bucket
              .client()
              .getObjectAsBytes(
                  get ->
                      get.bucket(bucket.name())
                          .key(key())
                          .range("bytes=0-63")
                          .overrideConfiguration(TimeLimits.SETUP));
      var identity =
          new BoundIdentity(object.asUtf8String(), object.response().metadata().get(PLACE));
      return Optional.of(new Read(identity, object.response().eTag()));
    } catch (S3Exception e) {
      if (S3Bucket.isMissingKey(e)) {
        return Optional.empty();
      }
      throw e;
    }
  }

  /** Writes it, bound to this place, unless another instance was faster. */
  private void write(String nonce, Consumer<PutObjectRequest.Builder> condition) {
    try {
      var unused =
          bucket
              .client()
              .putObject(
                  put -> {
                    put.bucket(bucket.name())
                        .key(key())
                        .contentType("text/plain")
                        .metadata(Map.of(PLACE, place()))
                        .overrideConfiguration(TimeLimits.SETUP);
                    condition.accept(put);
                  },
                  RequestBody.fromString(nonce));
    } catch (S3Exception e) {
      // 412: another instance was faster, in the same place, or the answer to this very request
      // was lost.
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
