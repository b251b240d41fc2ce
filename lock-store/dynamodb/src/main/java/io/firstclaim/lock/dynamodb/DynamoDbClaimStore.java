package io.firstclaim.lock.dynamodb;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.StoreListener;
import io.firstclaim.lock.TimeSource;
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
 * <p>Thread-safe. The client stays the caller's. No request takes longer than {@link
 * ClaimSettings#storeTimeout()}, whatever its client allows.
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
    this(client, table, settings, time, dated(settings, time, listener), listener);
  }

  /** A store whose times are by this clock. */
  DynamoDbClaimStore(
      DynamoDbClient client,
      String table,
      ClaimSettings settings,
      TimeSource time,
      StoreClock clock,
      StoreListener listener) {
    this(new ClaimItems(client, table, settings, time, clock, listener));
  }

  /** An instance that is idle for longer than a lease reads before it claims. */
  private static StoreClock dated(ClaimSettings settings, TimeSource time, StoreListener listener) {
    return new DatedClock(time, settings.lease(), listener);
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
    var clock = dated(settings, time, listener);
    // Any answer tells the time, which saves the first claim a read.
    var items = new ClaimItems(client, table, settings, time, clock, listener).described();
    var store = new DynamoDbClaimStore(items);
    String unused = store.identity(); // asked for now, so that nobody has to wait for it later
    return store;
  }
}
