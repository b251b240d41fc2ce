package io.firstclaim.lock.dynamodb;

import static io.firstclaim.lock.dynamodb.Items.text;
import static io.firstclaim.lock.dynamodb.Items.textOf;

import io.firstclaim.lock.Effects;
import io.firstclaim.lock.EffectsRefusedException;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.StoreListener;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.aws.Faults;
import io.firstclaim.lock.aws.TimeLimits;
import io.firstclaim.lock.aws.TranslatedFaults;
import io.firstclaim.lock.board.BoardStore;
import io.firstclaim.lock.board.ItemKey;
import io.firstclaim.lock.board.Move;
import io.firstclaim.lock.board.MoveResult;
import io.firstclaim.lock.board.StatusBoard;
import io.firstclaim.lock.board.StoredItem;
import io.firstclaim.lock.store.DatedClock;
import io.firstclaim.lock.store.StoreClock;
import io.firstclaim.lock.store.StoreMoment;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.http.SdkHttpResponse;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.BatchGetItemResponse;
import software.amazon.awssdk.services.dynamodb.model.CancellationReason;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;
import software.amazon.awssdk.services.dynamodb.model.DynamoDbResponse;
import software.amazon.awssdk.services.dynamodb.model.KeysAndAttributes;
import software.amazon.awssdk.services.dynamodb.model.ProvisionedThroughputExceededException;
import software.amazon.awssdk.services.dynamodb.model.ReturnValuesOnConditionCheckFailure;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;
import software.amazon.awssdk.services.dynamodb.model.TransactionCanceledException;

/**
 * A board in a DynamoDB table, an item each, in the same table as claims and documents if you like:
 * their keys never meet. Nothing of a board has a TTL.
 *
 * <p>Items are written in one transaction (<a
 * href="https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html">{@code
 * TransactWriteItems}</a>), each on the condition that it has not changed, and whatever differs is
 * taken from the reasons of the cancellation. An index, one more item of at most 400 KB, has the
 * keys of all items, so that {@link #list()} need not scan the claims: it has room for some 1,500
 * keys of the longest kind, for more than 10,000 of 30 bytes.
 *
 * <p>The table must be in one Region: a global table with strong consistency has no transactions
 * (see {@link DynamoDbTable#verify()} for the others). Thread-safe. The client stays the caller's;
 * no request takes longer than five seconds. Whoever repeats a write, the SDK or {@link
 * StatusBoard}, does so with the same {@code ClientRequestToken}. The clock is DynamoDB's own, to
 * within a second, as the {@code Date} of its answers shows it.
 */
public final class DynamoDbBoardStore implements BoardStore {
  private static final Duration LIMIT = Duration.ofSeconds(5);
  private static final int BATCH = 100;
  private static final int MAX_NAME = 256;

  /** Errors of requests that were surely not applied. */
  private static final Set<String> THROTTLED =
      Set.of(
          "ProvisionedThroughputExceededException", "RequestLimitExceeded", "ThrottlingException");

  private static final String NONE = "None";

  /** Reasons that no retry can mend. */
  private static final Set<String> PERMANENT = Set.of(DynamoDbEffects.INVALID, "AccessDenied");

  private final DynamoDbClient client;
  private final String table;

  /** Its name, for messages. */
  private final String board;

  private final TimeSource time;
  private final BoardItems items;
  private final StoreClock clock;
  private final AwsRequestOverrideConfiguration limits;

  /**
   * A board in a table that is there.
   *
   * @param board its name, 1 to 256 characters; boards of different names are apart
   */
  public DynamoDbBoardStore(DynamoDbClient client, String table, String board, TimeSource time) {
    if (board.isEmpty() || board.length() > MAX_NAME) {
      throw new IllegalArgumentException(
          "the name of a board has 1 to %d characters, this one %d"
              .formatted(MAX_NAME, board.length()));
    }
    this.client = TranslatedFaults.of(DynamoDbClient.class, client);
    this.table = table;
    this.board = OneLine.of(board);
    this.time = time;
    this.items = new BoardItems(board);
    this.clock = new DatedClock(time, Duration.ofMinutes(1), StoreListener.NONE);
    this.limits = TimeLimits.of(client.serviceClientConfiguration().overrideConfiguration(), LIMIT);
  }

  @Override
  public List<StoredItem> read(Collection<ItemKey> keys) {
    return get(keys.stream().map(items::pk).toList()).stream()
        .map(item -> read(item, BoardItems::decode))
        .toList();
  }

  @Override
  public List<StoredItem> list() {
    List<ItemKey> keys =
        get(List.of(items.indexPk())).stream()
            .flatMap(each -> read(each, BoardItems::keys).stream())
            .toList();
    List<StoredItem> all = new ArrayList<>();
    for (int from = 0; from < keys.size(); from += BATCH) {
      all.addAll(read(keys.subList(from, Math.min(from + BATCH, keys.size()))));
    }
    return all;
  }

  /** Reads them, and reads again what DynamoDB left out for want of throughput. */
  private List<Map<String, AttributeValue>> get(List<AttributeValue> pks) {
    List<Map<String, AttributeValue>> found = new ArrayList<>();
    List<Map<String, AttributeValue>> left = pks.stream().map(pk -> Map.of(Items.KEY, pk)).toList();
    while (!left.isEmpty()) {
      KeysAndAttributes wanted =
          KeysAndAttributes.builder().keys(left).consistentRead(true).build();
      BatchGetItemResponse answer;
      try {
        answer =
            dated(
                () ->
                    client.batchGetItem(
                        get ->
                            get.requestItems(Map.of(table, wanted)).overrideConfiguration(limits)));
      } catch (SdkException e) {
        throw fault("to read", e);
      }
      found.addAll(answer.responses().getOrDefault(table, List.of()));
      KeysAndAttributes omitted = answer.unprocessedKeys().get(table);
      List<Map<String, AttributeValue>> rest = omitted == null ? List.of() : omitted.keys();
      if (rest.size() == left.size()) {
        throw fault(
            "to read",
            ProvisionedThroughputExceededException.builder().message("nothing was read").build());
      }
      left = rest;
    }
    return found;
  }

  @Override
  public MoveResult move(List<Move> moves, @Nullable Effects effects, Nonce request) {
    List<TransactWriteItem> others = DynamoDbEffects.actionsOf(effects, moves.size(), "items");
    List<TransactWriteItem> actions =
        Stream.concat(moves.stream().map(this::put), others.stream()).toList();
    List<ItemKey> fresh = moves.stream().filter(move -> move.on() == null).map(Move::key).toList();
    if (!fresh.isEmpty()) {
      putIntoIndex(fresh);
    }
    try {
      var unused =
          dated(
              () ->
                  client.transactWriteItems(
                      write ->
                          write
                              .transactItems(actions)
                              .clientRequestToken(request.toString())
                              .overrideConfiguration(limits)));
      return new MoveResult.Took();
    } catch (TransactionCanceledException e) {
      return Faults.wasSentOnce(e)
          ? cancelled(moves, others.size(), e)
          : new MoveResult.Unknown("the write was repeated and then refused");
    } catch (SdkException e) {
      if (!others.isEmpty()) {
        DynamoDbEffects.refuseIfAtFault(e, () -> tryToWrite(moves.getFirst().key()));
      }
      if (DynamoDbTable.isPermanent(e) || isThrottled(e)) {
        throw fault("to write", e);
      }
      return new MoveResult.Unknown("DynamoDB did not answer: " + Faults.inOneLine(e));
    }
  }

  private TransactWriteItem put(Move move) {
    return TransactWriteItem.builder()
        .put(
            put -> {
              put.tableName(table)
                  .item(items.encode(move.next()))
                  .returnValuesOnConditionCheckFailure(ReturnValuesOnConditionCheckFailure.ALL_OLD);
              if (move.on() == null) {
                put.conditionExpression("attribute_not_exists(pk)");
              } else {
                put.conditionExpression(BoardItems.CHANGE + " = :on")
                    .expressionAttributeValues(Map.of(":on", text(move.on().toString())));
              }
            })
        .build();
  }

  /** Writes nothing, by a request that is permitted if a write of this item is. */
  private void tryToWrite(ItemKey key) {
    try {
      var unused = dated(() -> client.putItem(DynamoDbEffects.trial(table, items.pk(key), limits)));
    } catch (ConditionalCheckFailedException e) {
      // the condition failed, as it should
    } catch (SdkException e) {
      throw fault("to write", e);
    }
  }

  /**
   * Lists keys in the index before their items are written, so that none is missing; a key without
   * an item does no harm.
   */
  private void putIntoIndex(List<ItemKey> keys) {
    try {
      var unused =
          dated(
              () ->
                  client.updateItem(
                      update ->
                          update
                              .tableName(table)
                              .key(Map.of(Items.KEY, items.indexPk()))
                              .updateExpression("ADD " + BoardItems.INDEX_KEYS + " :keys")
                              .expressionAttributeValues(Map.of(":keys", BoardItems.keys(keys)))
                              .overrideConfiguration(limits)));
    } catch (SdkException e) {
      if (Faults.inOneLine(e).contains("Item size")) {
        throw new IllegalArgumentException(
            "board %s has no room for more items: the keys of all are at most 400 KB"
                .formatted(board),
            e);
      }
      throw fault("to write its index", e);
    }
  }

  /**
   * What the reasons say. They come in the order of the items and the effects; but an item that
   * comes with one says itself which it is, and if one is missing, all are to be read.
   *
   * @throws EffectsRefusedException if the effects alone stood in the way
   */
  private MoveResult cancelled(List<Move> moves, int effects, TransactionCanceledException fault) {
    List<CancellationReason> reasons = fault.cancellationReasons();
    boolean inOrder = reasons.size() == moves.size() + effects;
    List<CancellationReason> ofItems = inOrder ? reasons.subList(0, moves.size()) : reasons;
    for (CancellationReason reason : failed(ofItems)) {
      if (PERMANENT.contains(reason.code())) {
        throw refused("to write", "%s %s".formatted(reason.code(), reason.message()));
      }
      if (!reason.code().equals(DynamoDbEffects.FAILED)) {
        return conflict(reason);
      }
    }
    Set<AttributeValue> pks =
        moves.stream().map(move -> items.pk(move.key())).collect(Collectors.toSet());
    List<StoredItem> present =
        failed(reasons).stream()
            .filter(CancellationReason::hasItem)
            .map(CancellationReason::item)
            .filter(item -> pks.contains(item.get(Items.KEY)))
            .map(item -> read(item, BoardItems::decode))
            .toList();
    int differ = failed(ofItems).size();
    if (!inOrder || differ > 0 || !present.isEmpty()) {
      return new MoveResult.Differs(inOrder && present.size() == differ ? present : List.of());
    }
    DynamoDbEffects.refuseIf(DynamoDbEffects.LASTING, reasons, moves.size());
    for (CancellationReason reason : failed(reasons)) {
      if (!reason.code().equals(DynamoDbEffects.FAILED)) {
        return conflict(reason);
      }
    }
    DynamoDbEffects.refuseIf(Set.of(DynamoDbEffects.FAILED), reasons, moves.size());
    return new MoveResult.Differs(List.of());
  }

  private static List<CancellationReason> failed(List<CancellationReason> reasons) {
    return reasons.stream()
        .filter(reason -> reason.code() != null && !reason.code().equals(NONE))
        .toList();
  }

  private static MoveResult conflict(CancellationReason reason) {
    return new MoveResult.Conflict("DynamoDB cancelled the transaction: " + reason.code());
  }

  @Override
  public Instant now() {
    StoreMoment now = clock.now();
    return now.isKnown() ? now.early() : now.machine().wall();
  }

  private <T extends DynamoDbResponse> T dated(Supplier<T> request) {
    Moment start = time.now();
    T response = request.get();
    SdkHttpResponse http = response.sdkHttpResponse();
    http.firstMatchingHeader("Date").ifPresent(date -> clock.observe(date, start, time.now()));
    return response;
  }

  private static boolean isThrottled(RuntimeException fault) {
    return Faults.wasSentOnce(fault) && THROTTLED.contains(Faults.code(fault));
  }

  private RuntimeException fault(String what, RuntimeException fault) {
    String seen = Faults.inOneLine(fault);
    return DynamoDbTable.isPermanent(fault)
        ? refused(what, seen)
        : new StoreUnavailableException(
            "DynamoDB table %s did not answer %s board %s: %s".formatted(table, what, board, seen),
            fault);
  }

  private StoreRefusedException refused(String what, String seen) {
    return new StoreRefusedException(
        ("DynamoDB table %s refuses %s board %s: %s. The table needs the string key %s and to be in"
                + " one Region, the role dynamodb:BatchGetItem, dynamodb:PutItem and"
                + " dynamodb:UpdateItem on it")
            .formatted(table, what, board, seen, Items.KEY));
  }

  private <T> T read(
      Map<String, AttributeValue> item, Function<Map<String, AttributeValue>, T> reader) {
    try {
      return reader.apply(item);
    } catch (IllegalStateException e) {
      throw new StoreRefusedException(
          "item %s of DynamoDB table %s is no item of board %s: %s. Is the table used by something else?"
              .formatted(textOf(item, Items.KEY), table, board, e.getMessage()));
    }
  }
}
