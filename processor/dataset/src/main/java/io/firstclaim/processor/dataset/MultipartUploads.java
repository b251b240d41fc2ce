package io.firstclaim.processor.dataset;

import io.firstclaim.lock.aws.Faults;
import java.io.ByteArrayInputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.CompletedPart;

/**
 * Objects that are written in parts. The <a
 * href="https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html">completion
 * of an upload</a> has the condition that nothing is there ({@code If-None-Match: *}). Throws the
 * SDK's faults as they are. Thread-safe.
 */
final class MultipartUploads {
  private static final Logger LOG = LoggerFactory.getLogger(MultipartUploads.class);
  private static final Duration ABORTED_WITHIN = Duration.ofSeconds(10);

  private final S3Client client;
  private final String bucket;
  private final int partSize;

  /**
   * Uploads to a bucket.
   *
   * @param partSize in bytes
   */
  MultipartUploads(S3Client client, String bucket, int partSize) {
    this.client = client;
    this.bucket = bucket;
    this.partSize = partSize;
  }

  /**
   * Writes an object, unless something is there; aborts the upload if that fails.
   *
   * @param ensureHeld called before the object becomes visible; what it throws ends the upload
   */
  void write(
      String key,
      byte[] value,
      String contentType,
      Map<String, String> metadata,
      Runnable ensureHeld) {
    String upload =
        client
            .createMultipartUpload(
                create ->
                    create.bucket(bucket).key(key).contentType(contentType).metadata(metadata))
            .uploadId();
    boolean isCompleted = false;
    try {
      List<CompletedPart> parts = writeParts(key, value, contentType, upload);
      ensureHeld.run();
      client.completeMultipartUpload(
          complete ->
              complete
                  .bucket(bucket)
                  .key(key)
                  .uploadId(upload)
                  .ifNoneMatch("*")
                  .multipartUpload(made -> made.parts(parts)));
      isCompleted = true;
    } finally {
      if (!isCompleted) {
        abort(key, upload);
      }
    }
  }

  private List<CompletedPart> writeParts(
      String key, byte[] value, String contentType, String upload) {
    List<CompletedPart> parts = new ArrayList<>();
    for (int from = 0; from < value.length; from += partSize) {
      int start = from;
      int length = Math.min(partSize, value.length - from);
      int number = parts.size() + 1;
      RequestBody body =
          RequestBody.fromContentProvider(
              () -> new ByteArrayInputStream(value, start, length), length, contentType);
      String eTag =
          client
              .uploadPart(
                  part -> part.bucket(bucket).key(key).uploadId(upload).partNumber(number), body)
              .eTag();
      parts.add(CompletedPart.builder().partNumber(number).eTag(eTag).build());
    }
    return parts;
  }

  /**
   * Removes the parts of an upload, which would cost money for ever if it is never completed.
   * Harmless if it was completed after all. An interrupted thread can send nothing, so the
   * interrupt waits.
   *
   * @return whether the upload is gone
   */
  boolean abort(String key, String upload) {
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
    } catch (SdkException e) {
      boolean isGone = S3Requests.status(e) == 404;
      if (!isGone) {
        LOG.warn(
            "A multipart upload of {} in S3 bucket {} was neither completed nor aborted: {}. A"
                + " repair of the dataset will, a day after it began",
            key,
            bucket,
            Faults.inOneLine(e));
      }
      return isGone;
    } finally {
      if (wasInterrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
