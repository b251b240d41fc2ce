package io.firstclaim.lock.dynamodb;

import static io.firstclaim.lock.dynamodb.Items.number;

import io.firstclaim.lock.Backoff;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.OncePerMinute;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.StoreException;
import io.firstclaim.lock.StoreListener;
import io.firstclaim.lock.StoreOperation;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.store.DatedClock;
import io.firstclaim.lock.store.SweepTurn;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;
import software.amazon.awssdk.services.dynamodb.model.ScanResponse;

/**
 * Deletes the claims of a table that are past their retention, of all its namespaces, where no TTL
 * does: in a table that is strongly consistent across Regions, which has none, or where it is off.
 * One of a table's sweepers sweeps at a time, under a claim of its own, and the next not before the
 * interval is over.
 *
 * <p>A claim goes by what a TTL would go by, the time that its last writer gave it to stay, as the
 * store's clock has it, and by a condition on the token and nonce that were read: DynamoDB judges
 * and deletes in one step, so that no DELETE that comes late removes what was written since.
 *
 * <p>The table is read in {@value #SEGMENTS} segments side by side, so that the load is even over
 * its partitions. Each sends one request at a time and then rests for as long as that took: a table
 * that is slow, or asks to slow down, is swept as much slower.
 *
 * <p>Not thread-safe: one thread calls {@link #sweep} again and again. The client stays the
 * caller's.
 */
public final class TableSweeper {
  private static final Logger LOG = LoggerFactory.getLogger(TableSweeper.class);

  static final int SEGMENTS = 32;

  /** Items of a page: some ten read units at once. */
  static final int PAGE = 250;

  /** So often a page is asked for; the pauses between take some twelve minutes. */
  static final int TRIES = 100;

  /** The pauses between tries of a page that was not answered. */
  private static final Backoff PAUSES = new Backoff(Duration.ofMillis(200), Duration.ofSeconds(10));

  private static final String IS_PAST =
      "expiresAt < :now AND (claimState <> :held OR leaseEnd < :over)";

  private final DynamoDbTable table;
  private final ClaimItems items;
  private final SweepTurn turn;
  private final Duration interval;
  private final TimeSource time;
  private final SweepTurn.Listener listener;
  private final OncePerMinute complaints;

  /**
   * A sweeper of a table.
   *
   * @param settings of any store that keeps claims there
   * @param interval from one sweep to the next
   * @param requests hears of every request
   * @param listener hears of every page
   */
  public TableSweeper(
      DynamoDbClient client,
      String table,
      ClaimSettings settings,
      Duration interval,
      TimeSource time,
      StoreListener requests,
      SweepTurn.Listener listener) {
    ClaimSettings turns = SweepTurn.settings(settings);
    var clock = new DatedClock(time, settings.lease(), requests);
    this.table = new DynamoDbTable(client, table);
    this.items = new ClaimItems(client, table, turns, time, clock, requests);
    this.turn =
        new SweepTurn(new DynamoDbClaimStore(items, 1), RecordId.of(table), turns, interval, time);
    this.interval = interval;
    this.time = time;
    this.listener = listener;
    this.complaints = new OncePerMinute(time);
  }

  /**
   * Sweeps once, unless the table's TTL does, another sweeper is at it or it is not yet due.
   *
   * @return how long until the next call
   * @throws StoreUnavailableException if DynamoDB does not answer
   * @throws StoreRefusedException if the role may not read or delete, with the permission it takes
   */
  public Duration sweep() throws InterruptedException {
    return table.expires() ? interval : turn.take(this::sweepAll);
  }

  private void sweepAll() {
    var fault = new AtomicReference<@Nullable StoreException>();
    try (ExecutorService segments = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < SEGMENTS; i++) {
        int segment = i;
        segments.execute(
            () -> {
              try {
                sweep(segment, fault);
              } catch (StoreException e) {
                fault.set(e);
              } catch (InterruptedException e) {
                LOG.debug("Segment {} was not swept to its end", segment);
              }
            });
      }
    }
    switch (fault.get()) {
      case null -> LOG.debug("DynamoDB table {} was swept", table.name());
      case StoreRefusedException refused -> throw refused;
      case StoreException last -> LOG.warn("Not everything could be swept: {}", last.getMessage());
    }
  }

  /** Sweeps a segment as long as the turn is kept. */
  private void sweep(int segment, AtomicReference<@Nullable StoreException> fault)
      throws InterruptedException {
    Map<String, AttributeValue> from = null;
    do {
      ScanResponse page = page(segment, from, fault);
      if (page == null) {
        return;
      }
      int removed = 0;
      for (Map<String, AttributeValue> item : page.items()) {
        if (!turn.isKept()) {
          return;
        }
        Moment start = time.now();
        try {
          removed += delete(item) ? 1 : 0;
        } catch (StoreUnavailableException e) {
          fault.set(e);
        }
        rest(start);
      }
      listener.swept(page.scannedCount(), removed);
      from = page.lastEvaluatedKey();
    } while (!from.isEmpty() && turn.isKept());
  }

  /**
   * A page, asked for again and again: a sweep that left the rest of a segment would begin that
   * anew the next time, and may never come to its end. Not for ever: the others would never be
   * swept again, if one is not answered for hours.
   *
   * @return null if the turn is over before, or the segment is left
   */
  private @Nullable ScanResponse page(
      int segment,
      @Nullable Map<String, AttributeValue> from,
      AtomicReference<@Nullable StoreException> fault)
      throws InterruptedException {
    for (int failures = 1; ; failures++) {
      Moment start = time.now();
      try {
        ScanResponse page = scan(segment, from);
        rest(start);
        return page;
      } catch (StoreUnavailableException e) {
        boolean isLeft = failures == TRIES;
        if (isLeft && complaints.isDue()) {
          LOG.warn(
              "Segment {} of DynamoDB table {} is left to the next sweep, as a page of it was not"
                  + " answered {} times: {}",
              segment,
              table.name(),
              TRIES,
              e.getMessage());
        }
        if (isLeft || !turn.isKept()) {
          fault.compareAndSet(null, e); // and not in the place of a refusal
          return null;
        }
      }
      time.sleep(PAUSES.after(failures));
    }
  }

  private void rest(Moment start) throws InterruptedException {
    time.sleep(time.now().since(start));
  }

  /** A page of what is past; eventually consistent, at half the price, as the DELETE will judge. */
  private ScanResponse scan(int segment, @Nullable Map<String, AttributeValue> from) {
    return items.call(
        StoreOperation.LIST,
        () ->
            items
                .client()
                .scan(
                    scan ->
                        scan.tableName(items.table())
                            .overrideConfiguration(items.limits())
                            .totalSegments(SEGMENTS)
                            .segment(segment)
                            .exclusiveStartKey(from)
                            .limit(PAGE)
                            .filterExpression(
                                IS_PAST
                                    + " AND attribute_exists(fencingToken) AND"
                                    + " attribute_exists(nonce)")
                            .expressionAttributeValues(past())
                            .projectionExpression("pk, fencingToken, nonce")));
  }

  /** Deletes a claim; false if somebody has written it meanwhile, or it is gone. */
  private boolean delete(Map<String, AttributeValue> item) {
    Map<String, AttributeValue> values = past();
    values.put(":token", Objects.requireNonNull(item.get(Items.TOKEN)));
    values.put(":nonce", Objects.requireNonNull(item.get(Items.NONCE)));
    try {
      var unused =
          items.call(
              StoreOperation.DELETE,
              1,
              () ->
                  items
                      .client()
                      .deleteItem(
                          delete ->
                              delete
                                  .tableName(items.table())
                                  .overrideConfiguration(items.limits())
                                  .key(
                                      Map.of(
                                          Items.KEY, Objects.requireNonNull(item.get(Items.KEY))))
                                  .conditionExpression(
                                      "fencingToken = :token AND nonce = :nonce AND " + IS_PAST)
                                  .expressionAttributeValues(values)));
      return true;
    } catch (ConditionalCheckFailedException e) {
      return false;
    }
  }

  /** The values of {@link #IS_PAST}; nothing is past while the store's time is not known. */
  private Map<String, AttributeValue> past() {
    Instant now = items.clock().now().early();
    Map<String, AttributeValue> values = new HashMap<>();
    values.put(":now", number(now.getEpochSecond()));
    values.put(":over", number(now.minus(items.settings().maxSkew()).toEpochMilli()));
    values.put(":held", Items.HELD);
    return values;
  }
}
