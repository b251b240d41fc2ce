package io.firstclaim.lock.dynamodb;

import io.firstclaim.lock.Effects;
import java.util.List;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;

/**
 * Writes to tables of the same account and Region as the claims' own, made in the transaction that
 * records a completion: all of them if and only if it is recorded. So what they write happens once,
 * however often the work is repeated.
 *
 * {@snippet :
 * var booking = TransactWriteItem.builder()
 *     .update(update -> update.tableName("accounts").key(Map.of("id", AttributeValue.fromS("x")))
 *         .updateExpression("ADD balance :amount")
 *         .expressionAttributeValues(Map.of(":amount", AttributeValue.fromN("-5"))))
 *     .build();
 * return HandlerResult.done("booked", DynamoDbEffects.of(booking));
 * }
 *
 * <p>A condition of theirs that fails is the work's own failure. At most 100 actions fit into a
 * transaction, those of the record and its resources included, and 4 MB; more is refused before
 * anything is written. The role needs the permission for each of them. Immutable.
 *
 * @param actions in the order in which a refusal counts them, from 1
 */
public record DynamoDbEffects(List<TransactWriteItem> actions) implements Effects {
  /** Keeps a copy. */
  public DynamoDbEffects {
    actions = List.copyOf(actions);
  }

  /** Effects that are these writes, made only if the completion is. */
  public static DynamoDbEffects of(TransactWriteItem... actions) {
    return new DynamoDbEffects(List.of(actions));
  }

  static List<TransactWriteItem> actionsOf(@Nullable Effects effects) {
    return switch (effects) {
      case null -> List.of();
      case DynamoDbEffects(List<TransactWriteItem> actions) -> actions;
      default ->
          throw new IllegalArgumentException(
              "%s cannot be written to DynamoDB: it takes DynamoDbEffects"
                  .formatted(effects.getClass().getSimpleName()));
    };
  }
}
