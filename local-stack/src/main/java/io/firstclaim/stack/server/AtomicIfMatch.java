package io.firstclaim.stack.server;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.stream.Stream;
import org.gaul.s3proxy.blobstore.BlobStore;
import org.gaul.s3proxy.blobstore.ForwardingBlobStore;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.core.ResponseInputStream;
import software.amazon.awssdk.http.SdkHttpResponse;
import software.amazon.awssdk.services.s3.model.GetObjectRequest;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;
import software.amazon.awssdk.services.s3.model.PutObjectResponse;
import software.amazon.awssdk.services.s3.model.S3Exception;

/**
 * Makes PUT with {@code If-Match} atomic, as on S3: S3Proxy compares and then writes, and lets
 * another writer in between; here each key's writers take turns. So do its readers: S3Proxy may
 * answer a GET with the ETag and metadata of one write and the body of the next.
 */
final class AtomicIfMatch extends ForwardingBlobStore {
  private static final int STRIPES = 1024;

  private final Object[] stripes = Stream.generate(Object::new).limit(STRIPES).toArray();

  AtomicIfMatch(BlobStore delegate) {
    super(delegate);
  }

  @Override
  public PutObjectResponse putBlob(PutObjectRequest request, InputStream in) {
    // Read first, so that a slow sender holds nobody up.
    byte[] body = readAll(in);
    synchronized (stripe(request.bucket(), request.key())) {
      if (request.ifMatch() != null) {
        requireMatch(request);
      }
      return delegate().putBlob(request, new ByteArrayInputStream(body));
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

  private Object stripe(String bucket, String key) {
    return stripes[Math.floorMod((bucket + "/" + key).hashCode(), STRIPES)];
  }

  private void requireMatch(PutObjectRequest request) {
    HeadObjectResponse stored = delegate().blobMetadataIfPresent(request.bucket(), request.key());
    if (stored == null) {
      throw error(404, "NoSuchKey");
    }
    if (!bare(request.ifMatch()).equals(bare(stored.eTag()))) {
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
