package io.firstclaim.processor.engine.api;

import static io.firstclaim.processor.engine.api.EngineCatalog.APPLICATION;
import static io.firstclaim.processor.engine.api.EngineCatalog.BACKOFF;
import static io.firstclaim.processor.engine.api.EngineCatalog.DEAD_LETTER_TOPIC;
import static io.firstclaim.processor.engine.api.EngineCatalog.GROUP;
import static io.firstclaim.processor.engine.api.EngineCatalog.HANDLER_RATE;
import static io.firstclaim.processor.engine.api.EngineCatalog.HANDLER_TIMEOUT;
import static io.firstclaim.processor.engine.api.EngineCatalog.HEAD_START;
import static io.firstclaim.processor.engine.api.EngineCatalog.KAFKA;
import static io.firstclaim.processor.engine.api.EngineCatalog.LEASE;
import static io.firstclaim.processor.engine.api.EngineCatalog.MAX_ATTEMPTS;
import static io.firstclaim.processor.engine.api.EngineCatalog.MAX_BACKOFF;
import static io.firstclaim.processor.engine.api.EngineCatalog.MAX_BUFFERED;
import static io.firstclaim.processor.engine.api.EngineCatalog.MAX_IN_FLIGHT;
import static io.firstclaim.processor.engine.api.EngineCatalog.MAX_PARKED;
import static io.firstclaim.processor.engine.api.EngineCatalog.MAX_SKEW;
import static io.firstclaim.processor.engine.api.EngineCatalog.MODE;
import static io.firstclaim.processor.engine.api.EngineCatalog.NAMESPACE;
import static io.firstclaim.processor.engine.api.EngineCatalog.ON_MISMATCH;
import static io.firstclaim.processor.engine.api.EngineCatalog.ORDERING;
import static io.firstclaim.processor.engine.api.EngineCatalog.OUTCOMES_TOPIC;
import static io.firstclaim.processor.engine.api.EngineCatalog.OUTCOMES_TRUST;
import static io.firstclaim.processor.engine.api.EngineCatalog.RECORD_ID;
import static io.firstclaim.processor.engine.api.EngineCatalog.RENEW;
import static io.firstclaim.processor.engine.api.EngineCatalog.REPLAY_HORIZON;
import static io.firstclaim.processor.engine.api.EngineCatalog.RESOURCES;
import static io.firstclaim.processor.engine.api.EngineCatalog.RETENTION;
import static io.firstclaim.processor.engine.api.EngineCatalog.SHUTDOWN_GRACE;
import static io.firstclaim.processor.engine.api.EngineCatalog.TOPICS;
import static io.firstclaim.processor.engine.api.EngineCatalog.ZONE;
import static io.firstclaim.processor.engine.api.EngineCatalog.ZONES;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.processor.engine.setting.Setting;
import io.firstclaim.processor.engine.setting.Settings;
import io.firstclaim.processor.engine.setting.WrongSettingException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The values that an engine runs by, all right by themselves and together, though Kafka and the
 * lock store may still disagree. {@link EngineCatalog} says what each means. Immutable and
 * thread-safe.
 */
public final class EngineSettings {
  private static final String DEAD_LETTERS = ".dlt";
  private static final String SHADOW = "-shadow";

  /**
   * What the engine sets of Kafka's clients itself, as with anything else records would be lost.
   */
  private static final List<KafkaOwn> OWN_OF_KAFKA =
      List.of(
          new KafkaOwn(
              "auto.offset.reset",
              List.of("earliest"),
              "a new consumer group would skip all records that are there"),
          new KafkaOwn(
              "isolation.level",
              List.of("read_committed"),
              "records of aborted transactions would be handled"),
          new KafkaOwn(
              "enable.auto.commit",
              List.of("false"),
              "offsets would be committed before their records are done"),
          new KafkaOwn("acks", List.of("all", "-1"), "a dead letter could be lost with one broker"),
          new KafkaOwn(
              "enable.idempotence", List.of("true"), "a dead letter could be written twice"));

  private record KafkaOwn(String name, List<String> values, String lost) {}

  private static final int MAX_TOPIC = 249;

  private final Settings values = Settings.none();
  private final Input input;
  private final Claiming claim;
  private final Retrying retry;

  private EngineSettings(Settings given) {
    values.takeOver(EngineCatalog.all(), given);
    input =
        new Input(
            given.get(TOPICS),
            apart(given, given.get(GROUP)),
            given.get(RECORD_ID),
            given.get(ORDERING),
            given.get(MAX_IN_FLIGHT),
            given.get(MAX_PARKED),
            given.get(MAX_BUFFERED),
            given.get(REPLAY_HORIZON));
    claim =
        new Claiming(
            claims(
                given, new Holder(given.get(ZONE), given.get(EngineCatalog.INSTANCE)).toString()),
            given.get(RENEW),
            given.get(HEAD_START),
            given.get(ON_MISMATCH),
            given.get(RESOURCES));
    retry =
        new Retrying(
            isShadow(given) ? Integer.MAX_VALUE : given.get(MAX_ATTEMPTS),
            given.get(BACKOFF),
            given.get(MAX_BACKOFF));
  }

  /**
   * The settings that were given, and the defaults of all others.
   *
   * @throws io.firstclaim.processor.engine.setting.WrongSettingsException if some are wrong or
   *     missing, with a line for each
   */
  public static EngineSettings of(Settings given) {
    check(given);
    given.requireRight();
    return new EngineSettings(given);
  }

  /**
   * Notes what is wrong with the engine's settings, each by itself and together.
   *
   * @return what the topics are used for, to which others may add their uses
   */
  public static TopicUses check(Settings given) {
    given.areRight(EngineCatalog.all().toArray(Setting<?>[]::new));
    given
        .find(ZONE)
        .ifPresent(
            zone ->
                given.require(
                    ZONES,
                    zones -> zones.isEmpty() || zones.contains(zone),
                    "this instance's %s=%s must be in it".formatted(ZONE, zone)));
    Optional<ClaimSettings> _ = claims(given);
    requireNotShorter(given, MAX_BACKOFF, BACKOFF);
    if (given.find(DEAD_LETTER_TOPIC).filter(Optional::isEmpty).isPresent()) {
      given.find(TOPICS).ifPresent(topics -> requireRoomForDeadLetters(given, topics));
    }
    given.find(KAFKA).ifPresent(kafka -> checkKafka(given, kafka));
    return new TopicUses(given);
  }

  /**
   * What the lock store alone is opened with: the claims of an instance of no known zone. Empty if
   * a setting of theirs is wrong, which is noted.
   */
  public static Optional<ClaimSettings> claims(Settings given) {
    requireNotShorter(given, RETENTION, LEASE);
    if (!given.areRight(MODE, NAMESPACE, EngineCatalog.INSTANCE, LEASE, MAX_SKEW, RETENTION)) {
      return Optional.empty();
    }
    try {
      return Optional.of(claims(given, given.get(EngineCatalog.INSTANCE)));
    } catch (IllegalArgumentException e) {
      given.wrong(LEASE, String.valueOf(e.getMessage()));
      return Optional.empty();
    }
  }

  private static ClaimSettings claims(Settings given, String holder) {
    return new ClaimSettings(
        apart(given, given.get(NAMESPACE)),
        holder,
        given.get(LEASE),
        given.get(MAX_SKEW),
        given.get(RETENTION));
  }

  /**
   * A name that is shared by the instances of an application. In shadow mode it is another, even
   * where it is given: whoever tries that takes the settings of the application in force, whose
   * partitions, offsets and claims it must not touch.
   */
  private static String apart(Settings given, String name) {
    return isShadow(given) ? name + SHADOW : name;
  }

  private static boolean isShadow(Settings given) {
    return given.find(MODE).filter(Mode.SHADOW::equals).isPresent();
  }

  /** The name of the application: in shadow mode it is one of its own. */
  public static String applicationOf(Settings given) {
    return apart(given, given.get(APPLICATION));
  }

  static Optional<String> outcomesTopicOf(Settings given) {
    return given.get(OUTCOMES_TOPIC).map(topic -> apart(given, topic));
  }

  private static void requireNotShorter(
      Settings given, Setting<Duration> setting, Setting<Duration> than) {
    given
        .find(than)
        .ifPresent(
            least ->
                given.require(
                    setting,
                    length -> length.compareTo(least) >= 0,
                    "it must not be shorter than %s=%s".formatted(than, given.text(than))));
  }

  private static void requireRoomForDeadLetters(Settings given, List<String> topics) {
    int longest = MAX_TOPIC - DEAD_LETTERS.length();
    topics.stream()
        .filter(topic -> topic.length() > longest)
        .forEach(
            topic ->
                given.wrong(
                    TOPICS, topic, "a topic has 1 to %d of a-z A-Z 0-9 . _ -".formatted(longest)));
  }

  private static void checkKafka(Settings given, Map<String, Object> kafka) {
    if (kafka.getOrDefault("bootstrap.servers", "").toString().isBlank()) {
      given.wrong(
          new WrongSettingException(
              "kafka.bootstrap.servers", null, "give the brokers, such as localhost:9092"));
    }
    if (kafka.containsKey("group.id")) {
      given.wrong(
          new WrongSettingException(
              "kafka.group.id",
              String.valueOf(kafka.get("group.id")),
              "leave it out; the consumer group is <application>-<zone>, or what %s names"
                  .formatted(GROUP)));
    }
    OWN_OF_KAFKA.forEach(
        own -> {
          String value = String.valueOf(kafka.getOrDefault(own.name(), own.values().getFirst()));
          if (own.values().stream().noneMatch(value::equalsIgnoreCase)) {
            given.wrong(
                new WrongSettingException(
                    "kafka." + own.name(),
                    value,
                    "leave it out; with anything but %s, %s"
                        .formatted(own.values().getFirst(), own.lost())));
          }
        });
  }

  /** These values, as given to whatever else they are for. */
  public Settings asGiven() {
    Settings given = Settings.none();
    given.takeOver(EngineCatalog.all(), values);
    return given;
  }

  /** Names everything that two applications must not share. */
  public String application() {
    return applicationOf(values);
  }

  /** Whether records are handled. */
  public Mode mode() {
    return values.get(MODE);
  }

  /** This deployment's zone. */
  public String zone() {
    return values.get(ZONE);
  }

  /** All zones, this one among them; empty if records have no preferred zone. */
  public List<String> zones() {
    return values.get(ZONES);
  }

  /** What is read. */
  public Input input() {
    return input;
  }

  /** What becomes of a record that is older than what claims remember. */
  public TooOld tooOld() {
    return values.get(EngineCatalog.TOO_OLD);
  }

  /** How it is claimed. */
  public Claiming claim() {
    return claim;
  }

  /** What happens when its handler fails. */
  public Retrying retry() {
    return retry;
  }

  /** How long until a handler is interrupted and its attempt fails. */
  public Duration handlerTimeout() {
    return values.get(HANDLER_TIMEOUT);
  }

  /** How many handlers may begin in a second; empty for any number. */
  public Optional<Integer> handlerRate() {
    return values.get(HANDLER_RATE);
  }

  /** The dead-letter topic for all input topics; if empty, {@code <topic>.dlt} for each. */
  public Optional<String> deadLetterTopic() {
    return values.get(DEAD_LETTER_TOPIC);
  }

  /** Where the dead letters of this input topic go. */
  public String deadLetterTopicOf(String inputTopic) {
    return deadLetterTopicOf(deadLetterTopic(), inputTopic);
  }

  static String deadLetterTopicOf(Optional<String> one, String inputTopic) {
    return one.orElse(inputTopic + DEAD_LETTERS);
  }

  /** Where outcomes are published and heard; if empty, nowhere. */
  public Optional<String> outcomesTopic() {
    return outcomesTopicOf(values);
  }

  /**
   * Whether an outcome heard is enough to skip a record. Not in shadow mode: only the claim says
   * which record it was of.
   */
  public Trust outcomesTrust() {
    return mode() == Mode.SHADOW ? Trust.VERIFY : values.get(OUTCOMES_TRUST);
  }

  /** How long running handlers may finish when the engine is told to stop. */
  public Duration shutdownGrace() {
    return values.get(SHUTDOWN_GRACE);
  }

  /** Passed to the Kafka clients as they are; {@code bootstrap.servers} is among them. */
  public Map<String, Object> kafka() {
    return values.get(KAFKA);
  }

  /** Leaves out what is passed to the Kafka clients, which holds secrets. */
  @Override
  public String toString() {
    return "EngineSettings" + values.inForce();
  }

  /**
   * What is read.
   *
   * @param topics the input topics, at least one
   * @param group the consumer group: one per zone, so that every zone receives everything
   * @param recordId where the ID is, the first that yields one
   * @param ordering which records wait for each other
   * @param maxInFlight records being claimed or handled at once
   * @param maxParked records waiting for something
   * @param maxBuffered bytes of records in memory: keys, values and headers, and what is known of
   *     those that have ended; a record that is larger enters alone
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
    private static final int SHARE_OF_ENDS = 8;

    /** What of {@link #maxBuffered} is for records. */
    public long bufferedForRecords() {
      return maxBuffered - bufferedForEnds();
    }

    /** What of {@link #maxBuffered} is for the IDs of records that are known to have ended. */
    public long bufferedForEnds() {
      return maxBuffered / SHARE_OF_ENDS;
    }
  }

  /** What is done with records. */
  public enum Mode {
    /** They are handled. */
    PROCESS,
    /**
     * They are claimed and completed at once, and it is told what would have become of them; no
     * handler is called and no dead letter written.
     */
    SHADOW
  }

  /** Which records wait for each other. */
  public enum Ordering {
    /** No record waits for another. */
    UNORDERED,
    /** Records of one Kafka key wait for each other. */
    KEY,
    /** Records of one partition wait for each other. */
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
      List<ResourceSource> resources) {}

  /** What becomes of a record that is older than what claims remember. */
  public enum TooOld {
    /** It is processed, counted and warned of. */
    PROCESS,
    /** It is given up. */
    DEAD_LETTER
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
  public record Retrying(int maxAttempts, Duration backoff, Duration maxBackoff) {}
}
