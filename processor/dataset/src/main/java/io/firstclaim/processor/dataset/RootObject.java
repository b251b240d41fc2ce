package io.firstclaim.processor.dataset;

import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.aws.TranslatedFaults;
import io.firstclaim.lock.document.DocumentKey;
import io.firstclaim.lock.s3.S3DocumentStore;
import io.firstclaim.processor.dataset.RootText.Found;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import software.amazon.awssdk.core.ResponseBytes;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;

/** The object that the root is in, as anybody may read it. Thread-safe. */
final class RootObject {
  /** Where it is, from the dataset's prefix on. */
  static final String PATH = "metastore/dataset_registry.json";

  /** More than a document can have. */
  private static final int MOST_BYTES = S3DocumentStore.MAX_BYTES + 1;

  private static final int AT_ONCE = 16;

  private final S3Client client;
  private final String bucket;
  private final DocumentKey key;
  private final S3Requests requests;

  /**
   * What the object has in it.
   *
   * @param text without the blanks at its end; cut off if it is longer than a root can be
   */
  record Content(String text, String eTag) {}

  RootObject(S3Client client, String bucket, String prefix) {
    this.client = TranslatedFaults.of(S3Client.class, client);
    this.bucket = bucket;
    this.key = DocumentKey.of(prefix + PATH);
    this.requests = new S3Requests(bucket, AT_ONCE);
  }

  DocumentKey key() {
    return key;
  }

  /** Bucket and object, for people. */
  @Override
  public String toString() {
    return "S3 bucket %s: object %s".formatted(bucket, key);
  }

  /**
   * What the object has in it now.
   *
   * @return empty if nothing is
   * @throws StoreUnavailableException if S3 does not answer
   * @throws StoreRefusedException if it must not be read
   */
  Optional<Content> find() throws InterruptedException {
    return requests
        .find(
            "object " + key,
            () ->
                client.getObject(
                    get -> get.bucket(bucket).key(key.value()), new BoundedBody(MOST_BYTES)::read))
        .map(there -> new Content(text(there), there.response().eTag()));
  }

  private static String text(ResponseBytes<GetObjectResponse> there) {
    return new String(there.asByteArrayUnsafe(), StandardCharsets.UTF_8).stripTrailing();
  }

  /**
   * What the text of the object is.
   *
   * @throws UnreadableException if that is not a root
   */
  Found parsed(String text) {
    try {
      return RootText.parse(text);
    } catch (IllegalArgumentException e) {
      throw unreadable(e);
    }
  }

  UnreadableException unreadable(IllegalArgumentException why) {
    return new UnreadableException(
        ("%s is not the root of a dataset: %s. Records wait until it is mended: put an earlier"
                + " version of it back, or run 'java -jar firstclaim.jar dataset repair', which"
                + " makes it anew from the files that are there")
            .formatted(this, why.getMessage()));
  }
}
