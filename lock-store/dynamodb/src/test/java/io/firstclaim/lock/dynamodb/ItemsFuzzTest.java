package io.firstclaim.lock.dynamodb;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.api.FuzzedDataProvider;
import com.code_intelligence.jazzer.junit.FuzzTest;
import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.board.ItemKey;
import io.firstclaim.lock.board.StoredItem;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** Whatever stands in the table: anybody who may write to it can have written it. */
class ItemsFuzzTest {
  private static final RecordId ID = RecordId.of("order-1");
  private static final AttributeValue KEY = Items.text("key");
  private static final AttributeValue EXPIRES = Items.number(1);

  private static final List<String> OF_CLAIM =
      List.of(
          Items.TOKEN,
          Items.ATTEMPTS,
          Items.NONCE,
          Items.FINGERPRINT,
          Items.STATE,
          Items.HOLDER,
          Items.LEASE_MILLIS,
          Items.LEASE_END,
          Items.RETRY_AT,
          Items.ENDED_AT,
          Items.CAUSE,
          Items.RESULT,
          Items.ON_BEHALF_OF,
          Items.REDRIVE);

  private static final List<String> OF_BOARD =
      List.of(
          "boardKey",
          "boardStatus",
          "editor",
          "lockedBy",
          "sinceMillis",
          "lastChanges",
          BoardItems.INDEX_KEYS,
          "itemToken",
          "shares");

  private static final List<String> TEXTS =
      List.of(
          "HELD",
          "FREE",
          "DONE",
          "DEAD",
          "0123456789abcdef0123456789abcdef",
          "0123456789abcdef0123456789abcdef,fedcba9876543210fedcba9876543210",
          "0123456789abcdef0123456789abcde\u001b");

  private static final byte[] HASH = new byte[32];

  @FuzzTest(maxDuration = "10m")
  void anyItem_isAClaim_orSaidNotToBeOne(FuzzedDataProvider data) {
    Map<String, AttributeValue> item = item(OF_CLAIM, data);
    try {
      ClaimRecord claim = Items.decode(item);
      assertThat(Items.decode(Items.encode(KEY, ID, claim, EXPIRES))).isEqualTo(claim);
    } catch (IllegalStateException e) {
      requireOneLine(e);
    }
  }

  @FuzzTest(maxDuration = "10m")
  void anyItem_isOneOfABoard_orSaidNotToBeOne(FuzzedDataProvider data) {
    Map<String, AttributeValue> item = item(OF_BOARD, data);
    try {
      StoredItem found = BoardItems.decode(item);
      assertThat(BoardItems.decode(new BoardItems("tables").encode(found))).isEqualTo(found);
    } catch (IllegalStateException e) {
      requireOneLine(e);
    }
    try {
      List<ItemKey> keys = BoardItems.keys(item);
      assertThat(keys).doesNotContainNull();
    } catch (IllegalStateException e) {
      requireOneLine(e);
    }
  }

  private static void requireOneLine(IllegalStateException fault) {
    String message = String.valueOf(fault.getMessage());
    assertThat(message).isEqualTo(OneLine.of(message));
  }

  private static Map<String, AttributeValue> item(List<String> names, FuzzedDataProvider data) {
    Map<String, AttributeValue> item = new HashMap<>();
    for (String name : names) {
      switch (data.consumeInt(0, 8)) {
        case 0 -> {} // not there
        case 1, 2 -> item.put(name, Items.text(data.pickValue(TEXTS)));
        case 3 -> item.put(name, Items.text(data.consumeString(64)));
        case 4 -> item.put(name, Items.number(data.consumeLong()));
        case 5 -> item.put(name, Items.number(data.consumeInt(0, 3)));
        // DynamoDB's numbers have up to 38 digits and an exponent up to 125.
        case 6 -> item.put(name, AttributeValue.fromN(data.consumeAsciiString(40)));
        case 7 -> item.put(name, AttributeValue.fromB(bytes(data)));
        default -> item.put(name, AttributeValue.fromSs(List.of(data.consumeString(300), "b")));
      }
    }
    return item;
  }

  private static SdkBytes bytes(FuzzedDataProvider data) {
    return SdkBytes.fromByteArray(data.consumeBoolean() ? HASH : data.consumeBytes(40));
  }
}
