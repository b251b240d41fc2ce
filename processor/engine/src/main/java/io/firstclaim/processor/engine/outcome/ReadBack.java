package io.firstclaim.processor.engine.outcome;

import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * How far back an instance that starts reads the partition of all announcements, so that it hears
 * of every living instance before it says anything itself. No clock tells, as a message has its
 * sender's time, and any may be wrong; the announcements do: what has so many of one sender's that
 * another would be taken for gone if it were silent in between, has one of every living instance's.
 * It begins with so many messages, and twice as many each time that was not enough. For one thread.
 */
final class ReadBack {
  /** How many messages are read at first. */
  static final long FIRST = 5_000;

  /** More than any partition has of half a minute; then who is missed is heard within seconds. */
  private static final long MOST = 1 << 21;

  /** How many senders are remembered, as anybody may write to a topic. */
  private static final int MAX_SENDERS = 10_000;

  private final Map<String, Span> spans = new HashMap<>();
  private long begin;
  private long end;
  private long from;

  /** The first and the last announcement of a sender, as it counts them. */
  private record Span(long first, long last) {
    Span with(long beat) {
      return new Span(Math.min(first, beat), Math.max(last, beat));
    }
  }

  /**
   * A partition with messages from {@code begin} to before {@code end}.
   *
   * @return where to read from
   */
  long start(long begin, long end) {
    this.begin = begin;
    this.end = end;
    spans.clear();
    from = Math.max(begin, end - FIRST);
    return from;
  }

  /** An announcement was read. */
  void heard(ConsumerRecord<byte[], byte[]> message) {
    byte[] value = message.value();
    String sender = Origin.senderOf(message.headers());
    if (value != null && (spans.size() < MAX_SENDERS || spans.containsKey(sender))) {
      Presence.read(value)
          .ifPresent(
              presence ->
                  spans.merge(
                      sender,
                      new Span(presence.beat(), presence.beat()),
                      (span, _) -> span.with(presence.beat())));
    }
  }

  /** Where to read from once more, further back, now that all was read; empty if it is enough. */
  OptionalLong further() {
    long read = end - from;
    boolean enough =
        from <= begin
            || read >= MOST
            || spans.values().stream()
                .anyMatch(span -> span.last - span.first >= StoreAgreement.SILENT);
    if (enough) {
      return OptionalLong.empty();
    }
    from = Math.max(begin, end - 2 * read);
    return OptionalLong.of(from);
  }
}
