package io.firstclaim.lock.board;

import io.firstclaim.lock.OneLine;

/**
 * The name of an item: any text of 1 to 256 bytes in UTF-8, compared character by character. It may
 * come from outside: {@link #toString()} is fit for a log or a message, {@link #value()} is not.
 *
 * @param value the name as it was given
 */
public record ItemKey(String value) implements Comparable<ItemKey> {
  /**
   * Checks the name.
   *
   * @throws IllegalArgumentException if it is empty, too long, or not to be written in UTF-8
   */
  public ItemKey {
    BoardText.require("the key of an item", value);
  }

  /** The item of this name. */
  public static ItemKey of(String value) {
    return new ItemKey(value);
  }

  @Override
  public int compareTo(ItemKey other) {
    return value.compareTo(other.value);
  }

  /** The name in one line. */
  @Override
  public String toString() {
    return OneLine.of(value);
  }
}
