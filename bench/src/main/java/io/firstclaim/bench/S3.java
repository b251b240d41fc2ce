package io.firstclaim.bench;

import io.firstclaim.bench.Instance.Plan;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.StoreListener;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.s3.S3Bucket;
import io.firstclaim.lock.s3.S3ClaimStore;
import io.firstclaim.stack.server.S3Server;
import java.net.URI;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.Delete;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Response;
import software.amazon.awssdk.services.s3.model.ObjectIdentifier;

/** The local S3 endpoint. */
final class S3 implements Backend, AutoCloseable {
  static final String BUCKET = "bench";

  /** About as long as a marker. */
  private static final String BODY = "{\"nonce\":\"%s\",\"rest\":\"" + "x".repeat(350) + "\"}";

  private final Stack stack;
  private final S3Server server = S3Server.start();

  S3(Stack stack) {
    this.stack = stack;
    server.createBucket(BUCKET);
  }

  @Override
  public String name() {
    return "the S3 endpoint";
  }

  @Override
  public URI endpoint() {
    return server.endpoint();
  }

  @Override
  public String newPlace() {
    return stack.name("claims") + "/";
  }

  /** A client as the service has it, to this endpoint. */
  static S3Client client(URI endpoint) {
    return Stack.at(endpoint, S3Bucket.configure(S3Client.builder(), Stack.SETTINGS))
        .httpClientBuilder(Apache5HttpClient.builder().maxConnections(Stack.CONNECTIONS))
        .build();
  }

  @Override
  public Session open(URI endpoint, String prefix, StoreListener listener) {
    S3Client client = client(endpoint);
    S3Bucket bucket = new S3Bucket(client, BUCKET, prefix);
    return new Session() {
      @Override
      public ClaimStore store(Plan plan) {
        return new S3ClaimStore(bucket, plan.store(), TimeSource.system(), listener);
      }

      @Override
      public void writeTwice(String id) {
        String key = prefix + RecordId.of(id).key("bench");
        String eTag =
            client.putObject(put -> put.bucket(BUCKET).key(key).ifNoneMatch("*"), body()).eTag();
        var _ = client.putObject(put -> put.bucket(BUCKET).key(key).ifMatch(eTag), body());
      }

      @Override
      public void close() {
        delete(client, prefix);
        client.close();
      }
    };
  }

  /** The server keeps in memory what was written. */
  static void delete(S3Client client, String prefix) {
    for (ListObjectsV2Response page :
        client.listObjectsV2Paginator(list -> list.bucket(BUCKET).prefix(prefix))) {
      if (!page.contents().isEmpty()) {
        var _ = client.deleteObjects(delete -> delete.bucket(BUCKET).delete(all(page)));
      }
    }
  }

  private static Delete all(ListObjectsV2Response page) {
    return Delete.builder()
        .objects(
            page.contents().stream()
                .map(object -> ObjectIdentifier.builder().key(object.key()).build())
                .toList())
        .build();
  }

  private static RequestBody body() {
    return RequestBody.fromString(BODY.formatted(Nonce.random()));
  }

  @Override
  public void close() {
    server.close();
  }
}
