package io.firstclaim.lock.dynamodb;

import static io.firstclaim.lock.dynamodb.Items.bytes;
import static io.firstclaim.lock.dynamodb.Items.number;
import static io.firstclaim.lock.dynamodb.Items.text;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimState.Free;
import io.firstclaim.lock.ClaimState.Held;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.RecordId.Space;
import io.firstclaim.lock.Sighting;
import io.firstclaim.lock.StoreListener;
import io.firstclaim.lock.StoreOperation;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.UnreadableClaimException;
import io.firstclaim.lock.aws.Faults;
import io.firstclaim.lock.aws.TimeLimits;
import io.firstclaim.lock.aws.TranslatedFaults;
import io.firstclaim.lock.store.ClaimRecords;
import io.firstclaim.lock.store.StoreClock;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.http.SdkHttpResponse;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;
import software.amazon.awssdk.services.dynamodb.model.DynamoDbResponse;
import software.amazon.awssdk.services.dynamodb.model.GetItemResponse;
import software.amazon.awssdk.services.dynamodb.model.ReturnValue;
import software.amazon.awssdk.services.dynamodb.model.ReturnValuesOnConditionCheckFailure;
import software.amazon.awssdk.services.dynamodb.model.TransactionCanceledException;
import software.amazon.awssdk.services.dynamodb.model.UpdateItemResponse;

/**
 * The requests for the items of one namespace, and what their answers mean. Thread-safe.
 *
 * @param clock by which the items' times are kept
 * @param limits of every request
 * @param transactions whether the table has them
 */
record ClaimItems(
    DynamoDbClient client,
    String table,
    ClaimSettings settings,
    TimeSource time,
    StoreClock clock,
    StoreListener listener,
    AwsRequestOverrideConfiguration limits,
    boolean transactions)
    implements ClaimRecords {
  private static final String ACQUIRE =
      """
      SET recordId = :id, claimState = :held, holder = :holder, leaseMillis = :lease, \
      leaseEnd = :end, nonce = :nonce, payloadHash = :hash, expiresAt = :expires, \
      fencingToken = if_not_exists(fencingToken, :before) + :one, \
      attempts = if_not_exists(attempts, :one) \
      REMOVE retryAt, cause\
      """;

  private static final String FOR_ITSELF = ACQUIRE + ", onBehalfOf";
  private static final String FOR_ANOTHER =
      ACQUIRE.replace(" REMOVE", ", onBehalfOf = :behalf REMOVE");

  /**
   * The numbers are compared so that an item without them, or with texts in their place, is not
   * granted as if it were new; {@code retryAt} strictly, for which see {@link ClaimRecords#claim}.
   * What this very claim was granted and gave back has a nonce under its grant, and is not taken: a
   * network delivers the request again, to nobody who waits for it.
   */
  private static final String MAY_ACQUIRE =
      """
      attribute_not_exists(pk) OR payloadHash = :hash \
      AND fencingToken >= :one AND attempts >= :zero AND \
      (claimState = :held AND leaseEnd < :over AND nonce <> :nonce \
      OR claimState = :free AND retryAt > :zero AND retryAt < :now \
      AND (nonce < :nonce OR nonce > :last)%s)\
      """;

  private static final String MAY_ACQUIRE_AT_FIRST_SIGHT = MAY_ACQUIRE.formatted("");
  private static final String MAY_ACQUIRE_WATCHED =
      MAY_ACQUIRE.formatted(
          " OR claimState = :held AND fencingToken = :seenToken AND nonce = :seenNonce");

  private static final String IS_ABSENT = "attribute_not_exists(pk)";
  private static final String IS_THE_SAME =
      "claimState = :state AND fencingToken = :token AND nonce = :nonce";

  private static final AttributeValue ZERO = number(0);
  private static final AttributeValue ONE = number(1);

  ClaimItems(
      DynamoDbClient client,
      String table,
      ClaimSettings settings,
      TimeSource time,
      StoreClock clock,
      StoreListener listener) {
    this(
        TranslatedFaults.of(DynamoDbClient.class, client),
        table,
        settings,
        time,
        clock,
        listener,
        TimeLimits.of(
            client.serviceClientConfiguration().overrideConfiguration(), settings.storeTimeout()),
        true);
  }

  /** The same items, once their table has said whether it has transactions. */
  ClaimItems described() {
    var description =
        call(
                StoreOperation.DESCRIBE,
                () ->
                    client.describeTable(
                        named -> named.tableName(table).overrideConfiguration(TimeLimits.SETUP)))
            .table();
    boolean hasTransactions = !DynamoDbTable.isStrong(description);
    return new ClaimItems(client, table, settings, time, clock, listener, limits, hasTransactions);
  }

  @Override
  public Optional<Stored> read(RecordId id) {
    AttributeValue key = key(id);
    GetItemResponse found =
        call(
            StoreOperation.FIND,
            () ->
                client.getItem(
                    get ->
                        get.tableName(table)
                            .key(Map.of(Items.KEY, key))
                            .consistentRead(true)
                            .overrideConfiguration(limits)));
    return Optional.ofNullable(stored(key, found.item()));
  }

  @Override
  public Write claim(Claim claim, ClaimRecord first, Moment now) {
    AttributeValue key = key(claim.id());
    try {
      UpdateItemResponse updated =
          call(StoreOperation.CLAIM, 1, () -> acquire(key, claim, first, now));
      Map<String, AttributeValue> over = updated.attributes();
      return new Write.Took(null, over.isEmpty() ? null : decode(key, over));
    } catch (ConditionalCheckFailedException e) {
      return new Write.Differs(stored(key, e.item()));
    }
  }

  @Override
  public Write write(
      StoreOperation op, RecordId id, ClaimRecord next, @Nullable Stored on, Moment now) {
    AttributeValue key = key(id);
    Map<String, AttributeValue> item = item(id, next, now);
    try {
      var unused =
          call(
              op,
              1,
              () ->
                  client.putItem(
                      put ->
                          put.tableName(table)
                              .overrideConfiguration(limits)
                              .item(item)
                              .conditionExpression(condition(on))
                              .expressionAttributeValues(values(on))
                              .returnValuesOnConditionCheckFailure(
                                  ReturnValuesOnConditionCheckFailure.ALL_OLD)));
      return new Write.Took(null);
    } catch (ConditionalCheckFailedException e) {
      return new Write.Differs(stored(key, e.item()));
    }
  }

  /**
   * Writes nothing, by a request that is permitted if a write of this claim is.
   *
   * @throws StoreRefusedException if it is not
   */
  void tryToWrite(StoreOperation op, RecordId id) {
    try {
      var unused = call(op, 1, () -> client.putItem(DynamoDbEffects.trial(table, key(id), limits)));
    } catch (ConditionalCheckFailedException e) {
      // the condition failed, as it should
    }
  }

  /** What to write for a claim, decided now. */
  Map<String, AttributeValue> item(RecordId id, ClaimRecord next, Moment now) {
    Instant last =
        next.state() instanceof Free free && free.retryAt().isAfter(now.wall())
            ? free.retryAt()
            : now.wall();
    return Items.encode(key(id), id, next, expiresAt(last));
  }

  /** The condition that this is still what is stored. */
  static String condition(@Nullable Stored on) {
    return on == null ? IS_ABSENT : IS_THE_SAME;
  }

  /** The values of that condition; null if it has none, as DynamoDB takes no empty ones. */
  static @Nullable Map<String, AttributeValue> values(@Nullable Stored on) {
    return on == null
        ? null
        : Map.of(
            ":state",
            Items.kind(on.claim().state()),
            ":token",
            number(on.claim().token()),
            ":nonce",
            text(on.claim().nonce().toString()));
  }

  /** Strongly consistent tables in several Regions have no transactions. */
  @Override
  public Optional<Together> together() {
    return transactions ? Optional.of(new ItemTransactions(this)) : Optional.empty();
  }

  @Override
  public String identity() {
    return new DynamoDbTable(client, table).identity();
  }

  private UpdateItemResponse acquire(
      AttributeValue key, Claim claim, ClaimRecord first, Moment now) {
    Map<String, AttributeValue> values = new HashMap<>();
    values.put(":id", bytes(claim.id().bytes()));
    values.put(":held", Items.HELD);
    values.put(":free", Items.FREE);
    Held held = (Held) first.state();
    values.put(":holder", text(held.holder()));
    values.put(":lease", number(held.length().toMillis()));
    values.put(":end", number(held.end().toEpochMilli()));
    values.put(":nonce", text(claim.nonce().toString()));
    values.put(":last", text(claim.nonce().lastUnder().toString()));
    values.put(":hash", bytes(claim.fingerprint().hash()));
    values.put(":expires", expiresAt(now.wall()));
    values.put(":now", number(now.wall().toEpochMilli()));
    values.put(":over", number(now.wall().minus(settings.maxSkew()).toEpochMilli()));
    values.put(":before", number(first.token() - 1));
    values.put(":zero", ZERO);
    values.put(":one", ONE);
    String behalf = claim.onBehalfOf();
    if (behalf != null) {
      values.put(":behalf", text(behalf));
    }
    Sighting seen = claim.sighting();
    String condition = MAY_ACQUIRE_AT_FIRST_SIGHT;
    if (seen != null && seen.isOver(now)) {
      condition = MAY_ACQUIRE_WATCHED;
      values.put(":seenToken", number(seen.token()));
      values.put(":seenNonce", text(seen.nonce().toString()));
    }
    String mayAcquire = condition;
    String acquire = behalf == null ? FOR_ITSELF : FOR_ANOTHER;
    if (claim.id().space() != Space.RECORD) {
      acquire = acquire.replace(" REMOVE", ", " + Items.ID_SPACE + " = :space REMOVE");
      values.put(":space", text(claim.id().space().name()));
    }
    String update = acquire;
    return client.updateItem(
        request ->
            request
                .tableName(table)
                .overrideConfiguration(limits)
                .key(Map.of(Items.KEY, key))
                .updateExpression(update)
                .conditionExpression(mayAcquire)
                .expressionAttributeValues(values)
                .returnValues(ReturnValue.ALL_OLD)
                .returnValuesOnConditionCheckFailure(ReturnValuesOnConditionCheckFailure.ALL_OLD));
  }

  /** Makes a request that has so many writes. */
  <T extends DynamoDbResponse> T call(StoreOperation op, int writes, Supplier<T> request) {
    try {
      T response = call(op, request);
      listener.wrote(op, writes);
      return response;
    } catch (ConditionalCheckFailedException | TransactionCanceledException e) {
      listener.wrote(op, writes);
      throw e;
    }
  }

  <T extends DynamoDbResponse> T call(StoreOperation op, Supplier<T> request) {
    Moment start = time.now();
    try {
      T response = request.get();
      answered(op, StoreOperation.Result.OK, start, response.sdkHttpResponse());
      return response;
    } catch (ConditionalCheckFailedException e) {
      answered(op, StoreOperation.Result.REFUSED, start, e.awsErrorDetails().sdkHttpResponse());
      throw e;
    } catch (TransactionCanceledException e) {
      answered(op, StoreOperation.Result.REFUSED, start, e.awsErrorDetails().sdkHttpResponse());
      throw e;
    } catch (SdkException e) {
      listener.called(op, StoreOperation.Result.ERROR, time.now().since(start));
      throw fault(op, e);
    }
  }

  private void answered(
      StoreOperation op, StoreOperation.Result result, Moment start, SdkHttpResponse response) {
    Moment end = time.now();
    listener.called(op, result, end.since(start));
    response.firstMatchingHeader("Date").ifPresent(date -> clock.observe(date, start, end));
  }

  private RuntimeException fault(StoreOperation op, RuntimeException fault) {
    String seen = Faults.inOneLine(fault);
    if (!DynamoDbTable.isPermanent(fault)) {
      return new StoreUnavailableException(
          "DynamoDB table %s did not answer %s: %s".formatted(table, op, seen), fault);
    }
    // An item that is too large is so on every retry.
    return seen.contains("Item size")
        ? tooLarge(op, fault)
        : new StoreRefusedException(
            "DynamoDB table %s refuses %s: %s. The table must be there, and the role needs %s"
                .formatted(table, op, seen, permissions(op)));
  }

  static IllegalArgumentException tooLarge(StoreOperation op, RuntimeException fault) {
    return new IllegalArgumentException(
        "a claim with its result is at most 400 KB on DynamoDB, and this %s would write more"
            .formatted(op),
        fault);
  }

  private static String permissions(StoreOperation op) {
    return op == StoreOperation.LIST || op == StoreOperation.DELETE
        ? "dynamodb:Scan and dynamodb:DeleteItem on it"
        : "dynamodb:GetItem, dynamodb:PutItem and dynamodb:UpdateItem on it; records with resources"
            + " also dynamodb:BatchGetItem";
  }

  @Nullable Stored stored(AttributeValue key, Map<String, AttributeValue> item) {
    return item.isEmpty() ? null : new Stored(decode(key, item), null, clock.now());
  }

  private ClaimRecord decode(AttributeValue key, Map<String, AttributeValue> item) {
    try {
      return Items.decode(item);
    } catch (IllegalStateException e) {
      throw new UnreadableClaimException(
          ("item %s of DynamoDB table %s is not a claim: %s. Its record waits until it is removed."
                  + " Is the table used by something else?")
              .formatted(key.s(), table, e.getMessage()),
          e);
    }
  }

  AttributeValue key(RecordId id) {
    return text(keyText(id));
  }

  String keyText(RecordId id) {
    return id.key(settings.namespace());
  }

  /** Waits before DynamoDB is asked again. */
  void pause(Duration pause) {
    try {
      time.sleep(pause);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new StoreUnavailableException("interrupted before DynamoDB was asked again", e);
    }
  }

  private AttributeValue expiresAt(Instant last) {
    return number(last.plus(settings.retention()).plus(settings.lease()).getEpochSecond());
  }
}
