package io.firstclaim.lock.dynamodb;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.StoreListener;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.store.ClaimRecords;
import io.firstclaim.lock.store.DatedClock;
import io.firstclaim.lock.store.DrivenClaimStore;
import io.firstclaim.lock.store.StoreClock;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/**
 * Claims in a DynamoDB table, one item per ID.
 *
 * <p>A claim is one conditional write, whatever the item's state: DynamoDB judges {@code
 * attribute_not_exists OR free and due OR the lease is over} against the stored item, and when that
 * fails it returns the item (<a
 * href="https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_UpdateItem.html">{@code
 * ReturnValuesOnConditionCheckFailure}</a>), which says why. Steps under a lease are conditional on
 * its exact token and nonce. A failed condition's item also reveals our own write that had
 * succeeded but whose answer was lost, the SDK's own retries included (aws-sdk-java #2667).
 *
 * <p>The table must be in one Region or strongly consistent across Regions: see {@link
 * DynamoDbTable#verify()}. The clock is DynamoDB's own, as the {@code Date} of its answers shows it
 * ({@link DatedClock}).
 *
 * <p>Where several threads write at once, up to {@value #BATCH} writes leave in one request, each
 * with its own condition and its own answer; one that comes alone leaves at once and alone. That
 * takes the permissions {@code dynamodb:PartiQLInsert} and {@code dynamodb:PartiQLUpdate}; without
 * them each write is a request of its own, one line of the log says so, and they are tried again
 * every ten minutes. A method may then take twice as long as a request, as it may wait for one that
 * others' writes are in.
 *
 * <p>Thread-safe. The client stays the caller's. No request takes longer than {@link
 * ClaimSettings#storeTimeout()}, whatever its client allows.
 */
public final class DynamoDbClaimStore extends DrivenClaimStore {
  /** The most writes in one request: DynamoDB takes no more. */
  public static final int BATCH = 25;

  /**
   * A store over a table that is there and verified.
   *
   * @see DynamoDbTable#verify()
   */
  public DynamoDbClaimStore(
      DynamoDbClient client,
      String table,
      ClaimSettings settings,
      TimeSource time,
      StoreListener listener) {
    this(client, table, settings, time, listener, BATCH);
  }

  /**
   * The same, with another size of a batch.
   *
   * @param batch writes in one request at most: 1, for each in its own, to {@value #BATCH}
   * @throws IllegalArgumentException if it is another number
   */
  public DynamoDbClaimStore(
      DynamoDbClient client,
      String table,
      ClaimSettings settings,
      TimeSource time,
      StoreListener listener,
      int batch) {
    this(
        new ClaimItems(client, table, settings, time, dated(settings, time, listener), listener),
        batch);
  }

  /** A store of these items. */
  DynamoDbClaimStore(ClaimItems items, int batch) {
    this(items, required(batch) == 1 ? items : new BatchedItems(items, batch, 2));
  }

  DynamoDbClaimStore(ClaimItems items, ClaimRecords records) {
    super(records, items.settings(), items.clock());
  }

  private static int required(int batch) {
    if (batch < 1 || batch > BATCH) {
      throw new IllegalArgumentException(
          "a batch of %d writes cannot be sent; give 1 to %d".formatted(batch, BATCH));
    }
    return batch;
  }

  /** An instance that is idle for longer than a lease reads before it claims. */
  private static StoreClock dated(ClaimSettings settings, TimeSource time, StoreListener listener) {
    return new DatedClock(time, settings.lease(), listener);
  }

  /**
   * A store over a table, after verifying it.
   *
   * @throws io.firstclaim.lock.StoreRefusedException if the table must not be used, with the remedy
   * @throws io.firstclaim.lock.StoreUnavailableException if it cannot be asked
   */
  public static DynamoDbClaimStore open(
      DynamoDbClient client, String table, ClaimSettings settings, TimeSource time) {
    return open(client, table, settings, time, StoreListener.NONE, BATCH);
  }

  /**
   * The same, with a listener that hears of its requests.
   *
   * @param batch writes in one request at most: 1, for each in its own, to {@value #BATCH}
   * @throws IllegalArgumentException if it is another number
   */
  public static DynamoDbClaimStore open(
      DynamoDbClient client,
      String table,
      ClaimSettings settings,
      TimeSource time,
      StoreListener listener,
      int batch) {
    new DynamoDbTable(client, table).verify();
    var clock = dated(settings, time, listener);
    // Any answer tells the time, so the first claim need not read to learn it.
    var items = new ClaimItems(client, table, settings, time, clock, listener).described();
    var store =
        new DynamoDbClaimStore(
            items, required(batch) == 1 ? items : new BatchedItems(items, batch, 2).tried());
    String unused = store.identity(); // read now, so that nobody has to wait for it later
    return store;
  }
}
