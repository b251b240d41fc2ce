package io.firstclaim.micronaut.config;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.s3.S3Bucket;
import io.firstclaim.lock.s3.S3ClaimStore;
import io.firstclaim.micronaut.config.FirstclaimSettings.BackendName;
import io.micronaut.context.annotation.Bean;
import io.micronaut.context.annotation.Requires;
import jakarta.inject.Singleton;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.s3.S3Client;

/** Claims in an S3 bucket, by a client of its own. */
@Singleton
@Bean(preDestroy = "close")
@Requires(classes = S3ClaimStore.class)
final class S3Backend implements Backend {
  private final FirstclaimSettings.Claim claim;
  private final FirstclaimSettings.S3 settings;
  private final ClaimSettings claims;
  private @Nullable S3Client client;

  S3Backend(FirstclaimSettings.Claim claim, FirstclaimSettings.S3 settings, ClaimSettings claims) {
    this.claim = claim;
    this.settings = settings;
    this.claims = claims;
  }

  @Override
  public BackendName name() {
    return BackendName.S3;
  }

  @Override
  public ClaimStore open(TimeSource time) {
    String name = settings.bucket();
    if (name == null) {
      throw new StartRefusedException(
          "firstclaim.claim.s3.bucket is not set", "name the bucket that claims are kept in");
    }
    S3Client opened = S3Bucket.configure(S3Client.builder(), claims).build();
    client = opened;
    S3Bucket bucket = new S3Bucket(opened, name, settings.prefix());
    if (claim.create()) {
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
