package io.firstclaim.lock.dynamodb;

import static io.firstclaim.lock.dynamodb.Items.number;
import static io.firstclaim.lock.dynamodb.Items.text;
import static io.firstclaim.lock.dynamodb.Items.textOf;
import static java.util.stream.Collectors.joining;

import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.board.ItemKey;
import io.firstclaim.lock.board.Share;
import io.firstclaim.lock.board.StoredItem;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/**
 * The items of one board as DynamoDB items. No attribute's name is a reserved word, and none is the
 * one that the table's TTL looks at.
 *
 * @param board its name
 */
record BoardItems(String board) {
  static final String CHANGE = "lastChange";
  static final String INDEX_KEYS = "boardKeys";

  private static final String BOARD_KEY = "boardKey";
  private static final String STATUS = "boardStatus";
  private static final String EDITOR = "editor";
  private static final String LOCKED_BY = "lockedBy";
  private static final String SHARES = "shares";
  private static final String SINCE = "sinceMillis";
  private static final String TOKEN = "itemToken";
  private static final String EARLIER = "lastChanges";

  /** The partition key of an item: no two items of any boards have the same. */
  AttributeValue pk(ItemKey key) {
    return text("board/" + RecordId.of(key.value()).key(board));
  }

  /** The partition key under which the keys of all items are listed. */
  AttributeValue indexPk() {
    return text("board-index/" + board);
  }

  Map<String, AttributeValue> encode(StoredItem item) {
    Map<String, AttributeValue> encoded = new HashMap<>();
    encoded.put(Items.KEY, pk(item.key()));
    encoded.put(BOARD_KEY, text(item.key().value()));
    encoded.put(STATUS, text(item.status()));
    encoded.put(EDITOR, text(item.editor()));
    if (item.lockedBy() != null) {
      encoded.put(LOCKED_BY, text(item.lockedBy()));
    }
    if (!item.shares().isEmpty()) {
      encoded.put(
          SHARES, AttributeValue.fromL(item.shares().stream().map(BoardItems::encode).toList()));
    }
    encoded.put(SINCE, number(item.since().toEpochMilli()));
    encoded.put(TOKEN, number(item.token()));
    encoded.put(CHANGE, text(item.change().toString()));
    encoded.put(EARLIER, text(item.changes().stream().map(Nonce::toString).collect(joining(","))));
    return encoded;
  }

  private static AttributeValue encode(Share share) {
    return AttributeValue.fromM(
        Map.of(
            LOCKED_BY, text(share.lockedBy()),
            EDITOR, text(share.editor()),
            SINCE, number(share.since().toEpochMilli())));
  }

  private static Share decodeShare(AttributeValue share) {
    return new Share(
        textOf(share.m(), LOCKED_BY),
        textOf(share.m(), EDITOR),
        Instant.ofEpochMilli(Items.numberOf(share.m(), SINCE)));
  }

  /**
   * The item of the board.
   *
   * @throws IllegalStateException if it is not one; the message names what is wrong with it, in one
   *     line
   */
  static StoredItem decode(Map<String, AttributeValue> item) {
    AttributeValue shares = item.get(SHARES);
    try {
      return new StoredItem(
          ItemKey.of(textOf(item, BOARD_KEY)),
          textOf(item, STATUS),
          textOf(item, EDITOR),
          item.containsKey(LOCKED_BY) ? textOf(item, LOCKED_BY) : null,
          shares == null ? List.of() : shares.l().stream().map(BoardItems::decodeShare).toList(),
          Instant.ofEpochMilli(Items.numberOf(item, SINCE)),
          // An item that was moved before there were tokens has the time, as a new one would.
          Items.numberOf(item, item.containsKey(TOKEN) ? TOKEN : SINCE),
          Arrays.stream(textOf(item, EARLIER).split(",", -1)).map(Nonce::parse).toList());
    } catch (IllegalArgumentException | DateTimeException e) {
      throw new IllegalStateException(OneLine.of(e), e);
    }
  }

  /**
   * The keys in the index.
   *
   * @throws IllegalStateException if they are none; the message names what is wrong with them, in
   *     one line
   */
  static List<ItemKey> keys(Map<String, AttributeValue> index) {
    AttributeValue keys = index.get(INDEX_KEYS);
    try {
      return keys == null ? List.of() : keys.ss().stream().map(ItemKey::of).toList();
    } catch (IllegalArgumentException e) {
      throw new IllegalStateException(OneLine.of(e), e);
    }
  }

  static AttributeValue keys(Collection<ItemKey> keys) {
    return AttributeValue.fromSs(keys.stream().map(ItemKey::value).toList());
  }
}
