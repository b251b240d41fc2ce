package io.firstclaim.processor.service.store;

import io.firstclaim.lock.ClaimOperations;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ConformanceResult;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.StoreListener;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.board.BoardStore;
import io.firstclaim.lock.document.DocumentStore;
import io.firstclaim.lock.s3.S3Bucket;
import io.firstclaim.lock.s3.S3ClaimStore;
import io.firstclaim.lock.s3.S3DocumentStore;
import io.firstclaim.lock.s3.Sweeper;
import io.firstclaim.lock.store.DrivenClaimStore;
import io.firstclaim.processor.engine.setting.WrongSettingException;
import io.firstclaim.processor.service.config.Backend;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import software.amazon.awssdk.services.s3.S3Client;

/** Claims in an S3 bucket. */
final class S3Store implements LockStore {
  private final Backend.S3 place;
  private final ClaimSettings claims;
  private final S3Client client;
  private final S3Bucket bucket;

  S3Store(Backend.S3 place, ClaimSettings claims) {
    this.place = place;
    this.claims = claims;
    this.client = AwsClients.S3.client(S3Bucket.configure(S3Client.builder(), claims));
    this.bucket = new S3Bucket(client, place.bucket(), place.prefix());
  }

  @Override
  public String name() {
    return place.toString();
  }

  @Override
  public DrivenClaimStore open(TimeSource time, StoreMetrics metrics, Upkeep upkeep) {
    DrivenClaimStore store =
        ask(
            () -> {
              create();
              return S3ClaimStore.open(bucket, claims, time, metrics);
            });
    if (place.sweep().isPositive()) {
      Sweeper sweeper = new Sweeper(bucket, claims, place.sweep(), time, metrics, metrics);
      upkeep.start("sweep of the claims", sweeper::sweep);
    }
    return store;
  }

  @Override
  public DrivenClaimStore unverified(TimeSource time) {
    return new S3ClaimStore(bucket, claims, time, StoreListener.NONE);
  }

  @Override
  public ClaimOperations operations(TimeSource time, StoreListener listener) {
    return new AskedClaims(
        new S3ClaimStore(bucket, claims, time, listener),
        AwsClients.S3,
        client.serviceClientConfiguration().region());
  }

  @Override
  public <T> T onBoard(String board, TimeSource time, Function<BoardStore, T> asked) {
    throw new WrongSettingException(
        "firstclaim.claim.backend",
        "s3",
        "give dynamodb: on S3 a board is a document of its own program");
  }

  @Override
  public DocumentStore documents() {
    return new DocumentsApart(new S3DocumentStore(client, place.bucket()), place.prefix());
  }

  @Override
  public String documentsPrefix() {
    return DocumentsApart.prefix(place.prefix());
  }

  @Override
  public String key(RecordId id) {
    return bucket.key(id, claims.namespace());
  }

  @Override
  public List<ConformanceResult> probe() {
    return ask(
        () -> {
          create();
          return bucket.checks();
        });
  }

  private <T> T ask(Supplier<T> request) {
    return AwsClients.S3.ask(client.serviceClientConfiguration().region(), request);
  }

  private void create() {
    if (place.create()) {
      bucket.create(claims, place.alsoProtected());
    }
  }

  @Override
  public void close() {
    client.close();
  }
}
