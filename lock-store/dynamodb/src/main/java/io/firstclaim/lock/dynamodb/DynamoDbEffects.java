package io.firstclaim.lock.dynamodb;

import io.firstclaim.lock.Effects;
import io.firstclaim.lock.EffectsRefusedException;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.aws.Faults;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.CancellationReason;
import software.amazon.awssdk.services.dynamodb.model.PutItemRequest;
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
 * <p>A condition of theirs that fails is the work's own failure, and so is a table that is not
 * there or that the role may not write. At most 100 actions fit into a transaction, those of the
 * record and its resources, or of the items, included, and 4 MB; more is refused before anything is
 * written. The role needs the permission for each of them. Immutable.
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

  /** What a cancellation says of an action whose condition failed. */
  static final String FAILED = "ConditionalCheckFailed";

  /** What a cancellation says of an action that is against DynamoDB's rules. */
  static final String INVALID = "ValidationError";

  /** Reasons that no retry of an effect can mend. */
  static final Set<String> LASTING = Set.of(INVALID, "ItemCollectionSizeLimitExceeded");

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

  /**
   * Refuses the effects if a transaction with them can never be written, and they are at fault.
   * DynamoDB does not say which table is missing, or must not be written, so the claims' or the
   * board's own is tried without them.
   *
   * @param fault of the transaction, as a whole
   * @param trial makes a {@link #trial} of an action that is not theirs; throws if that is refused
   * @throws EffectsRefusedException if they are at fault
   */
  static void refuseIfAtFault(RuntimeException fault, Runnable trial) {
    // What claims write is always valid.
    boolean isInvalid = Faults.code(fault).equals("ValidationException");
    if (!isInvalid && !DynamoDbTable.isPermanent(fault)) {
      return;
    }
    if (!isInvalid) {
      trial.run();
    }
    throw new EffectsRefusedException(
        "the effects cannot be written: %s".formatted(Faults.inOneLine(fault)));
  }

  /**
   * A write that takes the permission of a real one and is never applied, as no item has this
   * nonce: where it may be made, its condition fails.
   */
  static PutItemRequest trial(
      String table, AttributeValue key, AwsRequestOverrideConfiguration limits) {
    return PutItemRequest.builder()
        .tableName(table)
        .overrideConfiguration(limits)
        .item(Map.of(Items.KEY, key))
        .conditionExpression("nonce = :nobodys")
        .expressionAttributeValues(Map.of(":nobodys", Items.text(Nonce.random().toString())))
        .build();
  }

  /**
   * What a cancellation says of the effects.
   *
   * @param codes that refuse them
   * @param reasons those of the effects come last
   * @param others how many actions come before them
   * @throws EffectsRefusedException if one of the effects has one of these codes
   */
  static void refuseIf(Set<String> codes, List<CancellationReason> reasons, int others) {
    for (int i = others; i < reasons.size(); i++) {
      CancellationReason reason = reasons.get(i);
      if (reason.code() != null && codes.contains(reason.code())) {
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
