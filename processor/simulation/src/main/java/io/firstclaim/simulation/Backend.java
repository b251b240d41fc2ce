package io.firstclaim.simulation;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.StoreListener;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.dynamodb.DynamoDbClaimStore;
import io.firstclaim.lock.dynamodb.DynamoDbTable;
import io.firstclaim.lock.dynamodb.TableSweeper;
import io.firstclaim.lock.s3.S3Bucket;
import io.firstclaim.lock.s3.S3ClaimStore;
import io.firstclaim.lock.s3.Sweeper;
import io.firstclaim.lock.store.DrivenClaimStore;
import io.firstclaim.simulation.aws.DynamoDb;
import io.firstclaim.simulation.aws.S3;
import io.firstclaim.simulation.aws.StoreEvents;
import io.firstclaim.simulation.aws.Wire;
import io.firstclaim.simulation.world.Machine;
import io.firstclaim.simulation.world.World;
import java.time.Duration;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.s3.S3Client;

/** The store of a run: the product's own, over what AWS would be. */
final class Backend {
  private static final String NAME = "claims";
  private static final String PREFIX = "claims/";
  private static final Duration SWEEP_EVERY = Duration.ofSeconds(5);

  private final Cast cast;
  private final DynamoDb dynamoDb;
  private final S3 s3;
  private boolean verified;

  Backend(World world, Cast cast, StoreEvents events, Wire wire) {
    this.cast = cast;
    Duration skew = cast.storeSkew();
    this.dynamoDb = new DynamoDb(world, wire, events, skew);
    this.s3 = new S3(world, wire, events, skew, cast.deletesInTwoSteps());
    // Without a rule of its lifecycle, so that there is something to sweep.
    s3.create(NAME, cast.versioned());
  }

  /** Sweeps once. */
  @FunctionalInterface
  interface Sweep {
    /** Returns how long until the next call. */
    Duration once() throws InterruptedException;
  }

  /** How many of a hundred requests are throttled. */
  void setThrottled(double share) {
    dynamoDb.setThrottled(share);
    s3.setThrottled(share);
  }

  /**
   * The product's store on a machine. What it rests on is tried out by each on DynamoDB; on S3,
   * where that takes some hundred requests, by the first, and in some runs only.
   *
   * @param batch writes in one request, where there are batches
   */
  DrivenClaimStore open(Machine machine, ClaimSettings claims, TimeSource time, int batch) {
    if (!cast.onS3()) {
      DynamoDbClient client = dynamoDb.client(machine);
      new DynamoDbTable(client, NAME).create();
      return DynamoDbClaimStore.open(client, NAME, claims, time, StoreListener.NONE, batch);
    }
    S3Client client = s3.client(machine, claims);
    S3Bucket bucket = new S3Bucket(client, NAME, PREFIX);
    if (verified || !cast.storeIsTried()) {
      return new S3ClaimStore(bucket, claims, time, StoreListener.NONE);
    }
    S3ClaimStore store = S3ClaimStore.open(bucket, claims, time);
    verified = true;
    return store;
  }

  /** The product's sweeper on a machine. */
  Sweep sweeper(Machine machine, ClaimSettings claims, TimeSource time) {
    if (!cast.onS3()) {
      return new TableSweeper(
              dynamoDb.client(machine),
              NAME,
              claims,
              SWEEP_EVERY,
              time,
              StoreListener.NONE,
              (_, _) -> {})
          ::sweep;
    }
    S3Client client = s3.client(machine, claims);
    return new Sweeper(
            new S3Bucket(client, NAME, PREFIX),
            claims,
            SWEEP_EVERY,
            time,
            StoreListener.NONE,
            (_, _) -> {})
        ::sweep;
  }
}
