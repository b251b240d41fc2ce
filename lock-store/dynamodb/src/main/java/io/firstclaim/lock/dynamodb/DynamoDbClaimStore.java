package io.firstclaim.lock.dynamodb;

import static io.firstclaim.lock.dynamodb.Items.bytes;
import static io.firstclaim.lock.dynamodb.Items.number;
import static io.firstclaim.lock.dynamodb.Items.text;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Ending;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.Sighting;
import io.firstclaim.lock.StoreListener;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.UnreadableClaimException;
import io.firstclaim.lock.protocol.ClaimRecord;
import io.firstclaim.lock.protocol.ClaimState.Free;
import io.firstclaim.lock.protocol.Command;
import io.firstclaim.lock.protocol.Decision;
import io.firstclaim.lock.protocol.Protocol;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.http.SdkHttpResponse;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;
import software.amazon.awssdk.services.dynamodb.model.DynamoDbResponse;
import software.amazon.awssdk.services.dynamodb.model.GetItemResponse;
import software.amazon.awssdk.services.dynamodb.model.PutItemResponse;
import software.amazon.awssdk.services.dynamodb.model.ReturnValue;
import software.amazon.awssdk.services.dynamodb.model.ReturnValuesOnConditionCheckFailure;
import software.amazon.awssdk.services.dynamodb.model.UpdateItemResponse;

/**
 * Claims in a DynamoDB table, one item per ID.
 *
 * <p>A claim is one conditional write, whatever the item's state: DynamoDB judges {@code
 * attribute_not_exists OR free and due OR the lease is over} against the stored item, and where
 * that fails it returns the item (<a
 * href="https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_UpdateItem.html">{@code
 * ReturnValuesOnConditionCheckFailure}</a>), which says why. Steps under a lease are conditional on
 * its exact token and nonce. A failed condition's item also tells a write of one's own that had
 * succeeded but whose answer was lost, the SDK's own retries included (aws-sdk-java #2667).
 *
 * <p>The table must be in one Region or strongly consistent across Regions: see {@link
 * DynamoDbTable#verify()}. Thread-safe. The client stays the caller's; {@link
 * DynamoDbTable#configure} gives it time limits that suit the lease.
 */
public final class DynamoDbClaimStore implements ClaimStore {
  private static final String ACQUIRE =
      """
      SET recordId = :id, claimState = :held, holder = :holder, leaseMillis = :lease, \
      leaseEnd = :end, nonce = :nonce, payloadHash = :hash, expiresAt = :expires, \
      fencingToken = if_not_exists(fencingToken, :zero) + :one, \
      attempts = if_not_exists(attempts, :zero) + :one \
      REMOVE retryAt, cause""";

  private static final String MAY_ACQUIRE =
      """
      attribute_not_exists(pk) OR payloadHash = :hash AND \
      (claimState = :held AND leaseEnd < :over AND nonce <> :nonce \
      OR claimState = :free AND retryAt <= :now%s)""";
  private static final String MAY_ACQUIRE_AT_FIRST_SIGHT = MAY_ACQUIRE.formatted("");
  private static final String MAY_ACQUIRE_WATCHED =
      MAY_ACQUIRE.formatted(
          " OR claimState = :held AND fencingToken = :seenToken AND nonce = :seenNonce");

  private static final String STILL_MINE =
      "claimState = :held AND fencingToken = :token AND nonce = :nonce";

  private static final AttributeValue ZERO = number(0);
  private static final AttributeValue ONE = number(1);

  /** Decisions on an item that changes under us converge at once; more rounds mean a defect. */
  private static final int MAX_ROUNDS = 10;

  private final DynamoDbClient client;
  private final String table;
  private final ClaimSettings settings;
  private final StoreClock clock;
  private final StoreListener listener;
  private final TimeSource time;

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
    this.client = client;
    this.table = table;
    this.settings = settings;
    this.time = time;
    this.listener = listener;
    this.clock = new StoreClock(time, settings.maxSkew(), listener);
  }

  /**
   * A store over a table, after verifying it.
   *
   * @throws io.firstclaim.lock.StoreRefusedException if the table must not be used, with the remedy
   * @throws StoreUnavailableException if it cannot be asked
   */
  public static DynamoDbClaimStore open(
      DynamoDbClient client, String table, ClaimSettings settings, TimeSource time) {
    return open(client, table, settings, time, StoreListener.NONE);
  }

  /** The same, its requests told to a listener. */
  public static DynamoDbClaimStore open(
      DynamoDbClient client,
      String table,
      ClaimSettings settings,
      TimeSource time,
      StoreListener listener) {
    new DynamoDbTable(client, table).verify();
    var store = new DynamoDbClaimStore(client, table, settings, time, listener);
    // Any answer tells the store's clock: no claim is to be judged by a wrong one, nor the first.
    var unused =
        store.call("describe", () -> client.describeTable(named -> named.tableName(table)));
    return store;
  }

  @Override
  public ClaimResult claim(Claim claim) {
    AttributeValue key = key(claim.id());
    for (int round = 0; round < MAX_ROUNDS; round++) {
      Moment now = clock.now();
      switch (write("claim", () -> acquire(key, claim, now))) {
        case Written(var over) -> {
          ClaimRecord stored = over.isEmpty() ? null : decode(key, over);
          return Protocol.grant(stored, claim, now, settings).then();
        }
        case Refused(var item) -> {
          // Not `now`: what was seen of a lease counts from after it was seen. The holder may have
          // renewed while the request was on its way.
          Moment seen = clock.now();
          Decision<ClaimResult> decision =
              Protocol.decide(
                  item.isEmpty() ? null : decode(key, item),
                  new Command.Acquire(claim),
                  seen,
                  settings);
          if (decision instanceof Decision.Answer<ClaimResult>(ClaimResult answer)) {
            return byThisMachinesClock(answer);
          }
        }
      }
    }
    throw unsteady(key);
  }

  private ClaimResult byThisMachinesClock(ClaimResult answer) {
    return switch (answer) {
      case ClaimResult.Later(Instant retryAt, int attempts) ->
          new ClaimResult.Later(clock.toMachine(retryAt), attempts);
      case ClaimResult.Done(Ending ending, String result) ->
          new ClaimResult.Done(byThisMachinesClock(ending), result);
      case ClaimResult.Dead(Ending ending, String cause) ->
          new ClaimResult.Dead(byThisMachinesClock(ending), cause);
      case ClaimResult.Granted unused -> answer;
      case ClaimResult.Held unused -> answer;
      case ClaimResult.Mismatch unused -> answer;
    };
  }

  private Ending byThisMachinesClock(Ending ending) {
    return new Ending(ending.by(), ending.token(), ending.attempt(), clock.toMachine(ending.at()));
  }

  @Override
  public SettleResult renew(Lease lease) {
    return settle("renew", new Command.Renew(lease));
  }

  @Override
  public SettleResult complete(Lease lease, @Nullable String result) {
    return settle("complete", new Command.Complete(lease, result));
  }

  @Override
  public SettleResult release(Lease lease, Instant retryAt, String cause) {
    return settle("release", new Command.Release(lease, clock.toStore(retryAt), cause));
  }

  @Override
  public SettleResult bury(Lease lease, String cause) {
    return settle("bury", new Command.Bury(lease, cause));
  }

  @Override
  public Optional<ClaimRecord> find(RecordId id) {
    AttributeValue key = key(id);
    GetItemResponse found =
        call(
            "find",
            () ->
                client.getItem(
                    get -> get.tableName(table).key(Map.of(Items.KEY, key)).consistentRead(true)));
    return found.hasItem() ? Optional.of(decode(key, found.item())) : Optional.empty();
  }

  /**
   * A step is first tried on the state that the lease knows. Where the item has moved on, it says
   * whether that was ours, and the step is decided anew.
   */
  private SettleResult settle(String op, Command.Settle command) {
    Lease lease = command.lease();
    AttributeValue key = key(lease.id());
    ClaimRecord expected = Protocol.stateOf(lease);
    try {
      for (int round = 0; round < MAX_ROUNDS; round++) {
        Moment now = clock.now();
        switch (Protocol.decide(expected, command, now, settings)) {
          case Decision.Answer<SettleResult>(SettleResult answer) -> {
            return answer;
          }
          case Decision.Write<SettleResult>(ClaimRecord next, SettleResult then) -> {
            Nonce on = Objects.requireNonNull(expected).nonce();
            switch (write(op, () -> replace(key, lease, on, next, now))) {
              case Written unused -> {
                return then;
              }
              case Refused(var item) -> expected = item.isEmpty() ? null : decode(key, item);
            }
          }
        }
      }
      throw unsteady(key);
    } catch (StoreUnavailableException e) {
      return new SettleResult.Unknown(String.valueOf(e.getMessage()));
    }
  }

  private UpdateItemResponse acquire(AttributeValue key, Claim claim, Moment now) {
    Map<String, AttributeValue> values = new HashMap<>();
    values.put(":id", bytes(claim.id().bytes()));
    values.put(":held", Items.HELD);
    values.put(":free", Items.FREE);
    values.put(":holder", text(settings.holder()));
    values.put(":lease", number(settings.lease().toMillis()));
    values.put(":end", number(now.wall().plus(settings.lease()).toEpochMilli()));
    values.put(":nonce", text(claim.nonce().toString()));
    values.put(":hash", bytes(claim.fingerprint().hash()));
    values.put(":expires", expiresAt(now.wall()));
    values.put(":now", number(now.wall().toEpochMilli()));
    values.put(":over", number(now.wall().minus(settings.maxSkew()).toEpochMilli()));
    values.put(":zero", ZERO);
    values.put(":one", ONE);
    Sighting seen = claim.sighting();
    String condition = MAY_ACQUIRE_AT_FIRST_SIGHT;
    if (seen != null && seen.isOver(now)) {
      condition = MAY_ACQUIRE_WATCHED;
      values.put(":seenToken", number(seen.token()));
      values.put(":seenNonce", text(seen.nonce().toString()));
    }
    String mayAcquire = condition;
    return client.updateItem(
        update ->
            update
                .tableName(table)
                .key(Map.of(Items.KEY, key))
                .updateExpression(ACQUIRE)
                .conditionExpression(mayAcquire)
                .expressionAttributeValues(values)
                .returnValues(ReturnValue.ALL_OLD)
                .returnValuesOnConditionCheckFailure(ReturnValuesOnConditionCheckFailure.ALL_OLD));
  }

  private PutItemResponse replace(
      AttributeValue key, Lease lease, Nonce on, ClaimRecord next, Moment now) {
    Instant last =
        next.state() instanceof Free free && free.retryAt().isAfter(now.wall())
            ? free.retryAt()
            : now.wall();
    return client.putItem(
        put ->
            put.tableName(table)
                .item(Items.encode(key, lease.id(), next, expiresAt(last)))
                .conditionExpression(STILL_MINE)
                .expressionAttributeValues(
                    Map.of(
                        ":held",
                        Items.HELD,
                        ":token",
                        number(lease.token()),
                        ":nonce",
                        text(on.toString())))
                .returnValuesOnConditionCheckFailure(ReturnValuesOnConditionCheckFailure.ALL_OLD));
  }

  /** What a conditional write came to. */
  private sealed interface Write {}

  /** It took; {@code over} is what an update wrote over, empty if there was nothing. */
  private record Written(Map<String, AttributeValue> over) implements Write {}

  /** Its condition failed on this item, empty if there is none. */
  private record Refused(Map<String, AttributeValue> item) implements Write {}

  private Write write(String op, Supplier<DynamoDbResponse> request) {
    try {
      return new Written(
          call(op, request) instanceof UpdateItemResponse updated
              ? updated.attributes()
              : Map.of());
    } catch (ConditionalCheckFailedException e) {
      return new Refused(e.item());
    }
  }

  private <T extends DynamoDbResponse> T call(String op, Supplier<T> request) {
    Moment start = time.now();
    try {
      T response = request.get();
      answered(op, "ok", start, response.sdkHttpResponse());
      return response;
    } catch (ConditionalCheckFailedException e) {
      answered(op, "refused", start, e.awsErrorDetails().sdkHttpResponse());
      throw e;
    } catch (SdkException | CancellationException e) {
      listener.called(op, "error", time.now().since(start));
      throw new StoreUnavailableException(
          "DynamoDB table %s did not answer %s: %s".formatted(table, op, Faults.inOneLine(e)), e);
    }
  }

  private void answered(String op, String result, Moment start, SdkHttpResponse response) {
    Duration took = time.now().since(start);
    listener.called(op, result, took);
    response.firstMatchingHeader("Date").ifPresent(date -> clock.observe(date, took));
  }

  private ClaimRecord decode(AttributeValue key, Map<String, AttributeValue> item) {
    try {
      return Items.decode(item);
    } catch (IllegalStateException e) {
      throw new UnreadableClaimException(
          "item %s of DynamoDB table %s is no claim: %s. Is the table used by something else?"
              .formatted(key.s(), table, e.getMessage()),
          e);
    }
  }

  private AttributeValue key(RecordId id) {
    return text(id.key(settings.namespace()));
  }

  private AttributeValue expiresAt(Instant last) {
    return number(last.plus(settings.retention()).plus(settings.lease()).getEpochSecond());
  }

  private StoreUnavailableException unsteady(AttributeValue key) {
    return new StoreUnavailableException(
        "item %s of DynamoDB table %s changed %d times while it was being claimed"
            .formatted(key.s(), table, MAX_ROUNDS),
        new IllegalStateException());
  }
}
