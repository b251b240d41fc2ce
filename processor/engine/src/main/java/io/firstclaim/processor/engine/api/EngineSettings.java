package io.firstclaim.processor.engine.api;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.OneLine;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The values that an engine runs by. They are checked on construction, so an instance is sound in
 * itself, though Kafka and the lock store may still disagree. Immutable. The engine's builder has
 * the defaults.
 *
 * @param application names everything that two applications must not share
 * @param zone this deployment's zone: 1 to 32 of a-z, 0-9 and -
 * @param zones all zones, this one among them; empty if records have no preferred zone
 * @param input what is read
 * @param claim how it is claimed
 * @param retry what happens when its handler fails
 * @param handlerTimeout how long until a handler is interrupted and its attempt fails
 * @param deadLetterTopic one for all input topics; if empty, {@code <topic>.dlt} for each
 * @param outcomesTopic where outcomes are published and heard; if empty, nowhere
 * @param outcomesTrust whether an outcome heard is enough to skip a record
 * @param shutdownGrace how long running handlers may finish when the engine is told to stop
 * @param kafka passed to the Kafka clients as they are; {@code bootstrap.servers} is among them
 */
public record EngineSettings(
    String application,
    String zone,
    List<String> zones,
    Input input,
    Claiming claim,
    Retrying retry,
    Duration handlerTimeout,
    Optional<String> deadLetterTopic,
    Optional<String> outcomesTopic,
    Trust outcomesTrust,
    Duration shutdownGrace,
    Map<String, Object> kafka) {
  private static final Pattern ZONE = Pattern.compile("[a-z0-9-]{1,32}");
  private static final Pattern TOPIC = Pattern.compile("[a-zA-Z0-9._-]+");
  private static final String DEAD_LETTERS = ".dlt";
  private static final int MAX_TOPIC = 249;
  private static final int MAX_RECORDS = 1_000_000;
  private static final int MAX_SHOWN = 200;

  /**
   * Checks the values, by themselves and against each other.
   *
   * @throws IllegalArgumentException if one is wrong; its message is a line that names the value
   *     and what would be right
   */
  public EngineSettings {
    requireText("application", application);
    if (!ZONE.matcher(zone).matches()) {
      throw wrong("zone", zone, "give 1 to 32 of a-z, 0-9 and -");
    }
    zones = List.copyOf(zones);
    requireZones(zones, zone);
    requirePositive("handler timeout", handlerTimeout);
    if (shutdownGrace.isNegative()) {
      throw wrong("shutdown grace", shutdownGrace, "give 0 s or more");
    }
    kafka = Map.copyOf(kafka);
    if (kafka.getOrDefault("bootstrap.servers", "").toString().isBlank()) {
      throw new IllegalArgumentException(
          "bootstrap.servers are not given: name the brokers, such as localhost:9092");
    }
    if (kafka.containsKey("group.id")) {
      throw wrong(
          "Kafka's group.id", kafka.get("group.id"), "leave it out and give the input's group");
    }
    deadLetterTopic.ifPresent(topic -> requireTopic("dead-letter topic", topic));
    outcomesTopic.ifPresent(topic -> requireTopic("outcomes topic", topic));
    requireApart(input.topics(), deadLetterTopic, outcomesTopic);
  }

  /** Leaves out what is passed to the Kafka clients, which holds secrets. */
  @Override
  public String toString() {
    return "EngineSettings[application=%s, zone=%s, zones=%s, input=%s, claim=%s, retry=%s]"
        .formatted(application, zone, zones, input, claim, retry);
  }

  /** Where the dead letters of this input topic go. */
  public String deadLetterTopicOf(String inputTopic) {
    return deadLetterTopicOf(deadLetterTopic, inputTopic);
  }

  private static String deadLetterTopicOf(Optional<String> given, String inputTopic) {
    return given.orElse(inputTopic + DEAD_LETTERS);
  }

  /**
   * What is read.
   *
   * @param topics the input topics, at least one
   * @param group the consumer group: one per zone, so that every zone receives everything
   * @param recordId where the ID is, the first that yields one
   * @param ordering which records wait for each other
   * @param maxInFlight records being claimed or handled at once, up to a million
   * @param maxParked records waiting for something, up to a million
   * @param maxBuffered bytes of records in memory: keys, values and headers; a record that is
   *     larger enters alone
   * @param replayHorizon how far back the input may ever be rewound; if empty, the topic's
   *     retention
   */
  public record Input(
      List<String> topics,
      String group,
      List<RecordIdSource> recordId,
      Ordering ordering,
      int maxInFlight,
      int maxParked,
      long maxBuffered,
      Optional<Duration> replayHorizon) {
    /** Handlers need some multiple of what they are given, and Kafka's client fetches ahead. */
    private static final int SHARE_OF_HEAP = 6;

    /** As many bytes as suit the heap of this process: a sixth of it. */
    public static long suitableMaxBuffered() {
      return Runtime.getRuntime().maxMemory() / SHARE_OF_HEAP;
    }

    /**
     * Checks each value.
     *
     * @throws IllegalArgumentException if one is wrong
     */
    public Input {
      topics = List.copyOf(topics);
      if (topics.isEmpty()) {
        throw new IllegalArgumentException("there is no input topic: name one or more");
      }
      topics.forEach(topic -> requireTopic("input topic", topic));
      requireText("group", group);
      recordId = List.copyOf(recordId);
      if (recordId.isEmpty()) {
        throw new IllegalArgumentException(
            "where a record's ID is found is not given: name one or more of header:NAME, key,"
                + " json:/pointer, sha256:value, offset");
      }
      requireCount("max in flight", maxInFlight);
      requireCount("max parked", maxParked);
      if (maxBuffered < 1) {
        throw wrong("max buffered", maxBuffered, "give a number of bytes");
      }
      replayHorizon.ifPresent(horizon -> requirePositive("replay horizon", horizon));
    }
  }

  /** Which records wait for each other. */
  public enum Ordering {
    /** None. */
    UNORDERED,
    /** Those of one Kafka key. */
    KEY,
    /** Those of one partition. */
    PARTITION
  }

  /**
   * How records are claimed.
   *
   * @param store namespace, holder, lease, skew, retention: what the lock store is opened with
   * @param renew whether leases are renewed while the handler runs
   * @param headStart how long the other zones leave a record to its preferred zone; if empty, as
   *     long as they see it need
   * @param onMismatch what becomes of a record whose ID is known with another payload
   * @param resources where a record says what it touches, all of which is claimed with it
   */
  public record Claiming(
      ClaimSettings store,
      boolean renew,
      Optional<Duration> headStart,
      OnMismatch onMismatch,
      List<ResourceSource> resources) {

    /**
     * Checks the head start; the store's settings are checked already.
     *
     * @throws IllegalArgumentException if it is negative
     */
    public Claiming {
      resources = List.copyOf(resources);
      if (headStart.isPresent() && headStart.get().isNegative()) {
        throw wrong("head start", headStart.get(), "give 0 s or more");
      }
    }
  }

  /** What an outcome that another instance announced is worth. */
  public enum Trust {
    /** A record that has ended by it is skipped. */
    TOPIC,
    /** The store is asked before a record is skipped, as anybody may write to the topic. */
    VERIFY
  }

  /** What becomes of a record whose ID is known with another payload. */
  public enum OnMismatch {
    /** It is given up. */
    DEAD_LETTER,
    /** It counts as a duplicate. */
    SKIP
  }

  /**
   * What happens when a handler fails.
   *
   * @param maxAttempts how many attempts there are before a record is given up
   * @param backoff before the second attempt; doubles from there
   * @param maxBackoff where the doubling ends
   */
  public record Retrying(int maxAttempts, Duration backoff, Duration maxBackoff) {

    /**
     * Checks the values against each other.
     *
     * @throws IllegalArgumentException if one is wrong
     */
    public Retrying {
      requireCount("max attempts", maxAttempts);
      requirePositive("backoff", backoff);
      if (maxBackoff.compareTo(backoff) < 0) {
        throw wrong("max backoff", maxBackoff, "give no less than the backoff of " + backoff);
      }
    }
  }

  private static void requireZones(List<String> zones, String zone) {
    if (zones.stream().anyMatch(name -> !ZONE.matcher(name).matches())
        || zones.stream().distinct().count() != zones.size()) {
      throw wrong("zones", zones, "give each zone once, of a-z, 0-9 and -");
    }
    if (!zones.isEmpty() && !zones.contains(zone)) {
      throw wrong("zones", zones, "this zone, %s, must be among them".formatted(zone));
    }
  }

  /**
   * What is written for a record must not come back as a record, and readers of one topic do not
   * expect what belongs in another.
   */
  private static void requireApart(
      Collection<String> inputs, Optional<String> deadLetterTopic, Optional<String> outcomesTopic) {
    Map<String, String> uses = new HashMap<>();
    inputs.forEach(input -> uses.put(input, "an input topic"));
    inputs.stream()
        .map(input -> deadLetterTopicOf(deadLetterTopic, input))
        .distinct()
        .forEach(topic -> use("dead-letter topic", topic, uses));
    outcomesTopic.ifPresent(topic -> use("outcomes topic", topic, uses));
  }

  private static void use(String name, String topic, Map<String, String> uses) {
    requireTopic(name, topic);
    String other = uses.put(topic, "the " + name);
    if (other != null) {
      throw wrong(name, topic, "it is %s; give another".formatted(other));
    }
  }

  private static void requireTopic(String name, String topic) {
    if (topic.length() > MAX_TOPIC
        || !TOPIC.matcher(topic).matches()
        || topic.equals(".")
        || topic.equals("..")) {
      throw wrong(name, topic, "a topic has 1 to %d of a-z A-Z 0-9 . _ -".formatted(MAX_TOPIC));
    }
  }

  private static void requireText(String name, String text) {
    if (text.isBlank()) {
      throw wrong(name, text, "give one that is not blank");
    }
  }

  private static void requireCount(String name, int count) {
    if (count < 1 || count > MAX_RECORDS) {
      throw wrong(name, count, "give a number from 1 to " + MAX_RECORDS);
    }
  }

  private static void requirePositive(String name, Duration duration) {
    if (!duration.isPositive()) {
      throw wrong(name, duration, "give more than 0 s");
    }
  }

  private static IllegalArgumentException wrong(String name, Object value, String remedy) {
    String shown = OneLine.of(String.valueOf(value), MAX_SHOWN);
    return new IllegalArgumentException("%s '%s': %s".formatted(name, shown, remedy));
  }
}
