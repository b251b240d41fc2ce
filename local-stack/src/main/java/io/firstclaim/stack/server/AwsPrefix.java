package io.firstclaim.stack.server;

import java.util.UUID;
import java.util.stream.Stream;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;
import software.amazon.awssdk.services.s3.model.S3Object;

/**
 * A prefix of an S3 bucket that nobody else has.
 *
 * @param client as the AWS SDK's settings have it
 */
public record AwsPrefix(String bucket, String prefix, S3Client client) implements AwsPlace {
  /** The system property that names the bucket. */
  public static final String PROPERTY = "aws.bucket";

  /** A new prefix of this bucket. */
  public static AwsPrefix open(String bucket) {
    AwsPrefix opened =
        new AwsPrefix(bucket, "firstclaim-" + UUID.randomUUID() + "/", builder().build());
    opened.requireEmpty();
    return opened;
  }

  /** A client as the AWS SDK's settings have it. */
  public static S3ClientBuilder builder() {
    return S3Client.builder()
        .forcePathStyle(true)
        .httpClientBuilder(Apache5HttpClient.builder().maxConnections(64));
  }

  @Override
  public String name() {
    return "%s=%s, prefix %s".formatted(PROPERTY, bucket, prefix);
  }

  @Override
  public Stream<String> keys() {
    return objects().map(S3Object::key);
  }

  /** With the identity, which stands beside the prefix. */
  private Stream<S3Object> objects() {
    String beginning = prefix.substring(0, prefix.length() - 1);
    return client
        .listObjectsV2Paginator(list -> list.bucket(bucket).prefix(beginning))
        .contents()
        .stream();
  }

  /** Each on its ETag, as a bucket's policy may deny any other delete. */
  @Override
  public void empty() {
    objects()
        .forEach(
            object ->
                client.deleteObject(
                    delete -> delete.bucket(bucket).key(object.key()).ifMatch(object.eTag())));
  }
}
