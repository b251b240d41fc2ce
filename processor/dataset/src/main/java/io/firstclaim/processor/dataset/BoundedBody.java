package io.firstclaim.processor.dataset;

import java.io.IOException;
import java.io.InputStream;
import software.amazon.awssdk.core.ResponseBytes;
import software.amazon.awssdk.core.exception.RetryableException;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;

/**
 * Reads no more of an object than what ours can have, whatever somebody has put there.
 *
 * @param most bytes, after which it is cut off
 */
record BoundedBody(int most) {
  /** The body, or as much of it as is read. */
  ResponseBytes<GetObjectResponse> read(GetObjectResponse head, InputStream in) {
    try {
      return ResponseBytes.fromByteArrayUnsafe(head, in.readNBytes(most));
    } catch (IOException e) {
      throw RetryableException.create("the answer broke off", e);
    }
  }
}
