package io.firstclaim.lock.dynamodb;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.StoreListener;
import io.firstclaim.lock.TimeSource;
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
 * DynamoDbTable#verify()}. Thread-safe. The client stays the caller's; {@link
 * DynamoDbTable#configure} gives it time limits that suit the lease.
 */
public final class DynamoDbClaimStore extends DrivenClaimStore {
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
    this(
        new ClaimItems(
            client,
            table,
            settings,
            time,
            new StoreClock(time, settings.maxSkew(), listener),
            listener));
  }

  private DynamoDbClaimStore(ClaimItems items) {
    super(items, items.settings(), items.clock());
  }

  /**
   * A store over a table, after verifying it.
   *
   * @throws io.firstclaim.lock.StoreRefusedException if the table must not be used, with the remedy
   * @throws io.firstclaim.lock.StoreUnavailableException if it cannot be asked
   */
  public static DynamoDbClaimStore open(
      DynamoDbClient client, String table, ClaimSettings settings, TimeSource time) {
    return open(client, table, settings, time, StoreListener.NONE);
  }

  /** The same, with a listener that hears of its requests. */
  public static DynamoDbClaimStore open(
      DynamoDbClient client,
      String table,
      ClaimSettings settings,
      TimeSource time,
      StoreListener listener) {
    new DynamoDbTable(client, table).verify();
    var clock = new StoreClock(time, settings.maxSkew(), listener);
    var items = new ClaimItems(client, table, settings, time, clock, listener);
    // Any answer gives the store's time: no claim, not even the first, may be judged by a wrong
    // one.
    items.describe();
    var store = new DynamoDbClaimStore(items);
    String unused = store.identity(); // asked for now, so that nobody has to wait for it later
    return store;
  }
}
