package io.firstclaim.lock.s3;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.testkit.UnreadableClaimContract;
import software.amazon.awssdk.core.sync.RequestBody;

class S3UnreadableClaimTest extends UnreadableClaimContract {
  private static final String BODY = "somebody else's";

  @Override
  protected ClaimStore store(ClaimSettings settings) {
    return LocalS3.store(settings, time, time);
  }

  private static String place(String key) {
    return LocalS3.bucket(LocalS3.client()).key(key);
  }

  @Override
  protected void overwrite(String key) {
    LocalS3.client()
        .putObject(put -> put.bucket(LocalS3.BUCKET).key(place(key)), RequestBody.fromString(BODY));
  }

  @Override
  protected boolean isAsOverwritten(String key) {
    return LocalS3.client()
        .getObjectAsBytes(get -> get.bucket(LocalS3.BUCKET).key(place(key)))
        .asUtf8String()
        .equals(BODY);
  }
}
