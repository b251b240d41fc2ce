package io.firstclaim.stack.server;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.stream.Stream;
import org.gaul.s3proxy.blobstore.BlobStore;
import org.gaul.s3proxy.blobstore.ForwardingBlobStore;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.core.ResponseInputStream;
import software.amazon.awssdk.http.SdkHttpResponse;
import software.amazon.awssdk.services.s3.model.DeleteObjectRequest;
import software.amazon.awssdk.services.s3.model.DeleteObjectResponse;
import software.amazon.awssdk.services.s3.model.GetObjectRequest;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.HeadObjectRequest;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;
import software.amazon.awssdk.services.s3.model.PutObjectResponse;
import software.amazon.awssdk.services.s3.model.S3Exception;

/**
 * Makes PUT and DELETE with {@code If-Match} atomic, as on S3: S3Proxy compares and then writes or
 * deletes, and lets another writer in between; here each key's writers take turns. So do its
 * readers: S3Proxy may answer a GET with the ETag and metadata of one write and the body of the
 * next.
 */
final class AtomicIfMatch extends ForwardingBlobStore {
  private static final int STRIPES = 1024;

  private final Object[] stripes = Stream.generate(Object::new).limit(STRIPES).toArray();

  /**
   * The ETag that a thread has looked at last. S3Proxy compares a DELETE's condition with it, and
   * then deletes without telling the condition.
   */
  private static final ThreadLocal<String> LOOKED = new ThreadLocal<>();

  AtomicIfMatch(BlobStore delegate) {
    super(delegate);
  }

  @Override
  public PutObjectResponse putBlob(PutObjectRequest request, InputStream in) {
    // Read first, so that a slow sender holds nobody up.
    byte[] body = readAll(in);
    synchronized (stripe(request.bucket(), request.key())) {
      if (request.ifMatch() != null) {
        requireMatch(request.bucket(), request.key(), request.ifMatch());
      }
      return delegate().putBlob(request, new ByteArrayInputStream(body));
    }
  }

  @Override
  public @Nullable HeadObjectResponse blobMetadataIfPresent(HeadObjectRequest request) {
    HeadObjectResponse found = delegate().blobMetadataIfPresent(request);
    if (found != null) {
      LOOKED.set(found.eTag());
    }
    return found;
  }

  @Override
  public DeleteObjectResponse removeBlob(DeleteObjectRequest request) {
    synchronized (stripe(request.bucket(), request.key())) {
      if (onCondition()) {
        requireMatch(request.bucket(), request.key(), LOOKED.get());
      }
      return delegate().removeBlob(request);
    }
  }

  /**
   * The body is open by the time the attributes are read, and stays the same when the object is
   * replaced.
   */
  @Override
  public ResponseInputStream<GetObjectResponse> getBlob(GetObjectRequest request) {
    synchronized (stripe(request.bucket(), request.key())) {
      return delegate().getBlob(request);
    }
  }

  /** Whether S3Proxy has compared before this DELETE: only its own calls tell. */
  private static boolean onCondition() {
    return StackWalker.getInstance()
        .walk(
            frames -> frames.anyMatch(frame -> frame.getMethodName().equals("conditionalDelete")));
  }

  private Object stripe(String bucket, String key) {
    return stripes[Math.floorMod((bucket + "/" + key).hashCode(), STRIPES)];
  }

  private void requireMatch(String bucket, String key, String eTag) {
    HeadObjectResponse stored = delegate().blobMetadataIfPresent(bucket, key);
    if (stored == null) {
      throw error(404, "NoSuchKey");
    }
    if (!bare(eTag).equals(bare(stored.eTag()))) {
      throw error(412, "PreconditionFailed");
    }
  }

  private static String bare(String eTag) {
    return eTag.replace("\"", "");
  }

  private static byte[] readAll(InputStream in) {
    try {
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static S3Exception error(int status, String code) {
    SdkHttpResponse response = SdkHttpResponse.builder().statusCode(status).build();
    AwsErrorDetails details =
        AwsErrorDetails.builder()
            .errorCode(code)
            .errorMessage(code)
            .sdkHttpResponse(response)
            .build();
    return (S3Exception)
        S3Exception.builder().statusCode(status).message(code).awsErrorDetails(details).build();
  }
}
