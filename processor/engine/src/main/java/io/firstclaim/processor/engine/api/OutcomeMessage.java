package io.firstclaim.processor.engine.api;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.RecordId;
import java.util.Optional;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/**
 * An outcome as it is read off the outcomes topic, with what its headers say of where it comes
 * from. Whoever may write to the topic can claim to be anybody, and an outcome says nothing of
 * records in another application, namespace or store: compare all three. Immutable.
 *
 * @param application whose it is; empty if the message does not say
 * @param namespace of the claims; empty if the message does not say
 * @param store the identity of the lock store; empty if the message does not say
 * @param id of the record
 * @param payload the fingerprint of the record's value: the same ID with another payload is another
 *     record
 * @param outcome what became of it
 */
public record OutcomeMessage(
    String application,
    String namespace,
    String store,
    RecordId id,
    Fingerprint payload,
    Outcome outcome) {
  /** The header that names the application. */
  public static final String APPLICATION = "firstclaim-application";

  /** The header that names the namespace of the claims. */
  public static final String NAMESPACE = "firstclaim-namespace";

  /** The header that has the identity of the lock store. */
  public static final String STORE = "firstclaim-store";

  /** The header that has the SHA-256 of the record's value. */
  public static final String FINGERPRINT = "firstclaim-fingerprint";

  /** The header that marks what instances say of themselves on the same topic. */
  public static final String PRESENCE = "firstclaim-presence";

  /**
   * The outcome in this message, if it holds one; what an instance says of itself is none. Never
   * throws, whatever the bytes.
   */
  public static Optional<OutcomeMessage> read(
      byte @Nullable [] key, byte @Nullable [] value, Headers headers) {
    if (key == null
        || key.length == 0
        || key.length > RecordId.MAX_BYTES
        || value == null
        || bytes(headers, PRESENCE) != null) {
      return Optional.empty();
    }
    return payload(headers)
        .flatMap(
            payload ->
                Outcome.ofJson(value)
                    .map(
                        outcome ->
                            new OutcomeMessage(
                                text(headers, APPLICATION),
                                text(headers, NAMESPACE),
                                text(headers, STORE),
                                RecordId.of(key),
                                payload,
                                outcome)));
  }

  private static Optional<Fingerprint> payload(Headers headers) {
    try {
      return Optional.ofNullable(bytes(headers, FINGERPRINT)).map(Fingerprint::ofHash);
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  private static String text(Headers headers, String name) {
    byte[] value = bytes(headers, name);
    return value == null ? "" : new String(value, UTF_8);
  }

  private static byte @Nullable [] bytes(Headers headers, String name) {
    Header header = headers.lastHeader(name);
    return header == null ? null : header.value();
  }
}
