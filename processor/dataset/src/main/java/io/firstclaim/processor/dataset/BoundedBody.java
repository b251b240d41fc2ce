package io.firstclaim.processor.dataset;

import java.io.IOException;
import software.amazon.awssdk.core.ResponseBytes;
import software.amazon.awssdk.core.exception.RetryableException;
import software.amazon.awssdk.core.sync.ResponseTransformer;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;

/** Reads no more of an object than what ours can have, whatever somebody has put there. */
final class BoundedBody {
  private BoundedBody() {}

  /** What is there, cut off after as many bytes. */
  static ResponseTransformer<GetObjectResponse, ResponseBytes<GetObjectResponse>> of(int most) {
    return (head, in) -> {
      try {
        byte[] body = in.readNBytes(most);
        if (body.length == most) {
          in.abort(); // to close it would read the rest
        }
        return ResponseBytes.fromByteArrayUnsafe(head, body);
      } catch (IOException e) {
        throw RetryableException.create("the answer broke off", e);
      }
    };
  }
}
