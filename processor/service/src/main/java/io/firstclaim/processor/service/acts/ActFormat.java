package io.firstclaim.processor.service.acts;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.util.Optional;

/** What is on the topic of acts, as JSON. Thread-safe. */
public final class ActFormat {
  private static final ObjectMapper JSON =
      JsonMapper.builder()
          .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          // Later versions may have more types.
          .disable(DeserializationFeature.FAIL_ON_INVALID_SUBTYPE)
          .build();

  private ActFormat() {}

  /** A message as JSON. */
  static byte[] write(ActMessage message) {
    try {
      return JSON.writeValueAsBytes(message);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e); // cannot happen: each message can be written
    }
  }

  /**
   * The message in these bytes; empty if only later versions know it.
   *
   * @throws IOException if they hold none: whoever may write to the topic can have written them
   */
  public static Optional<ActMessage> read(byte[] json) throws IOException {
    return Optional.ofNullable(JSON.readValue(json, ActMessage.class));
  }
}
