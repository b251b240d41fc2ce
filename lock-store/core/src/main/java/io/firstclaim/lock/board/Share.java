package io.firstclaim.lock.board;

import java.time.Instant;

/**
 * One of those who lock an item together.
 *
 * @param lockedBy on whose behalf, such as the key of another item: an item is shared on one behalf
 *     once; text of 1 to 256 bytes
 * @param editor who; text of 1 to 256 bytes
 * @param since when, in whole milliseconds. For people: it decides nothing
 */
public record Share(String lockedBy, String editor, Instant since) {}
