package io.firstclaim.processor.service.config;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.processor.audit.api.AuditSettings;
import io.firstclaim.processor.dataset.DatasetSettings;
import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.engine.api.Holder;
import io.firstclaim.processor.service.handler.HttpHandler;
import io.firstclaim.processor.service.handler.StatusMeanings;
import io.firstclaim.processor.service.security.TokenFile;
import io.firstclaim.processor.service.security.WrongTokenFileException;
import io.micronaut.context.env.Environment;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Reads the settings from wherever Micronaut found them, checks them each and together, and turns
 * them into what the parts of the service take. Reports everything that is wrong at once.
 */
public final class SettingsReader {
  private static final int MAX_TOPIC = 249;
  private static final String TRACES_EXPORTER = "otel.traces.exporter";
  private static final String DEAD_LETTERS = ".dlt";

  /** The longest registry interval: a record may wait that long in its handler. */
  private static final Duration LONGEST_INTERVAL = Duration.ofSeconds(10);

  private final Environment environment;
  private final Binder binder;
  private final List<String> unused = new ArrayList<>();

  private SettingsReader(Environment environment) {
    this.environment = environment;
    this.binder = new Binder(environment);
    GivenNames.of(environment).unknown().forEach(binder::wrong);
  }

  /**
   * The settings.
   *
   * @param known the user's handlers, of which the settings may choose one
   * @param more faults that are known already
   * @throws WrongSettingsException if some are wrong or missing
   */
  public static ServiceSettings read(
      Environment environment, KnownHandlers known, List<WrongSettingException> more) {
    SettingsReader reader = new SettingsReader(environment);
    more.forEach(reader.binder::wrong);
    return reader.settings(known);
  }

  /**
   * The settings of the lock store alone, which needs no zone, topics or Kafka.
   *
   * @throws WrongSettingsException if some are wrong or missing
   */
  public static StoreSettings readStore(Environment environment) {
    SettingsReader reader = new SettingsReader(environment);
    Properties.Names names = reader.binder.bind(Properties.Names.class);
    Properties.Claim claim = reader.binder.bind(Properties.Claim.class);
    StoreSettings settings =
        new StoreSettings(reader.claims(names, claim, "none"), reader.backend(claim));
    reader.binder.requireRight();
    return settings;
  }

  /**
   * The settings of the dataset alone, which needs no zone, topics or Kafka, nor that it is the
   * handler.
   *
   * @throws WrongSettingsException if some are wrong or missing
   */
  public static DatasetSettings readDataset(Environment environment) {
    SettingsReader reader = new SettingsReader(environment);
    Properties.Claim claim = reader.binder.bind(Properties.Claim.class);
    DatasetSettings settings = reader.dataset(reader.backend(claim));
    reader.binder.requireRight();
    return settings;
  }

  private ServiceSettings settings(KnownHandlers known) {
    Properties.Names names = binder.bind(Properties.Names.class);
    Properties.Zones zone = binder.bind(Properties.Zones.class);
    List<String> zones = zones(zone);
    Properties.Input input = binder.bind(Properties.Input.class);
    String group = input.group() == null ? names.application() + "-" + zone.zone() : input.group();
    binder.force("firstclaim.input.group", group);
    long maxBuffered =
        input.maxBuffered() == null
            ? EngineSettings.Input.suitableMaxBuffered()
            : input.maxBuffered().bytes();
    binder.force("firstclaim.input.max-buffered", Text.Memory.text(maxBuffered));
    Properties.Claim claim = binder.bind(Properties.Claim.class);
    ClaimSettings claims = claims(names, claim, zone.zone());
    Backend backend = backend(claim);
    Properties.Handler handler = binder.bind(Properties.Handler.class);
    Handling handling = handling(handler, backend, known);
    Properties.Retry retry = retrying();
    Optional<String> deadLetterTopic = deadLetterTopic(input.topics());
    Properties.Outcomes outcomes = binder.bind(Properties.Outcomes.class);
    Optional<String> outcomesTopic = outcomesTopic(names.application(), outcomes.topic());
    Optional<Path> tokenFile = tokenFile();
    Properties.Audit audit = binder.bind(Properties.Audit.class);
    Optional<String> violationsTopic =
        Optional.of(AuditSettings.violationsTopicOf(names.application()))
            .filter(_ -> audit.enabled() && outcomesTopic.isPresent());
    List<String> ownTopics = new ArrayList<>(violationsTopic.stream().toList());
    tokenFile.ifPresent(_ -> ownTopics.add(names.application() + ".acts"));
    requireApart(input.topics(), deadLetterTopic, outcomesTopic, ownTopics, handling);
    Duration grace = binder.bind(Properties.Shutdown.class).grace();
    Map<String, Object> kafka = kafka();
    Auditing auditing =
        new AuditReader(binder, environment)
            .read(audit, names.application(), zone.zone(), claims, outcomesTopic, kafka);
    boolean traced = traced();
    binder.requireRight();
    EngineSettings engine =
        new EngineSettings(
            names.application(),
            zone.zone(),
            zones,
            new EngineSettings.Input(
                input.topics(),
                group,
                input.recordId(),
                input.ordering(),
                input.maxInFlight(),
                input.maxParked(),
                maxBuffered,
                Optional.ofNullable(input.replayHorizon())),
            new EngineSettings.Claiming(
                claims,
                claim.renew(),
                claim.headStart().set(),
                claim.onMismatch(),
                claim.resources() == null ? List.of() : claim.resources()),
            new EngineSettings.Retrying(retry.maxAttempts(), retry.backoff(), retry.maxBackoff()),
            handler.timeout(),
            deadLetterTopic,
            outcomesTopic,
            outcomes.trust(),
            grace,
            kafka);
    return new ServiceSettings(
        engine,
        backend.beside(handling),
        handling,
        auditing,
        traced,
        tokenFile,
        binder.inForce(),
        List.copyOf(unused));
  }

  /** OpenTelemetry reads its settings by itself; this one decides whether it is there at all. */
  private boolean traced() {
    String exporter = binder.text(TRACES_EXPORTER).orElse("none");
    binder.force(TRACES_EXPORTER, exporter);
    return switch (exporter) {
      case "none" -> false;
      case "otlp" -> !environment.getProperty("otel.sdk.disabled", Boolean.class).orElse(false);
      default -> {
        binder.wrong(TRACES_EXPORTER, exporter, "give otlp, or none to trace nothing");
        yield false;
      }
    };
  }

  private List<String> zones(Properties.Zones given) {
    List<String> zones = given.zones() == null ? List.of() : given.zones();
    if (binder.areRight("firstclaim.zones")) {
      if (zones.stream().distinct().count() != zones.size()) {
        binder.wrong(
            "firstclaim.zones",
            String.join(",", zones),
            "give each zone once, of a-z, 0-9 and -, such as a,b");
      } else if (binder.areRight("firstclaim.zone")
          && !zones.isEmpty()
          && !zones.contains(given.zone())) {
        binder.wrong(
            "firstclaim.zones",
            String.join(",", zones),
            "this instance's firstclaim.zone=" + given.zone() + " must be in it");
      }
    }
    return zones;
  }

  private ClaimSettings claims(Properties.Names names, Properties.Claim claim, String zone) {
    String namespace = claim.namespace() == null ? names.application() : claim.namespace();
    String instance = names.instance() == null ? randomInstance() : names.instance();
    binder.force("firstclaim.claim.namespace", namespace);
    binder.force("firstclaim.instance", instance);
    String holder = new Holder(zone, instance).toString();
    String lease = "firstclaim.claim.lease";
    String retention = "firstclaim.claim.retention";
    String skew = "firstclaim.claim.max-skew";
    if (binder.areRight(lease, retention) && claim.retention().compareTo(claim.lease()) < 0) {
      binder.wrong(
          retention,
          binder.text(retention).orElse(null),
          "it must not be shorter than %s=%s".formatted(lease, binder.inForce().get(lease)));
    } else if (binder.areRight(lease, retention, skew)) {
      if (claim.maxSkew().compareTo(ClaimSettings.LEAST_SKEW) < 0) {
        binder.wrong(skew, binder.inForce().get(skew), "give 500ms or more");
        return ClaimSettings.of("none", "none");
      }
      try {
        return new ClaimSettings(
            namespace, holder, claim.lease(), claim.maxSkew(), claim.retention());
      } catch (IllegalArgumentException e) {
        binder.wrong(lease, binder.inForce().get(lease), String.valueOf(e.getMessage()));
      }
    }
    return ClaimSettings.of("none", "none");
  }

  private Backend backend(Properties.Claim claim) {
    Backend backend =
        switch (claim.backend()) {
          case DYNAMODB -> {
            Properties.DynamoDb dynamoDb = binder.bind(Properties.DynamoDb.class);
            yield new Backend.DynamoDb(dynamoDb.table(), dynamoDb.batch(), claim.create());
          }
          case S3 -> {
            Properties.S3 s3 = binder.bind(Properties.S3.class);
            yield new Backend.S3(s3.bucket(), s3.prefix(), s3.sweep(), claim.create());
          }
          case MEMORY -> new Backend.Memory();
        };
    if (!(backend instanceof Backend.DynamoDb)) {
      unused(Properties.DynamoDb.class);
    }
    if (!(backend instanceof Backend.S3)) {
      unused(Properties.S3.class);
    }
    return backend;
  }

  private Handling handling(Properties.Handler handler, Backend backend, KnownHandlers known) {
    String type = handler.type();
    Handling handling =
        switch (type == null ? "" : type) {
          case "log" -> new Handling.Log();
          case "http" -> http();
          case "topic" -> new Handling.Topic(binder.bind(Properties.Topic.class).name());
          case "dataset" -> new Handling.Dataset(dataset(backend));
          default -> ownHandler(handler, known);
        };
    if (!(handling instanceof Handling.Http)) {
      unused(Properties.Http.class);
    }
    if (!(handling instanceof Handling.Topic)) {
      unused(Properties.Topic.class);
    }
    if (!(handling instanceof Handling.Dataset)) {
      unused(Properties.Dataset.class);
    }
    if (!(handling instanceof Handling.Bean) && handler.path() != null) {
      unused.add(HandlerJars.PROPERTY);
    }
    return handling;
  }

  private Handling ownHandler(Properties.Handler handler, KnownHandlers known) {
    HandlerJars.fault(handler.path()).ifPresent(binder::wrong);
    String type = handler.type() == null ? "" : handler.type();
    if (!known.has(type)) {
      String found =
          known.names().isEmpty()
              ? "the name of a RecordHandler of yours, whose jar is in firstclaim.handler.path"
              : "one of your handlers: " + String.join(", ", known.names());
      String choices = "log (marks all records done), http, topic, dataset or " + found;
      binder.wrong(
          "firstclaim.handler.type",
          handler.type(),
          handler.type() == null
              ? "say what is done with a record: " + choices
              : "there is no such handler; give " + choices);
    }
    return new Handling.Bean(type);
  }

  private Handling http() {
    Properties.Http http = binder.bind(Properties.Http.class);
    String property = "firstclaim.handler.http.url";
    if (binder.areRight(property)) {
      try {
        HttpHandler.requireUsable(http.url());
      } catch (IllegalArgumentException e) {
        binder.wrong(property, http.url().toString(), String.valueOf(e.getMessage()));
      }
    }
    return new Handling.Http(http.url(), http.timeout(), meanings(http));
  }

  private StatusMeanings meanings(Properties.Http http) {
    String property = "firstclaim.handler.http.dead-letter-on";
    if (!binder.areRight(property, "firstclaim.handler.http.unavailable-on")) {
      return StatusMeanings.DEFAULT;
    }
    StatusMeanings meanings =
        new StatusMeanings(statuses(http.unavailableOn()), statuses(http.deadLetterOn()));
    if (!Collections.disjoint(meanings.unavailableOn(), meanings.deadLetterOn())) {
      binder.wrong(
          property,
          binder.inForce().get(property),
          "name no status that is in firstclaim.handler.http.unavailable-on too");
    }
    return meanings;
  }

  private static Set<Integer> statuses(@Nullable List<String> given) {
    return given == null
        ? Set.of()
        : given.stream().map(Integer::valueOf).collect(Collectors.toUnmodifiableSet());
  }

  private DatasetSettings dataset(Backend backend) {
    Properties.Dataset given = binder.bind(Properties.Dataset.class);
    String bucket = given.bucket();
    if (bucket == null && backend instanceof Backend.S3 claims) {
      bucket = claims.bucket();
    }
    String prefix = given.prefix() == null ? "" : given.prefix();
    String bucketProperty = "firstclaim.handler.dataset.bucket";
    String prefixProperty = "firstclaim.handler.dataset.prefix";
    if (bucket == null && binder.areRight(bucketProperty, "firstclaim.claim.backend")) {
      binder.wrong(bucketProperty, null, "name the bucket that the dataset is kept in");
    }
    if (backend instanceof Backend.S3 claims
        && claims.bucket().equals(bucket)
        && binder.areRight(prefixProperty, "firstclaim.claim.s3.prefix")) {
      requireApart(prefixProperty, prefix, claims.prefix());
    }
    String intervalProperty = "firstclaim.handler.dataset.registry-interval";
    if (given.registryInterval().compareTo(LONGEST_INTERVAL) > 0) {
      binder.wrong(
          intervalProperty,
          binder.text(intervalProperty).orElse(null),
          "each record waits as long; give 10s at most, such as 1s");
    }
    return new DatasetSettings(
        bucket == null ? "" : bucket,
        prefix,
        given.multipartThreshold().bytes(),
        given.registryInterval());
  }

  /** Claims expire, and so does whatever else is under their prefix. */
  private void requireApart(String property, String prefix, String claims) {
    for (String folder : List.of(prefix + "datasets/", prefix + "metastore/")) {
      if (folder.startsWith(claims) || claims.startsWith(folder)) {
        binder.wrong(
            property,
            prefix,
            "%s must be apart from firstclaim.claim.s3.prefix=%s, where objects expire"
                .formatted(folder, claims));
        return;
      }
    }
  }

  private Properties.Retry retrying() {
    Properties.Retry retry = binder.bind(Properties.Retry.class);
    String backoff = "firstclaim.retry.backoff";
    String maxBackoff = "firstclaim.retry.max-backoff";
    if (binder.areRight(backoff, maxBackoff) && retry.maxBackoff().compareTo(retry.backoff()) < 0) {
      binder.wrong(
          maxBackoff,
          binder.inForce().get(maxBackoff),
          "it must not be shorter than %s=%s".formatted(backoff, binder.inForce().get(backoff)));
    }
    return retry;
  }

  private Optional<String> deadLetterTopic(List<String> inputs) {
    Optional<String> topic = Optional.ofNullable(binder.bind(Properties.DeadLetter.class).topic());
    int longest = MAX_TOPIC - DEAD_LETTERS.length();
    if (topic.isEmpty() && binder.areRight("firstclaim.input.topics")) {
      inputs.stream()
          .filter(input -> input.length() > longest)
          .forEach(
              input ->
                  binder.wrong(
                      "firstclaim.input.topics",
                      input,
                      "a topic has 1 to %d of a-z A-Z 0-9 . _ -".formatted(longest)));
    }
    return topic;
  }

  private Optional<String> outcomesTopic(String application, @Nullable String given) {
    String topic = given == null ? application + ".outcomes" : given;
    binder.force("firstclaim.outcomes.topic", topic);
    return Optional.of(topic).filter(name -> !name.equals("none"));
  }

  /**
   * What is written for a record must not come back as a record, and readers of one topic do not
   * expect what belongs in another.
   */
  private void requireApart(
      List<String> inputs,
      Optional<String> deadLetterTopic,
      Optional<String> outcomesTopic,
      List<String> ownTopics,
      Handling handling) {
    Map<String, String> uses = new HashMap<>();
    inputs.forEach(input -> uses.put(input, "one of firstclaim.input.topics"));
    inputs.stream()
        .map(input -> deadLetterTopic.orElse(input + DEAD_LETTERS))
        .distinct()
        .forEach(topic -> use("firstclaim.dead-letter.topic", topic, uses));
    outcomesTopic.ifPresent(topic -> use("firstclaim.outcomes.topic", topic, uses));
    ownTopics.forEach(topic -> use("firstclaim.application", topic, uses));
    if (handling instanceof Handling.Topic topic) {
      use("firstclaim.handler.topic.name", topic.name(), uses);
    }
  }

  private void use(String property, String topic, Map<String, String> uses) {
    String use = uses.put(topic, property);
    if (use != null && binder.areRight(property)) {
      binder.wrong(property, topic, "it is %s; give another topic".formatted(use));
    }
  }

  private Optional<Path> tokenFile() {
    @Nullable String given = binder.bind(Properties.Admin.class).tokenFile();
    if (given == null) {
      return Optional.empty();
    }
    try {
      Path file = Path.of(given);
      TokenFile.requireRight(file);
      return Optional.of(file);
    } catch (InvalidPathException | WrongTokenFileException e) {
      binder.wrong("firstclaim.admin.token-file", given, String.valueOf(e.getMessage()));
      return Optional.empty();
    }
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
      binder.wrong("kafka.bootstrap.servers", null, "give the brokers, such as localhost:9092");
    }
    if (kafka.containsKey("group.id")) {
      binder.wrong(
          "kafka.group.id",
          String.valueOf(kafka.get("group.id")),
          "leave it out; the consumer group is <application>-<zone>, or what firstclaim.input.group"
              + " names");
    }
    kafka.keySet().stream()
        .sorted()
        .forEach(key -> binder.force("kafka." + key, String.valueOf(kafka.get(key))));
    return kafka;
  }

  private void unused(Class<?> room) {
    Setting.names(room).stream().filter(name -> binder.text(name).isPresent()).forEach(unused::add);
  }

  private static String randomInstance() {
    String random = HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextLong()).substring(8);
    try {
      return InetAddress.getLocalHost().getHostName() + "-" + random;
    } catch (UnknownHostException e) {
      return "unknown-host-" + random;
    }
  }
}
