package io.firstclaim.processor.dataset;

import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import java.io.ByteArrayInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.core.exception.AbortedException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.CompletedPart;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;
import software.amazon.awssdk.services.s3.model.S3Exception;

/**
 * The objects of the dataset in an S3 bucket. Each is written once, on the condition that nothing
 * is there ({@code If-None-Match: *}); a large one in parts, whose <a
 * href="https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html">completion
 * has that condition</a>. The SHA-256 of an object is in its metadata. Thread-safe.
 */
final class DatasetObjects {
  private static final Logger LOG = LoggerFactory.getLogger(DatasetObjects.class);
  private static final String SHA256 = "firstclaim-sha256";
  private static final String CONTENT_TYPE = "application/octet-stream";

  /** How many objects are written at once; the client has a few connections more. */
  static final int AT_WORK = 96;

  private static final Duration ABORTED_WITHIN = Duration.ofSeconds(10);

  /**
   * As many as there are connections for: waiting for one would run into the client's time limit.
   */
  private final Semaphore atWork = new Semaphore(AT_WORK);

  private final S3Client client;
  private final String bucket;
  private final String prefix;
  private final int partSize;

  /**
   * Objects in a bucket that is there.
   *
   * @param partSize in bytes; larger objects are written in parts of this size
   */
  DatasetObjects(S3Client client, String bucket, String prefix, int partSize) {
    this.client = client;
    this.bucket = bucket;
    this.prefix = prefix;
    this.partSize = partSize;
  }

  /**
   * Writes a file, or finds that it is there.
   *
   * @param ensureHeld called before anything becomes visible; what it throws ends it
   * @return true if it is there with this content, false if with another
   * @throws StoreUnavailableException if that is not known
   * @throws StoreRefusedException if the bucket is not there or the role may not do this
   */
  boolean putOnce(DatasetFile file, byte[] value, Runnable ensureHeld) throws InterruptedException {
    atWork.acquire();
    try {
      return put(file, value, ensureHeld);
    } finally {
      atWork.release();
    }
  }

  private boolean put(DatasetFile file, byte[] value, Runnable ensureHeld)
      throws InterruptedException {
    String sha256 = sha256(value);
    boolean isLarge = value.length > partSize;
    if (isLarge) {
      Optional<Boolean> isSame = compare(file, value, sha256);
      if (isSame.isPresent()) {
        return isSame.get();
      }
    }
    try {
      if (isLarge) {
        upload(file, value, sha256, ensureHeld);
      } else {
        ensureHeld.run();
        client.putObject(
            put ->
                put.bucket(bucket)
                    .key(key(file))
                    .ifNoneMatch("*")
                    .contentType(CONTENT_TYPE)
                    .metadata(Map.of(SHA256, sha256)),
            RequestBody.fromBytes(value));
      }
      return true;
    } catch (SdkException | CancellationException e) {
      requireNoInterrupt(e);
      // A completion may fail late, or in other ways, even when it or another one was applied.
      boolean mayBeThere = isLarge || status(e) == 412;
      Optional<Boolean> isSame = mayBeThere ? compare(file, value, sha256) : Optional.empty();
      return isSame.orElseThrow(() -> failure(file, e));
    }
  }

  private void upload(DatasetFile file, byte[] value, String sha256, Runnable ensureHeld) {
    String upload =
        client
            .createMultipartUpload(
                create ->
                    create
                        .bucket(bucket)
                        .key(key(file))
                        .contentType(CONTENT_TYPE)
                        .metadata(Map.of(SHA256, sha256)))
            .uploadId();
    boolean isCompleted = false;
    try {
      List<CompletedPart> parts = uploadParts(file, value, upload);
      ensureHeld.run();
      client.completeMultipartUpload(
          complete ->
              complete
                  .bucket(bucket)
                  .key(key(file))
                  .uploadId(upload)
                  .ifNoneMatch("*")
                  .multipartUpload(made -> made.parts(parts)));
      isCompleted = true;
    } finally {
      if (!isCompleted) {
        abort(key(file), upload);
      }
    }
  }

  private List<CompletedPart> uploadParts(DatasetFile file, byte[] value, String upload) {
    List<CompletedPart> parts = new ArrayList<>();
    for (int from = 0; from < value.length; from += partSize) {
      int start = from;
      int length = Math.min(partSize, value.length - from);
      int number = parts.size() + 1;
      RequestBody body =
          RequestBody.fromContentProvider(
              () -> new ByteArrayInputStream(value, start, length), length, CONTENT_TYPE);
      String eTag =
          client
              .uploadPart(
                  part -> part.bucket(bucket).key(key(file)).uploadId(upload).partNumber(number),
                  body)
              .eTag();
      parts.add(CompletedPart.builder().partNumber(number).eTag(eTag).build());
    }
    return parts;
  }

  /**
   * Parts that are never completed cost money for ever. An interrupted thread can send nothing, so
   * the interrupt waits. Harmless if the upload was completed after all.
   *
   * @return whether the upload is gone
   */
  private boolean abort(String key, String upload) {
    boolean wasInterrupted = Thread.interrupted();
    try {
      client.abortMultipartUpload(
          abort ->
              abort
                  .bucket(bucket)
                  .key(key)
                  .uploadId(upload)
                  .overrideConfiguration(limit -> limit.apiCallTimeout(ABORTED_WITHIN)));
      return true;
    } catch (SdkException | CancellationException e) {
      boolean isGone = status(e) == 404;
      if (!isGone) {
        LOG.warn(
            "A multipart upload of {} in S3 bucket {} was neither completed nor aborted: {}. A"
                + " repair of the dataset will, a day after it began",
            key,
            bucket,
            inOneLine(e));
      }
      return isGone;
    } finally {
      if (wasInterrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Whether what is there is the same; empty if nothing is there. */
  private Optional<Boolean> compare(DatasetFile file, byte[] value, String sha256)
      throws InterruptedException {
    try {
      HeadObjectResponse head = client.headObject(ask -> ask.bucket(bucket).key(key(file)));
      if (head.contentLength() != value.length) {
        return Optional.of(false);
      }
      String stored = head.metadata().get(SHA256);
      return Optional.of(stored == null ? Arrays.equals(read(file), value) : stored.equals(sha256));
    } catch (SdkException | CancellationException e) {
      requireNoInterrupt(e);
      if (status(e) == 404) {
        return Optional.empty();
      }
      throw failure(file, e);
    }
  }

  private byte[] read(DatasetFile file) {
    return client.getObjectAsBytes(get -> get.bucket(bucket).key(key(file))).asByteArrayUnsafe();
  }

  /**
   * The files that are there; other objects under the prefix are passed over.
   *
   * @throws StoreUnavailableException if S3 does not answer
   * @throws StoreRefusedException if the bucket is not there or the role may not do this
   */
  List<DatasetFile> list() throws InterruptedException {
    try {
      return client
          .listObjectsV2Paginator(list -> list.bucket(bucket).prefix(prefix + DatasetFile.FOLDER))
          .contents()
          .stream()
          .flatMap(object -> file(object.key(), object.size()).stream())
          .toList();
    } catch (SdkException | CancellationException e) {
      requireNoInterrupt(e);
      throw failure(null, e);
    }
  }

  /**
   * Aborts the multipart uploads of files that were begun before this moment: these are left by
   * crashes, and by retries of requests whose answer was lost.
   *
   * @return how many
   * @throws StoreUnavailableException if S3 does not answer
   * @throws StoreRefusedException if the bucket is not there or the role may not do this
   */
  long abortUploads(Instant begunBefore) throws InterruptedException {
    try {
      return client
          .listMultipartUploadsPaginator(
              list -> list.bucket(bucket).prefix(prefix + DatasetFile.FOLDER))
          .uploads()
          .stream()
          .filter(upload -> upload.initiated().isBefore(begunBefore))
          .filter(upload -> file(upload.key(), 0).isPresent())
          .filter(upload -> abort(upload.key(), upload.uploadId()))
          .count();
    } catch (SdkException | CancellationException e) {
      requireNoInterrupt(e);
      throw failure(null, e);
    }
  }

  private Optional<DatasetFile> file(String key, long bytes) {
    return DatasetFile.parse(key.substring(prefix.length()), bytes);
  }

  private String key(DatasetFile file) {
    return prefix + file.path();
  }

  private RuntimeException failure(@Nullable DatasetFile file, RuntimeException fault) {
    String what = file == null ? "its objects" : "object " + key(file);
    // Another 404 may be a gateway's, or that of an upload that was aborted.
    return status(fault) == 403 || isMissingBucket(fault)
        ? new StoreRefusedException(
            ("S3 bucket %s refuses %s: %s. The bucket must be there, and the role needs"
                    + " s3:GetObject, s3:PutObject and s3:AbortMultipartUpload in it, and"
                    + " s3:ListBucket and s3:ListBucketMultipartUploads on it")
                .formatted(bucket, what, inOneLine(fault)))
        : new StoreUnavailableException(
            "S3 bucket %s did not answer for %s: %s".formatted(bucket, what, inOneLine(fault)),
            fault);
  }

  private static void requireNoInterrupt(RuntimeException fault) throws InterruptedException {
    if (fault instanceof AbortedException) {
      Thread.interrupted(); // the SDK sets it again; the exception below carries it
      throw (InterruptedException) new InterruptedException("while writing to S3").initCause(fault);
    }
  }

  private static boolean isMissingBucket(RuntimeException fault) {
    return fault instanceof S3Exception answered
        && answered.awsErrorDetails() != null
        && "NoSuchBucket".equals(answered.awsErrorDetails().errorCode());
  }

  /** The status of S3's answer; 0 if there was none. */
  private static int status(RuntimeException fault) {
    return fault instanceof S3Exception answered ? answered.statusCode() : 0;
  }

  private static String inOneLine(RuntimeException fault) {
    String message =
        fault instanceof S3Exception answered && answered.awsErrorDetails() != null
            ? "%d %s".formatted(answered.statusCode(), answered.awsErrorDetails().errorCode())
            : String.valueOf(fault.getMessage());
    return OneLine.of(message);
  }

  private static String sha256(byte[] value) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(value));
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError(e); // every Java platform has it
    }
  }
}
