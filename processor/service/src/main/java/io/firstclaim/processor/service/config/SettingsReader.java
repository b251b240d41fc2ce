package io.firstclaim.processor.service.config;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.engine.api.Holder;
import io.firstclaim.processor.engine.api.RecordIdSource;
import io.micronaut.context.env.Environment;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reads the settings from wherever Micronaut found them and checks them. The first wrong one stops
 * the start.
 */
public final class SettingsReader {
  private static final Pattern ZONE = Pattern.compile("[a-z0-9-]{1,32}");
  private static final Pattern TOPIC = Pattern.compile("[a-zA-Z0-9._-]+");
  private static final Pattern TABLE = Pattern.compile("[a-zA-Z0-9._-]{3,255}");
  private static final Pattern BUCKET = Pattern.compile("[a-zA-Z0-9._-]{3,63}");
  private static final Pattern PREFIX = Pattern.compile("(?=.{1,200}$)([a-zA-Z0-9._-]+/)+");
  private static final int MAX_TOPIC = 249;
  private static final int MAX_RECORDS = 1_000_000;
  private static final int MAX_NAME = 128;

  /** A longer one overflows somewhere; nobody means it. */
  private static final Duration LONGEST = Duration.ofDays(36_500);

  private final Environment environment;

  private SettingsReader(Environment environment) {
    this.environment = environment;
  }

  /**
   * The settings.
   *
   * @throws WrongSettingException if one is wrong or missing
   */
  public static ServiceSettings read(Environment environment) {
    return new SettingsReader(environment).settings();
  }

  /**
   * The settings of the lock store alone, for whom zone, topics and Kafka are no concern.
   *
   * @throws WrongSettingException if one is wrong or missing
   */
  public static ServiceSettings.Claiming readClaiming(Environment environment) {
    return new SettingsReader(environment).claiming("none");
  }

  private ServiceSettings settings() {
    String zone = zone(required("firstclaim.zone", "name this deployment's zone, such as a"));
    EngineSettings.Input input = input(zone);
    ServiceSettings.Claiming claim = claiming(zone);
    ServiceSettings.Handling handling = handling(claim.s3());
    Optional<String> deadLetterTopic = deadLetterTopic(input.topics());
    Optional<String> outcomesTopic = outcomesTopic();
    requireApart(input.topics(), deadLetterTopic, outcomesTopic, handling.topicName());
    return new ServiceSettings(
        new EngineSettings(
            "firstclaim",
            zone,
            zones(zone),
            input,
            new EngineSettings.Claiming(
                claim.store(),
                flag("firstclaim.claim.renew", true),
                duration("firstclaim.claim.head-start", "100ms", false),
                choice("firstclaim.claim.on-mismatch", EngineSettings.OnMismatch.DEAD_LETTER)),
            retrying(),
            positive("firstclaim.handler.timeout", "5m"),
            deadLetterTopic,
            outcomesTopic,
            positive("firstclaim.shutdown.grace", "30s"),
            kafka()),
        claim,
        handling);
  }

  private String zone(String zone) {
    if (!ZONE.matcher(zone).matches()) {
      throw new WrongSettingException(
          "firstclaim.zone", zone, "a zone has 1 to 32 of a-z, 0-9 and -");
    }
    return zone;
  }

  private List<String> zones(String zone) {
    List<String> zones = list("firstclaim.zones");
    String given = String.join(",", zones);
    if (zones.stream().anyMatch(name -> !ZONE.matcher(name).matches())
        || zones.stream().distinct().count() != zones.size()) {
      throw new WrongSettingException(
          "firstclaim.zones", given, "give each zone once, of a-z, 0-9 and -, such as a,b");
    }
    if (!zones.isEmpty() && !zones.contains(zone)) {
      throw new WrongSettingException(
          "firstclaim.zones", given, "this instance's firstclaim.zone=" + zone + " must be in it");
    }
    return zones;
  }

  private EngineSettings.Input input(String zone) {
    List<String> topics = list("firstclaim.input.topics");
    if (topics.isEmpty()) {
      throw new WrongSettingException(
          "firstclaim.input.topics", null, "name the input topics, comma-separated");
    }
    topics.forEach(topic -> topic("firstclaim.input.topics", topic));
    return new EngineSettings.Input(
        topics,
        text("firstclaim.input.group", "firstclaim-" + zone),
        parsed("firstclaim.input.record-id", "header:ce_id,key", RecordIdSource::parseList),
        choice("firstclaim.input.ordering", EngineSettings.Ordering.UNORDERED),
        count("firstclaim.input.max-in-flight", 1000),
        count("firstclaim.input.max-parked", 10_000),
        optional("firstclaim.input.replay-horizon")
            .map(value -> duration("firstclaim.input.replay-horizon", value)));
  }

  private ServiceSettings.Claiming claiming(String zone) {
    ServiceSettings.Backend backend =
        choice("firstclaim.claim.backend", ServiceSettings.Backend.DYNAMODB);
    String holder = new Holder(zone, named("firstclaim.instance", instance())).toString();
    Duration lease = positive("firstclaim.claim.lease", "30s");
    Duration maxSkew = duration("firstclaim.claim.max-skew", "1s", false);
    Duration retention = positive("firstclaim.claim.retention", "8d");
    String namespace = named("firstclaim.claim.namespace", "default");
    if (retention.compareTo(lease) < 0) {
      throw new WrongSettingException(
          "firstclaim.claim.retention",
          text("firstclaim.claim.retention", "8d"),
          "it must not be shorter than firstclaim.claim.lease="
              + text("firstclaim.claim.lease", "30s"));
    }
    ClaimSettings store;
    try {
      store = new ClaimSettings(namespace, holder, lease, maxSkew, retention);
    } catch (IllegalArgumentException e) {
      throw new WrongSettingException(
          "firstclaim.claim.lease",
          text("firstclaim.claim.lease", "30s"),
          String.valueOf(e.getMessage()));
    }
    return new ServiceSettings.Claiming(
        backend,
        store,
        table(),
        flag("firstclaim.claim.create", false),
        backend == ServiceSettings.Backend.S3 ? Optional.of(s3()) : Optional.empty());
  }

  private String table() {
    String table = text("firstclaim.claim.dynamodb.table", "firstclaim");
    if (!TABLE.matcher(table).matches()) {
      throw new WrongSettingException(
          "firstclaim.claim.dynamodb.table", table, "a table has 3 to 255 of a-z A-Z 0-9 . _ -");
    }
    return table;
  }

  private ServiceSettings.S3 s3() {
    String bucket =
        required("firstclaim.claim.s3.bucket", "name the bucket that claims are kept in");
    if (!BUCKET.matcher(bucket).matches()) {
      throw new WrongSettingException(
          "firstclaim.claim.s3.bucket", bucket, "a bucket has 3 to 63 of a-z A-Z 0-9 . _ -");
    }
    String prefix = text("firstclaim.claim.s3.prefix", "claims/");
    if (!PREFIX.matcher(prefix).matches()) {
      throw new WrongSettingException(
          "firstclaim.claim.s3.prefix",
          prefix,
          "give up to 200 of a-z A-Z 0-9 . _ - in parts that end in /, such as claims/");
    }
    return new ServiceSettings.S3(
        bucket, prefix, duration("firstclaim.claim.s3.sweep", "1d", false));
  }

  private ServiceSettings.Handling handling(Optional<ServiceSettings.S3> claims) {
    String type = text("firstclaim.handler.type", "log");
    Optional<String> url = optional("firstclaim.handler.http.url");
    if (type.equals("http") && url.isEmpty()) {
      throw new WrongSettingException(
          "firstclaim.handler.http.url", null, "the http handler needs the URL to post to");
    }
    Optional<String> topic =
        optional("firstclaim.handler.topic.name")
            .map(name -> topic("firstclaim.handler.topic.name", name));
    if (type.equals("topic") && topic.isEmpty()) {
      throw new WrongSettingException(
          "firstclaim.handler.topic.name", null, "the topic handler needs the topic to publish to");
    }
    return new ServiceSettings.Handling(
        type,
        url.map(SettingsReader::url),
        positive("firstclaim.handler.http.timeout", "30s"),
        topic,
        type.equals("dataset")
            ? Optional.of(DatasetReader.read(this::optional, this::positive, claims))
            : Optional.empty());
  }

  private EngineSettings.Retrying retrying() {
    Duration backoff = positive("firstclaim.retry.backoff", "1s");
    Duration maxBackoff = positive("firstclaim.retry.max-backoff", "1m");
    if (maxBackoff.compareTo(backoff) < 0) {
      throw new WrongSettingException(
          "firstclaim.retry.max-backoff",
          text("firstclaim.retry.max-backoff", "1m"),
          "it must not be shorter than firstclaim.retry.backoff="
              + text("firstclaim.retry.backoff", "1s"));
    }
    return new EngineSettings.Retrying(
        count("firstclaim.retry.max-attempts", 5), backoff, maxBackoff);
  }

  private Map<String, Object> kafka() {
    Map<String, Object> given = environment.getProperties("kafka");
    Map<String, Object> kafka =
        given.entrySet().stream()
            .filter(entry -> !(entry.getValue() instanceof Map))
            // A variable KAFKA_MAX_POLL_RECORDS is read as max.poll.records, max-poll.records, ...
            .filter(
                entry ->
                    !entry.getKey().contains("-")
                        || !given.containsKey(entry.getKey().replace('-', '.')))
            .collect(Collectors.toUnmodifiableMap(Map.Entry::getKey, Map.Entry::getValue));
    if (kafka.getOrDefault("bootstrap.servers", "").toString().isBlank()) {
      throw new WrongSettingException(
          "kafka.bootstrap.servers", null, "give the brokers, such as localhost:9092");
    }
    return kafka;
  }

  private static String instance() {
    String random = HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextLong()).substring(8);
    try {
      return InetAddress.getLocalHost().getHostName() + "-" + random;
    } catch (UnknownHostException e) {
      return "unknown-host-" + random;
    }
  }

  private static String topic(String property, String name) {
    return topic(property, name, MAX_TOPIC);
  }

  private static String topic(String property, String name, int longest) {
    if (name.length() > longest
        || !TOPIC.matcher(name).matches()
        || name.equals(".")
        || name.equals("..")) {
      throw new WrongSettingException(
          property, name, "a topic has 1 to %d of a-z A-Z 0-9 . _ -".formatted(longest));
    }
    return name;
  }

  private Optional<String> deadLetterTopic(List<String> inputs) {
    String property = "firstclaim.dead-letter.topic";
    Optional<String> topic = optional(property).map(name -> topic(property, name));
    if (topic.isEmpty()) {
      inputs.forEach(input -> topic("firstclaim.input.topics", input, MAX_TOPIC - ".dlt".length()));
    }
    return topic;
  }

  private Optional<String> outcomesTopic() {
    String property = "firstclaim.outcomes.topic";
    String name = text(property, "firstclaim.outcomes");
    if (name.equals("none")) {
      return Optional.empty();
    }
    return Optional.of(topic(property, name));
  }

  /**
   * What is written for a record must not come back as a record, and no reader of a topic expects
   * there what is written to another.
   */
  private static void requireApart(
      List<String> inputs,
      Optional<String> deadLetterTopic,
      Optional<String> outcomesTopic,
      Optional<String> handlerTopic) {
    Map<String, String> uses = new HashMap<>();
    inputs.forEach(input -> uses.put(input, "one of firstclaim.input.topics"));
    inputs.stream()
        .map(input -> deadLetterTopic.orElse(input + ".dlt"))
        .distinct()
        .forEach(topic -> use("firstclaim.dead-letter.topic", topic, uses));
    outcomesTopic.ifPresent(topic -> use("firstclaim.outcomes.topic", topic, uses));
    handlerTopic.ifPresent(topic -> use("firstclaim.handler.topic.name", topic, uses));
  }

  private static void use(String property, String topic, Map<String, String> uses) {
    String use = uses.put(topic, property);
    if (use != null) {
      throw new WrongSettingException(
          property, topic, "it is %s; give another topic".formatted(use));
    }
  }

  private static URI url(String value) {
    try {
      return URI.create(value);
    } catch (IllegalArgumentException e) {
      throw new WrongSettingException(
          "firstclaim.handler.http.url",
          value.contains("@") ? "(hidden: it may have a password)" : value,
          "give an http or https URL, such as http://127.0.0.1:8000/records");
    }
  }

  private String named(String property, String fallback) {
    String name = text(property, fallback);
    if (name.length() > MAX_NAME || !name.chars().allMatch(c -> c > ' ' && c < 0x7f)) {
      throw new WrongSettingException(
          property, name, "give 1 to " + MAX_NAME + " printable ASCII characters, no blanks");
    }
    return name;
  }

  private Optional<String> optional(String property) {
    return environment
        .getProperty(property, String.class)
        .map(String::strip)
        .filter(value -> !value.isEmpty());
  }

  private String required(String property, String remedy) {
    return optional(property).orElseThrow(() -> new WrongSettingException(property, null, remedy));
  }

  private String text(String property, String fallback) {
    return optional(property).orElse(fallback);
  }

  private List<String> list(String property) {
    return optional(property).stream()
        .flatMap(value -> Arrays.stream(value.split(",")))
        .map(String::strip)
        .filter(value -> !value.isEmpty())
        .toList();
  }

  private int count(String property, int fallback) {
    String value = text(property, Integer.toString(fallback));
    try {
      int count = Integer.parseInt(value);
      if (count >= 1 && count <= MAX_RECORDS) {
        return count;
      }
    } catch (NumberFormatException e) {
      // falls through to the same remedy
    }
    throw new WrongSettingException(property, value, "give a number from 1 to " + MAX_RECORDS);
  }

  private boolean flag(String property, boolean fallback) {
    String value = text(property, Boolean.toString(fallback)).toLowerCase(Locale.ROOT);
    return switch (value) {
      case "true" -> true;
      case "false" -> false;
      default -> throw new WrongSettingException(property, value, "give true or false");
    };
  }

  private <E extends Enum<E>> E choice(String property, E fallback) {
    @Nullable String value = optional(property).orElse(null);
    if (value == null) {
      return fallback;
    }
    E[] choices = fallback.getDeclaringClass().getEnumConstants();
    return Stream.of(choices)
        .filter(choice -> name(choice).equals(value))
        .findFirst()
        .orElseThrow(
            () ->
                new WrongSettingException(
                    property,
                    value,
                    "give one of "
                        + Stream.of(choices)
                            .map(SettingsReader::name)
                            .collect(Collectors.joining(", "))));
  }

  private static String name(Enum<?> choice) {
    return choice.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  private Duration positive(String property, String fallback) {
    return duration(property, fallback, true);
  }

  private Duration duration(String property, String value) {
    return duration(property, value, true);
  }

  private Duration duration(String property, String fallback, boolean positive) {
    String value = text(property, fallback);
    Duration duration = environment.convert(value, Duration.class).orElse(null);
    if (duration == null
        || duration.isNegative()
        || (positive && duration.isZero())
        || duration.compareTo(LONGEST) > 0) {
      throw new WrongSettingException(
          property, value, "give a duration such as 500ms, 30s, 5m, 12h or 8d");
    }
    return duration;
  }

  private <T> T parsed(String property, String fallback, Function<String, T> parser) {
    String value = text(property, fallback);
    try {
      return parser.apply(value);
    } catch (IllegalArgumentException e) {
      throw new WrongSettingException(property, value, String.valueOf(e.getMessage()));
    }
  }
}
