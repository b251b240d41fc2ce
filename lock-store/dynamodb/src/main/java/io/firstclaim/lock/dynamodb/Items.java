package io.firstclaim.lock.dynamodb;

import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.ClaimState;
import io.firstclaim.lock.ClaimState.Dead;
import io.firstclaim.lock.ClaimState.Done;
import io.firstclaim.lock.ClaimState.Free;
import io.firstclaim.lock.ClaimState.Held;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.RecordId.Space;
import io.firstclaim.lock.RedriveId;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/**
 * A claim as a DynamoDB item. No attribute's name is a reserved word. Times are epoch milliseconds,
 * except {@link #EXPIRES_AT}, which DynamoDB's TTL wants in seconds.
 */
final class Items {
  static final String KEY = "pk";
  static final String RECORD_ID = "recordId";
  static final String STATE = "claimState";
  static final String TOKEN = "fencingToken";
  static final String ATTEMPTS = "attempts";
  static final String NONCE = "nonce";
  static final String FINGERPRINT = "payloadHash";
  static final String HOLDER = "holder";
  static final String ON_BEHALF_OF = "onBehalfOf";

  /** What the ID names if it is no record's; for people. */
  static final String ID_SPACE = "idSpace";

  /** The claim's update leaves it as it is; absent in what was never redriven. */
  static final String REDRIVE = "redriveId";

  static final String LEASE_MILLIS = "leaseMillis";
  static final String LEASE_END = "leaseEnd";
  static final String RETRY_AT = "retryAt";
  static final String ENDED_AT = "endedAt";
  static final String CAUSE = "cause";
  static final String RESULT = "storedResult";

  /** Garbage collection only: never evidence of anything. */
  static final String EXPIRES_AT = "expiresAt";

  static final AttributeValue HELD = text("HELD");
  static final AttributeValue FREE = text("FREE");
  private static final AttributeValue DONE = text("DONE");
  private static final AttributeValue DEAD = text("DEAD");

  private Items() {}

  static Map<String, AttributeValue> encode(
      AttributeValue key, RecordId id, ClaimRecord claim, AttributeValue expiresAt) {
    Map<String, AttributeValue> item = new HashMap<>();
    item.put(KEY, key);
    item.put(RECORD_ID, bytes(id.bytes()));
    if (id.space() != Space.RECORD) {
      item.put(ID_SPACE, text(id.space().name()));
    }
    item.put(TOKEN, number(claim.token()));
    item.put(ATTEMPTS, number(claim.attempts()));
    item.put(NONCE, text(claim.nonce().toString()));
    item.put(FINGERPRINT, bytes(claim.fingerprint().hash()));
    item.put(EXPIRES_AT, expiresAt);
    item.put(STATE, kind(claim.state()));
    if (claim.redrive() != null) {
      item.put(REDRIVE, text(claim.redrive().text()));
    }
    switch (claim.state()) {
      case Held held -> {
        item.put(HOLDER, text(held.holder()));
        item.put(LEASE_MILLIS, number(held.length().toMillis()));
        item.put(LEASE_END, number(held.end().toEpochMilli()));
        if (held.onBehalfOf() != null) {
          item.put(ON_BEHALF_OF, text(held.onBehalfOf()));
        }
      }
      case Free free -> {
        item.put(RETRY_AT, number(free.retryAt().toEpochMilli()));
        item.put(CAUSE, text(free.cause()));
      }
      case Done done -> {
        item.put(HOLDER, text(done.by()));
        item.put(ENDED_AT, number(done.at().toEpochMilli()));
        if (done.result() != null) {
          item.put(RESULT, text(done.result()));
        }
      }
      case Dead dead -> {
        item.put(HOLDER, text(dead.by()));
        item.put(ENDED_AT, number(dead.at().toEpochMilli()));
        item.put(CAUSE, text(dead.cause()));
      }
    }
    return item;
  }

  static AttributeValue kind(ClaimState state) {
    return switch (state) {
      case Held unused -> HELD;
      case Free unused -> FREE;
      case Done unused -> DONE;
      case Dead unused -> DEAD;
    };
  }

  /**
   * The claim in an item.
   *
   * @throws IllegalStateException if the item is not a claim; the message names what is wrong with
   *     it, in one line
   */
  static ClaimRecord decode(Map<String, AttributeValue> item) {
    try {
      return new ClaimRecord(
              numberOf(item, TOKEN),
              Math.toIntExact(numberOf(item, ATTEMPTS)),
              Nonce.parse(textOf(item, NONCE)),
              Fingerprint.ofHash(bytesOf(item, FINGERPRINT)),
              switch (textOf(item, STATE)) {
                case "HELD" ->
                    new Held(
                        textOf(item, HOLDER),
                        Duration.ofMillis(numberOf(item, LEASE_MILLIS)),
                        Instant.ofEpochMilli(numberOf(item, LEASE_END)),
                        optionalTextOf(item, ON_BEHALF_OF));
                case "FREE" ->
                    new Free(Instant.ofEpochMilli(numberOf(item, RETRY_AT)), textOf(item, CAUSE));
                case "DONE" ->
                    new Done(
                        textOf(item, HOLDER),
                        Instant.ofEpochMilli(numberOf(item, ENDED_AT)),
                        optionalTextOf(item, RESULT));
                case "DEAD" ->
                    new Dead(
                        textOf(item, HOLDER),
                        Instant.ofEpochMilli(numberOf(item, ENDED_AT)),
                        textOf(item, CAUSE));
                default ->
                    throw new IllegalStateException(STATE + " is none of HELD, FREE, DONE, DEAD");
              },
              redriveOf(item))
          .requireRoom();
    } catch (IllegalArgumentException | ArithmeticException e) {
      throw new IllegalStateException(OneLine.of(e), e);
    }
  }

  static AttributeValue text(String value) {
    return AttributeValue.fromS(value);
  }

  static AttributeValue number(long value) {
    return AttributeValue.fromN(Long.toString(value));
  }

  static AttributeValue bytes(byte[] value) {
    return AttributeValue.fromB(SdkBytes.fromByteArrayUnsafe(value));
  }

  private static AttributeValue attribute(Map<String, AttributeValue> item, String name) {
    AttributeValue value = item.get(name);
    if (value == null) {
      throw new IllegalStateException(name + " is missing");
    }
    return value;
  }

  static String textOf(Map<String, AttributeValue> item, String name) {
    String text = attribute(item, name).s();
    if (text == null) {
      throw new IllegalStateException(name + " is not a string");
    }
    return text;
  }

  private static @Nullable RedriveId redriveOf(Map<String, AttributeValue> item) {
    String redrive = optionalTextOf(item, REDRIVE);
    return redrive == null ? null : new RedriveId(redrive);
  }

  private static @Nullable String optionalTextOf(Map<String, AttributeValue> item, String name) {
    return item.containsKey(name) ? textOf(item, name) : null;
  }

  private static byte[] bytesOf(Map<String, AttributeValue> item, String name) {
    SdkBytes bytes = attribute(item, name).b();
    if (bytes == null) {
      throw new IllegalStateException(name + " is not binary");
    }
    return bytes.asByteArrayUnsafe();
  }

  static long numberOf(Map<String, AttributeValue> item, String name) {
    String number = attribute(item, name).n();
    if (number == null) {
      throw new IllegalStateException(name + " is not a number");
    }
    return Long.parseLong(number);
  }
}
