package io.firstclaim.lock.dynamodb;

import io.firstclaim.lock.Effects;
import io.firstclaim.lock.EffectsRefusedException;
import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.aws.Faults;
import java.util.List;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.CancellationReason;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;

/**
 * Writes to tables of the same account and Region as the claims' or the board's own, made in the
 * transaction that records a completion, or moves the board's items: all of them if and only if it
 * is made. So what they write happens once, however often the work is repeated.
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
 * transaction, those of the record and its resources, or of the items, included, and 4 MB; more is
 * refused before anything is written. The role needs the permission for each of them. Immutable.
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

  /** The most actions of one transaction. */
  private static final int MAX_ACTIONS = 100;

  /**
   * The actions of these effects.
   *
   * @param others how many more actions are in their transaction
   * @param what those others are, for the message
   * @throws EffectsRefusedException if they are too many
   */
  static List<TransactWriteItem> actionsOf(@Nullable Effects effects, int others, String what) {
    List<TransactWriteItem> actions = actionsOf(effects);
    if (!actions.isEmpty() && actions.size() + others > MAX_ACTIONS) {
      throw new EffectsRefusedException(
          "a transaction of DynamoDB has at most %d actions, and these are %d effects with %d %s"
              .formatted(MAX_ACTIONS, actions.size(), others, what));
    }
    return actions;
  }

  /** DynamoDB found a transaction with effects invalid: claims and items never are. */
  static EffectsRefusedException refused(RuntimeException fault) {
    return new EffectsRefusedException(
        "the effects cannot be written: %s".formatted(Faults.inOneLine(fault)));
  }

  /**
   * What a cancellation says of the effects.
   *
   * @param reasons those of the effects come last
   * @param others how many actions come before them
   * @throws EffectsRefusedException if one of the effects has this code
   */
  static void refuseIf(String code, List<CancellationReason> reasons, int others) {
    for (int i = others; i < reasons.size(); i++) {
      CancellationReason reason = reasons.get(i);
      if (code.equals(reason.code())) {
        throw new EffectsRefusedException(
            OneLine.of(
                "effect %d cannot be written: %s %s"
                    .formatted(
                        i - others + 1,
                        reason.code(),
                        reason.message() == null ? "" : reason.message())));
      }
    }
  }

  private static List<TransactWriteItem> actionsOf(@Nullable Effects effects) {
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
