package io.firstclaim.lock.s3;

import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.aws.Faults;
import io.firstclaim.lock.aws.TimeLimits;
import io.firstclaim.lock.aws.TranslatedFaults;
import io.firstclaim.lock.document.Document;
import io.firstclaim.lock.document.DocumentKey;
import io.firstclaim.lock.document.DocumentStore;
import io.firstclaim.lock.document.History;
import io.firstclaim.lock.document.WriteResult;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.core.ResponseBytes;
import software.amazon.awssdk.core.exception.RetryableException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;
import software.amazon.awssdk.services.s3.model.S3Exception;

/**
 * Documents in an S3 bucket, one object each under the document's own key, so that anybody can read
 * it: its body is the text, followed by {@value #BLANKS} blanks that encode the nonce of its write,
 * as two equal bodies would have the same ETag. Its history is in the object's metadata. An object
 * without that is a document that others wrote, of the same version whenever they write the same.
 *
 * <p>Keep documents out of the claims' prefix, whose objects expire. {@link S3Bucket#verify()}
 * shows whether a store keeps the conditions that documents rest on too, except those of deletions:
 * a store that keeps none there may delete what was written last. Thread-safe. The client stays the
 * caller's; no request takes longer than a minute.
 */
public final class S3DocumentStore implements DocumentStore {
  /**
   * A document has so many bytes at most, 8 MiB; larger ones should not be read and written whole
   * for each update.
   */
  public static final int MAX_BYTES = 8 << 20;

  private static final int BLANKS = 64;
  private static final String BLANK = " \t\n\r";
  private static final String HISTORY = "firstclaim-writes";

  private final S3Client client;
  private final String bucket;
  private final AwsRequestOverrideConfiguration limits;

  /** Documents in a bucket that is there. */
  public S3DocumentStore(S3Client client, String bucket) {
    this.client = TranslatedFaults.of(S3Client.class, client);
    this.bucket = bucket;
    this.limits =
        TimeLimits.of(
            client.serviceClientConfiguration().overrideConfiguration(), TimeLimits.DOCUMENT);
  }

  @Override
  public Optional<Document> find(DocumentKey key) {
    try {
      return Optional.of(
          decode(
              key,
              client.getObject(
                  get -> get.bucket(bucket).key(key.value()).overrideConfiguration(limits),
                  S3DocumentStore::received)));
    } catch (SdkException e) {
      if (S3Bucket.isMissingKey(e)) {
        return Optional.empty();
      }
      requireMendable(key, e);
      throw new StoreUnavailableException(
          "S3 bucket %s did not answer for document %s: %s"
              .formatted(bucket, key, Faults.inOneLine(e)),
          e);
    }
  }

  @Override
  public WriteResult write(
      DocumentKey key, @Nullable String expected, String content, History history) {
    byte[] body = (content + blanks(history.latest())).getBytes(StandardCharsets.UTF_8);
    requireSize(key, body.length);
    PutObjectRequest.Builder put =
        PutObjectRequest.builder()
            .bucket(bucket)
            .key(key.value())
            .overrideConfiguration(limits)
            .contentType(
                key.value().endsWith(".json") ? "application/json" : "text/plain; charset=utf-8")
            .metadata(Map.of(HISTORY, history.toString()));
    PutObjectRequest request =
        (expected == null ? put.ifNoneMatch("*") : put.ifMatch(expected)).build();
    try {
      client.putObject(request, RequestBody.fromBytes(body));
      return new WriteResult.Written();
    } catch (SdkException e) {
      return failed(key, e);
    }
  }

  @Override
  public WriteResult delete(DocumentKey key, String expected) {
    try {
      client.deleteObject(
          delete ->
              delete
                  .bucket(bucket)
                  .key(key.value())
                  .ifMatch(expected)
                  .overrideConfiguration(limits));
      return new WriteResult.Written();
    } catch (SdkException e) {
      return failed(key, e);
    }
  }

  /** What a write that failed is answered with, unless no retry can mend it. */
  private WriteResult failed(DocumentKey key, RuntimeException fault) {
    if (Faults.wasSentOnce(fault) && (S3Bucket.isMissingKey(fault) || isFailedCondition(fault))) {
      return new WriteResult.Differs();
    }
    requireMendable(key, fault);
    return new WriteResult.Unknown("S3 did not say: " + Faults.inOneLine(fault));
  }

  /** The answer with its body, of which no more is read than the longest document. */
  private static ResponseBytes<GetObjectResponse> received(GetObjectResponse head, InputStream in) {
    try {
      return ResponseBytes.fromByteArrayUnsafe(head, in.readNBytes(MAX_BYTES + 1));
    } catch (IOException e) {
      throw RetryableException.create("the answer broke off", e);
    }
  }

  private Document decode(DocumentKey key, ResponseBytes<GetObjectResponse> object) {
    byte[] body = object.asByteArrayUnsafe();
    requireSize(key, body.length);
    String version = object.response().eTag();
    String writes = object.response().metadata().get(HISTORY);
    try {
      String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(body)).toString();
      if (writes == null) {
        return new Document(text, version, History.NONE);
      }
      History history = History.parse(writes);
      String end = blanks(history.latest());
      if (!text.endsWith(end)) {
        throw new IllegalArgumentException("it does not end in the nonce of its write");
      }
      return new Document(text.substring(0, text.length() - end.length()), version, history);
    } catch (IllegalArgumentException | CharacterCodingException e) {
      throw new StoreRefusedException(
          "object %s of S3 bucket %s is not a document: %s. Was it written by something else?"
              .formatted(key, bucket, e.getMessage()));
    }
  }

  /** 128 bits, two to a character. */
  private static String blanks(Nonce nonce) {
    StringBuilder blanks = new StringBuilder(BLANKS);
    for (long half : new long[] {nonce.high(), nonce.low()}) {
      for (int shift = Long.SIZE - 2; shift >= 0; shift -= 2) {
        blanks.append(BLANK.charAt((int) (half >>> shift) & 3));
      }
    }
    return blanks.toString();
  }

  private static void requireSize(DocumentKey key, int size) {
    if (size > MAX_BYTES) {
      throw new IllegalArgumentException(
          "document %s has %,d bytes or more, and an update reads and writes at most %,d: split it"
              .formatted(key, size, MAX_BYTES));
    }
  }

  private static boolean isFailedCondition(RuntimeException fault) {
    return fault instanceof S3Exception failed && failed.statusCode() == 412;
  }

  private void requireMendable(DocumentKey key, RuntimeException fault) {
    if (S3Bucket.isPermanent(fault)) {
      throw new StoreRefusedException(
          ("S3 refuses document %s in bucket %s: %s. The bucket must be there, and the role needs"
                  + " s3:GetObject, s3:PutObject and s3:ListBucket on it, and to delete"
                  + " s3:DeleteObject")
              .formatted(key, bucket, Faults.inOneLine(fault)));
    }
  }
}
