package io.firstclaim.stack.standin;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** An answer that is an error of DynamoDB's. */
final class Refusal extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String type;
  private final transient @Nullable Map<String, Value> item;
  private final transient List<Reason> reasons;

  /** Why one action of a transaction was not done; the code None if it was not in the way. */
  record Reason(String code, @Nullable String message, @Nullable Map<String, Value> item) {}

  private Refusal(
      String type, String message, @Nullable Map<String, Value> item, List<Reason> reasons) {
    super(message, null, false, false);
    this.type = type;
    this.item = item;
    this.reasons = reasons;
  }

  static Refusal of(String type, String message) {
    return new Refusal(type, message, null, List.of());
  }

  static Refusal invalid(String message) {
    return of("ValidationException", message);
  }

  /** What DynamoDB may know, and the product does not send. */
  static Refusal unknown(String what) {
    System.err.println("The stand-in does not know " + what);
    return invalid("The stand-in does not know " + what);
  }

  /** A condition that failed, on this item if it is to be shown. */
  static Refusal condition(@Nullable Map<String, Value> item) {
    return new Refusal(
        "ConditionalCheckFailedException", "The conditional request failed", item, List.of());
  }

  static Refusal cancelled(List<Reason> reasons) {
    return new Refusal(
        "TransactionCanceledException",
        "Transaction cancelled, please refer cancellation reasons for specific reasons "
            + reasons.stream().map(Reason::code).toList(),
        null,
        reasons);
  }

  /** Such as ConditionalCheckFailedException. */
  String type() {
    return type;
  }

  /** As statements and transactions have it, such as ConditionalCheckFailed. */
  String code() {
    return type.equals("ValidationException")
        ? "ValidationError"
        : type.substring(0, type.length() - "Exception".length());
  }

  String text() {
    return String.valueOf(getMessage());
  }

  @Nullable Map<String, Value> item() {
    return item;
  }

  List<Reason> reasons() {
    return reasons;
  }
}
