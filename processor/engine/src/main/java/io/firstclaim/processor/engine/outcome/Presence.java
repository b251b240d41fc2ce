package io.firstclaim.processor.engine.outcome;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstclaim.processor.engine.api.OutcomeMessage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What an instance says of itself on the outcomes topic as long as it lives; the message's headers
 * name its store.
 *
 * @param kind whether it takes records
 * @param beat the sender's how manieth message it is, from 1
 * @param since the offset at which it first said that it takes records; {@link #UNKNOWN} in the
 *     message that does so
 * @param topics the input
 * @param settings digests of what it must share with the others, by the settings' names; empty from
 *     a version that says nothing of them
 */
record Presence(
    Kind kind,
    String zone,
    String instance,
    String group,
    List<String> topics,
    long beat,
    long since,
    Map<String, String> settings) {
  /** Marks the messages that are a presence and no outcome. */
  static final String HEADER = OutcomeMessage.PRESENCE;

  static final long UNKNOWN = -1;

  private static final ObjectMapper JSON = new ObjectMapper();

  /** Whether an instance takes records; the names are on the wire, where outcomes have theirs. */
  enum Kind {
    /** The instance takes records, or will if nobody with another store was there before. */
    PRESENT,
    /** The instance takes none: somebody with another store was there before. */
    WAITING,
    /** The instance has ended. */
    GONE
  }

  /**
   * The presence as JSON, with an outcome's fields too, which a reader expects in every message.
   */
  byte[] json(Instant at) {
    ObjectNode json = JSON.createObjectNode();
    json.put("id", HEADER).put("outcome", kind.name()).put("zone", zone).put("instance", instance);
    json.put("token", 0).put("attempt", 0).put("topic", "").put("partition", -1).put("offset", -1);
    json.put("at", at.toString()).put("millis", 0).putNull("cause");
    json.put("group", group).put("beat", beat).put("since", since);
    topics.forEach(json.putArray("topics")::add);
    settings.forEach(json.putObject("settings")::put);
    try {
      return JSON.writeValueAsBytes(json);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The presence in these bytes, if they hold one: anybody may write to a topic. */
  static Optional<Presence> read(byte[] bytes) {
    try {
      JsonNode json = JSON.readTree(bytes);
      if (json == null || !json.isObject()) {
        return Optional.empty();
      }
      List<String> topics = new ArrayList<>();
      json.path("topics").forEach(topic -> topics.add(topic.asText()));
      Map<String, String> settings = new HashMap<>();
      json.path("settings")
          .properties()
          .forEach(setting -> settings.put(setting.getKey(), setting.getValue().asText()));
      return Optional.of(
          new Presence(
              Kind.valueOf(json.path("outcome").asText()),
              json.path("zone").asText(),
              json.path("instance").asText(),
              json.path("group").asText(),
              topics,
              json.path("beat").asLong(),
              json.path("since").asLong(UNKNOWN),
              settings));
    } catch (IOException | IllegalArgumentException e) {
      return Optional.empty();
    }
  }
}
