package io.firstclaim.processor.engine.outcome;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstclaim.processor.engine.api.OutcomeMessage;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.jspecify.annotations.Nullable;

/**
 * Where messages on the outcomes topic come from, as their headers say: which application, which
 * namespace of which store its claims are in, and which sender. What is done in another store says
 * nothing of a record in this one, and whoever may write to the topic can claim to be anybody.
 * Immutable.
 */
public final class Origin {
  private static final String SENDER = "firstclaim-sender";

  /** Several times what all headers of a message take that is from an instance. */
  private static final int MAX_BYTES = 4096;

  private final Header application;
  private final Header namespace;
  private final Header store;
  private final Header sender;

  /**
   * An origin.
   *
   * @param store the store's identity
   * @param sender one instance's, from its start to its end; not its name, which a restarted
   *     process has again, and two may have at once
   */
  public Origin(String application, String namespace, String store, String sender) {
    this.application = new RecordHeader(OutcomeMessage.APPLICATION, application.getBytes(UTF_8));
    this.namespace = new RecordHeader(OutcomeMessage.NAMESPACE, namespace.getBytes(UTF_8));
    this.store = new RecordHeader(OutcomeMessage.STORE, store.getBytes(UTF_8));
    this.sender = new RecordHeader(SENDER, sender.getBytes(UTF_8));
  }

  /** The headers of a message from here. */
  List<Header> headers() {
    return List.of(application, namespace, store, sender);
  }

  /**
   * Whether a message's headers are no longer than an instance's can be: whoever announces itself
   * is remembered by them, and anybody may write.
   */
  static boolean isPlausible(Headers message) {
    long bytes = 0;
    for (Header header : message) {
      bytes += header.key().length() + (header.value() == null ? 0 : header.value().length);
    }
    return bytes <= MAX_BYTES;
  }

  /** Whether a message is about claims that this origin sees too. */
  boolean seesClaimsOf(Headers message) {
    return has(message, namespace) && has(message, store);
  }

  /** Whether a message is of the same application, whichever its store and namespace. */
  boolean isApplicationOf(Headers message) {
    return has(message, application);
  }

  /** Whether a message is of the same sender. */
  boolean isSenderOf(Headers message) {
    return has(message, sender);
  }

  /** The store of a message, as far as it tells. */
  static String storeOf(Headers message) {
    return Objects.requireNonNullElse(text(message, OutcomeMessage.STORE), "");
  }

  /** The sender of a message, as far as it tells. */
  static String senderOf(Headers message) {
    return Objects.requireNonNullElse(text(message, SENDER), "");
  }

  private static boolean has(Headers message, Header own) {
    return Arrays.equals(own.value(), value(message, own.key()));
  }

  /** A message's last header of this name, as text; null if there is none. */
  static @Nullable String text(Headers message, String name) {
    byte[] value = value(message, name);
    return value == null ? null : new String(value, UTF_8);
  }

  /** A message's last header of this name. */
  static byte @Nullable [] value(Headers message, String name) {
    Header header = message.lastHeader(name);
    return header == null ? null : header.value();
  }
}
