package io.firstclaim.lock.s3;

import io.firstclaim.lock.StoreListener;
import io.firstclaim.lock.testkit.mutex.Contender;
import java.net.URI;
import java.util.List;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;

/** A process of contenders on S3: the endpoint, then the contender's arguments. */
final class S3Contender {
  private S3Contender() {}

  /** The client is not {@link LocalS3}'s, whose class starts a server. */
  public static void main(String[] args) throws Exception {
    try (S3Client client =
        S3Client.builder()
            .endpointOverride(URI.create(args[0]))
            .forcePathStyle(true)
            .region(Region.US_EAST_1)
            .credentialsProvider(
                StaticCredentialsProvider.create(AwsBasicCredentials.create("test", "test")))
            .httpClientBuilder(Apache5HttpClient.builder().maxConnections(64))
            .build()) {
      var bucket = new S3Bucket(client, LocalS3.BUCKET, LocalS3.PREFIX);
      Contender.of(List.of(args).subList(1, args.length))
          .run((settings, time) -> new S3ClaimStore(bucket, settings, time, StoreListener.NONE));
    }
  }
}
