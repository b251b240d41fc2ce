package io.firstclaim.lock.dynamodb;

import io.firstclaim.lock.Backoff;
import io.firstclaim.lock.Effects;
import io.firstclaim.lock.EffectsRefusedException;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.StoreOperation;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.store.ClaimRecords.ConditionalPut;
import io.firstclaim.lock.store.ClaimRecords.Stored;
import io.firstclaim.lock.store.ClaimRecords.Together;
import io.firstclaim.lock.store.ClaimRecords.Writes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.CancellationReason;
import software.amazon.awssdk.services.dynamodb.model.DynamoDbException;
import software.amazon.awssdk.services.dynamodb.model.KeysAndAttributes;
import software.amazon.awssdk.services.dynamodb.model.ReturnValuesOnConditionCheckFailure;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItemsResponse;
import software.amazon.awssdk.services.dynamodb.model.TransactionCanceledException;

/**
 * Several items at once, by <a
 * href="https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html">TransactWriteItems</a>.
 * Its answer says for each item whether its condition failed, and on what. A conflict with another
 * transaction says nothing of the items: the same one is sent again.
 */
record ItemTransactions(ClaimItems items) implements Together {
  private static final String NONE = "None";

  /** The pauses between tries that were in conflict with other transactions. */
  private static final Backoff PAUSES = new Backoff(Duration.ofMillis(10), Duration.ofMillis(500));

  @Override
  public Map<RecordId, Stored> read(Collection<RecordId> ids) {
    Map<AttributeValue, RecordId> keys = new HashMap<>();
    ids.forEach(id -> keys.put(items.key(id), id));
    Map<RecordId, Stored> found = new HashMap<>();
    Map<String, KeysAndAttributes> left =
        Map.of(
            items.table(),
            KeysAndAttributes.builder()
                .consistentRead(true)
                .keys(keys.keySet().stream().map(key -> Map.of(Items.KEY, key)).toList())
                .build());
    for (int round = 0; !left.isEmpty(); round++) {
      items.pause(PAUSES.after(round));
      Map<String, KeysAndAttributes> asked = left;
      var answer =
          items.call(
              StoreOperation.FIND,
              () ->
                  items
                      .client()
                      .batchGetItem(
                          get -> get.requestItems(asked).overrideConfiguration(items.limits())));
      for (Map<String, AttributeValue> item :
          answer.responses().getOrDefault(items.table(), List.of())) {
        AttributeValue key = Objects.requireNonNull(item.get(Items.KEY));
        Stored stored = items.stored(key, item);
        if (stored != null) {
          found.put(Objects.requireNonNull(keys.get(key)), stored);
        }
      }
      left = answer.unprocessedKeys();
    }
    return found;
  }

  @Override
  public Writes write(
      StoreOperation op, List<ConditionalPut> changes, @Nullable Effects effects, Moment now) {
    List<TransactWriteItem> actions = new ArrayList<>();
    changes.forEach(change -> actions.add(put(change, now)));
    List<TransactWriteItem> others = DynamoDbEffects.actionsOf(effects, actions.size(), "claims");
    actions.addAll(others);
    String token = UUID.randomUUID().toString();
    Moment start = items.time().now();
    for (int round = 0; ; round++) {
      items.pause(PAUSES.after(round));
      try {
        var unused =
            items.call(
                op,
                2 * actions.size(),
                () ->
                    others.isEmpty()
                        ? send(actions, token)
                        : sendWithEffects(op, actions, token, changes.getFirst().id()));
        return new Writes.Took();
      } catch (TransactionCanceledException e) {
        Writes answer = answer(op, changes, others, e);
        if (answer != null) {
          return answer;
        }
        if (items.time().now().since(start).compareTo(items.settings().storeTimeout()) > 0) {
          throw new StoreUnavailableException(
              "DynamoDB table %s did not take %s: %s".formatted(items.table(), op, OneLine.of(e)),
              e);
        }
      }
    }
  }

  private TransactWriteItemsResponse send(List<TransactWriteItem> actions, String token) {
    return items
        .client()
        .transactWriteItems(
            write ->
                write
                    .transactItems(actions)
                    .clientRequestToken(token)
                    .overrideConfiguration(items.limits()));
  }

  private TransactWriteItemsResponse sendWithEffects(
      StoreOperation op, List<TransactWriteItem> actions, String token, RecordId id) {
    try {
      return send(actions, token);
    } catch (DynamoDbException e) {
      DynamoDbEffects.refuseIfAtFault(e, () -> items.tryToWrite(op, id));
      throw e;
    }
  }

  private TransactWriteItem put(ConditionalPut change, Moment now) {
    return TransactWriteItem.builder()
        .put(
            put ->
                put.tableName(items.table())
                    .item(items.item(change.id(), change.next(), now))
                    .conditionExpression(ClaimItems.condition(change.on()))
                    .expressionAttributeValues(ClaimItems.values(change.on()))
                    .returnValuesOnConditionCheckFailure(
                        ReturnValuesOnConditionCheckFailure.ALL_OLD))
        .build();
  }

  /**
   * What a cancellation says; null if it says nothing of the claims and their effects.
   *
   * @throws EffectsRefusedException if the effects alone stood in the way
   * @throws IllegalArgumentException if a claim does not fit
   */
  private @Nullable Writes answer(
      StoreOperation op,
      List<ConditionalPut> changes,
      List<TransactWriteItem> effects,
      TransactionCanceledException fault) {
    List<CancellationReason> reasons = fault.cancellationReasons();
    boolean inOrder = reasons.size() == changes.size() + effects.size();
    Map<RecordId, Optional<Stored>> found = new HashMap<>();
    for (int i = 0; i < changes.size(); i++) {
      RecordId id = changes.get(i).id();
      Stored stored = stored(id, reasons);
      if (stored != null) {
        found.put(id, Optional.of(stored));
      } else if (inOrder && isFailed(reasons.get(i)) && !reasons.get(i).hasItem()) {
        found.put(id, Optional.empty());
      }
    }
    if (!found.isEmpty()) {
      return new Writes.Differ(found);
    }
    if (inOrder) {
      for (CancellationReason reason : reasons.subList(0, changes.size())) {
        if (DynamoDbEffects.INVALID.equals(reason.code())) {
          throw ClaimItems.tooLarge(op, fault); // a claim that is invalid can only be too large
        }
        if (reason.code() != null && !reason.code().equals(NONE) && !isFailed(reason)) {
          return null; // perhaps it conflicts with this very write, sent before and not heard of
        }
      }
      DynamoDbEffects.refuseIf(DynamoDbEffects.LASTING, reasons, changes.size());
      DynamoDbEffects.refuseIf(Set.of(DynamoDbEffects.FAILED), reasons, changes.size());
    }
    if (reasons.stream().noneMatch(ItemTransactions::isFailed)) {
      return null;
    }
    // A reason that belongs to none of the changes: read what is stored.
    Map<RecordId, Stored> stored = read(changes.stream().map(ConditionalPut::id).toList());
    changes.forEach(change -> found.put(change.id(), Optional.ofNullable(stored.get(change.id()))));
    return new Writes.Differ(found);
  }

  private static boolean isFailed(CancellationReason reason) {
    return DynamoDbEffects.FAILED.equals(reason.code());
  }

  /** What a condition failed on, by the item itself and not by its place in the answer. */
  private @Nullable Stored stored(RecordId id, List<CancellationReason> reasons) {
    AttributeValue key = items.key(id);
    for (CancellationReason reason : reasons) {
      if (isFailed(reason) && reason.hasItem() && key.equals(reason.item().get(Items.KEY))) {
        return items.stored(key, reason.item());
      }
    }
    return null;
  }
}
