package io.firstclaim.spring.autoconfigure;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.s3.S3Bucket;
import io.firstclaim.lock.s3.S3ClaimStore;
import io.firstclaim.spring.autoconfigure.FirstclaimProperties.BackendName;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.s3.S3Client;

/** Claims in an S3 bucket, by a client of its own. */
final class S3Backend implements Backend {
  private final FirstclaimProperties.Claim properties;
  private final ClaimSettings claims;
  private final AwsAccess access;
  private @Nullable S3Client client;

  S3Backend(FirstclaimProperties.Claim properties, ClaimSettings claims, AwsAccess access) {
    this.properties = properties;
    this.claims = claims;
    this.access = access;
  }

  @Override
  public BackendName name() {
    return BackendName.S3;
  }

  @Override
  public ClaimStore open(TimeSource time) {
    String name = properties.s3().bucket();
    if (name == null) {
      throw new StartRefusedException(
          "firstclaim.claim.s3.bucket is not set", "name the bucket that claims are kept in");
    }
    S3Client opened =
        access
            .applied(S3Bucket.configure(S3Client.builder(), claims))
            .forcePathStyle(access.endpoint() != null ? true : null)
            .build();
    client = opened;
    S3Bucket bucket = new S3Bucket(opened, name, properties.s3().prefix());
    if (properties.create()) {
      bucket.create(claims);
    }
    return S3ClaimStore.open(bucket, claims, time);
  }

  @Override
  public void close() {
    if (client != null) {
      client.close();
    }
  }
}
