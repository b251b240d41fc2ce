package io.firstclaim.processor.service.config;

import static io.firstclaim.processor.engine.api.EngineCatalog.APPLICATION;
import static io.firstclaim.processor.engine.api.EngineCatalog.HANDLER_TIMEOUT;
import static io.firstclaim.processor.engine.api.EngineCatalog.KAFKA;
import static io.firstclaim.processor.engine.api.EngineCatalog.MODE;
import static io.firstclaim.processor.engine.api.EngineCatalog.OUTCOMES_TOPIC;
import static io.firstclaim.processor.engine.api.EngineCatalog.outcomesTopicOf;
import static io.firstclaim.processor.service.config.ServiceCatalog.AUDIT_ADDRESS;
import static io.firstclaim.processor.service.config.ServiceCatalog.AUDIT_DIRECTORY;
import static io.firstclaim.processor.service.config.ServiceCatalog.AUDIT_ENABLED;
import static io.firstclaim.processor.service.config.ServiceCatalog.AUDIT_TOKEN_FILE;
import static io.firstclaim.processor.service.config.ServiceCatalog.BACKEND;
import static io.firstclaim.processor.service.config.ServiceCatalog.BATCH;
import static io.firstclaim.processor.service.config.ServiceCatalog.CLAIMS_HTTP;
import static io.firstclaim.processor.service.config.ServiceCatalog.CREATE;
import static io.firstclaim.processor.service.config.ServiceCatalog.DATASET_BUCKET;
import static io.firstclaim.processor.service.config.ServiceCatalog.DATASET_PREFIX;
import static io.firstclaim.processor.service.config.ServiceCatalog.DEAD_LETTER_ON;
import static io.firstclaim.processor.service.config.ServiceCatalog.HANDLER_PATH;
import static io.firstclaim.processor.service.config.ServiceCatalog.HANDLER_TOPIC;
import static io.firstclaim.processor.service.config.ServiceCatalog.HANDLER_TYPE;
import static io.firstclaim.processor.service.config.ServiceCatalog.HTTP_TIMEOUT;
import static io.firstclaim.processor.service.config.ServiceCatalog.HTTP_URL;
import static io.firstclaim.processor.service.config.ServiceCatalog.MULTIPART_THRESHOLD;
import static io.firstclaim.processor.service.config.ServiceCatalog.REGISTRY_INTERVAL;
import static io.firstclaim.processor.service.config.ServiceCatalog.S3_BUCKET;
import static io.firstclaim.processor.service.config.ServiceCatalog.S3_PREFIX;
import static io.firstclaim.processor.service.config.ServiceCatalog.S3_SWEEP;
import static io.firstclaim.processor.service.config.ServiceCatalog.STUCK_AFTER;
import static io.firstclaim.processor.service.config.ServiceCatalog.SWEEP;
import static io.firstclaim.processor.service.config.ServiceCatalog.TABLE;
import static io.firstclaim.processor.service.config.ServiceCatalog.TOKEN_FILE;
import static io.firstclaim.processor.service.config.ServiceCatalog.TRACES_EXPORTER;
import static io.firstclaim.processor.service.config.ServiceCatalog.TRACES_OFF;
import static io.firstclaim.processor.service.config.ServiceCatalog.UNAVAILABLE_ON;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.processor.audit.api.AuditSettings;
import io.firstclaim.processor.audit.api.StateFolder;
import io.firstclaim.processor.dataset.DatasetSettings;
import io.firstclaim.processor.engine.api.EngineCatalog;
import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.engine.api.EngineSettings.Mode;
import io.firstclaim.processor.engine.api.TopicUses;
import io.firstclaim.processor.engine.setting.Secrets;
import io.firstclaim.processor.engine.setting.Setting;
import io.firstclaim.processor.engine.setting.Settings;
import io.firstclaim.processor.engine.setting.Syntax;
import io.firstclaim.processor.service.config.ServiceCatalog.BackendName;
import io.firstclaim.processor.service.config.ServiceCatalog.TracesExporter;
import io.firstclaim.processor.service.handler.OwnHandlers;
import io.firstclaim.processor.service.handler.StatusMeanings;
import io.firstclaim.processor.service.security.Role;
import io.firstclaim.processor.service.security.TokenFile;
import io.firstclaim.processor.service.security.WrongTokenFileException;
import io.micronaut.context.env.Environment;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Reads the settings from wherever Micronaut found them, checks them together, and turns them into
 * what the parts of the service take. Tells everything that is wrong at once. For one thread.
 */
public final class SettingsReader {
  private final Settings given;

  private SettingsReader(Environment environment) {
    this.given = given(environment);
    given.set(KAFKA, kafka(environment));
    GivenNames names = GivenNames.of(environment);
    names.unknown().forEach(given::wrong);
    LogSettings.faults(names.variables()).forEach(given::wrong);
  }

  /** The settings that are in an environment, none of them read yet. */
  static Settings given(Environment environment) {
    return Settings.of(name -> environment.getProperty(name, String.class));
  }

  /**
   * The settings.
   *
   * @param own the user's handlers, of which the settings may choose one
   * @throws io.firstclaim.processor.engine.setting.WrongSettingsException if some are wrong or
   *     missing
   */
  public static ServiceSettings read(Environment environment, OwnHandlers own) {
    return new SettingsReader(environment).service(own);
  }

  /** Whether claims are to be served over HTTP; not if that setting is wrong. */
  static boolean servesClaims(Environment environment) {
    return given(environment).find(CLAIMS_HTTP).orElse(false);
  }

  /** Whether claims are to be served over HTTP, and no records to be taken. */
  public static boolean servesClaimsAlone(Environment environment) {
    return servesClaims(environment) && !given(environment).isGiven(EngineCatalog.TOPICS);
  }

  /**
   * The settings of an instance that serves claims alone, which needs no zone, handler or Kafka.
   *
   * @throws io.firstclaim.processor.engine.setting.WrongSettingsException if some are wrong or
   *     missing
   */
  public static ClaimServerSettings readClaimServer(Environment environment) {
    SettingsReader reader = new SettingsReader(environment);
    Optional<ClaimSettings> claims = EngineSettings.claims(reader.given);
    Optional<Backend> backend = reader.backend();
    boolean _ = reader.given.areRight(CLAIMS_HTTP);
    Optional<Optional<Path>> tokenFile = reader.given.find(TOKEN_FILE);
    reader.given.requireRight();
    return new ClaimServerSettings(
        new StoreSettings(claims.orElseThrow(), backend.orElseThrow()),
        tokenFile.orElseThrow(),
        Collections.unmodifiableMap(reader.inForce()),
        reader.unused());
  }

  /**
   * The settings of the lock store alone, which needs no zone, topics or Kafka.
   *
   * @throws io.firstclaim.processor.engine.setting.WrongSettingsException if some are wrong or
   *     missing
   */
  public static StoreSettings readStore(Environment environment) {
    SettingsReader reader = new SettingsReader(environment);
    Optional<ClaimSettings> claims = EngineSettings.claims(reader.given);
    Optional<Backend> backend = reader.backend();
    reader.given.requireRight();
    return new StoreSettings(claims.orElseThrow(), backend.orElseThrow());
  }

  /**
   * The settings of the dataset alone, which needs no zone, topics or Kafka, nor that it is the
   * handler.
   *
   * @throws io.firstclaim.processor.engine.setting.WrongSettingsException if some are wrong or
   *     missing
   */
  public static DatasetSettings readDataset(Environment environment) {
    SettingsReader reader = new SettingsReader(environment);
    Optional<DatasetSettings> settings = reader.dataset();
    reader.given.requireRight();
    return settings.orElseThrow();
  }

  /**
   * The buckets that should have a policy: that of the claims, and that of a dataset if it is the
   * handler or its bucket is given. This needs no zone, topics or Kafka.
   *
   * @throws io.firstclaim.processor.engine.setting.WrongSettingsException if some are wrong or
   *     missing
   */
  public static List<ProtectedBucket> readProtected(Environment environment) {
    SettingsReader reader = new SettingsReader(environment);
    Optional<Backend> backend = reader.backend();
    Optional<DatasetSettings> dataset = reader.hasDataset() ? reader.dataset() : Optional.empty();
    reader.given.requireRight();
    return ProtectedBucket.of(backend.orElseThrow(), dataset);
  }

  private boolean hasDataset() {
    return given.isGiven(DATASET_BUCKET)
        || given
            .find(HANDLER_TYPE)
            .flatMap(type -> type)
            .flatMap(HandlerName::of)
            .filter(HandlerName.DATASET::equals)
            .isPresent();
  }

  private ServiceSettings service(OwnHandlers own) {
    TopicUses uses = EngineSettings.check(given);
    Optional<Backend> backend = backend();
    Optional<Handling> handling = handling(own);
    boolean traced = given.areRight(TRACES_EXPORTER, TRACES_OFF) && isTraced();
    Optional<Optional<Path>> tokenFile = given.find(TOKEN_FILE);
    given.areRight(CLAIMS_HTTP, AUDIT_ENABLED, STUCK_AFTER, AUDIT_DIRECTORY, AUDIT_ADDRESS);
    requireADisk();
    requireAReadersToken();
    addUses(uses, handling);
    given.requireRight();
    EngineSettings engine = EngineSettings.of(given);
    return new ServiceSettings(
        engine,
        backend.orElseThrow().beside(handling.orElseThrow()),
        handling.orElseThrow(),
        auditing(engine),
        traced,
        tokenFile.orElseThrow(),
        inForce(engine),
        unused());
  }

  private Optional<Backend> backend() {
    return given
        .find(BACKEND)
        .flatMap(
            backend ->
                switch (backend) {
                  case DYNAMODB -> given.make(TABLE, BATCH, SWEEP, CREATE, Backend.DynamoDb::new);
                  case S3 -> given.make(S3_BUCKET, S3_PREFIX, S3_SWEEP, CREATE, Backend.S3::new);
                  case MEMORY -> Optional.of(new Backend.Memory());
                });
  }

  private Optional<Handling> handling(OwnHandlers own) {
    if (given.find(MODE).filter(Mode.SHADOW::equals).isPresent()) {
      return Optional.of(new Handling.None());
    }
    Optional<Optional<String>> type = given.find(HANDLER_TYPE);
    return type.flatMap(name -> name)
        .flatMap(HandlerName::of)
        .map(this::handling)
        .orElseGet(() -> type.flatMap(name -> ownHandler(name, own)));
  }

  private Optional<Handling> handling(HandlerName name) {
    return switch (name) {
      case LOG -> Optional.of(new Handling.Log());
      case HTTP -> http();
      case TOPIC -> given.find(HANDLER_TOPIC).map(Handling.Topic::new);
      case DATASET -> datasetHandler();
    };
  }

  private Optional<Handling> ownHandler(Optional<String> type, OwnHandlers own) {
    given.find(HANDLER_PATH).flatMap(it -> it).flatMap(HandlerJars::fault).ifPresent(given::wrong);
    Optional<String> found = type.filter(own::has);
    if (found.isEmpty()) {
      String named =
          own.names().isEmpty()
              ? "the name of a RecordHandler of yours, whose jar is in " + HANDLER_PATH
              : "one of your handlers: " + String.join(", ", own.names());
      String choices =
          HandlerName.all(name -> name.equals("log") ? "log (marks all records done)" : name)
              + " or "
              + named;
      given.wrong(
          HANDLER_TYPE,
          type.isPresent()
              ? "there is no such handler; give " + choices
              : "say what is done with a record: " + choices);
    }
    return found.map(Handling.Bean::new);
  }

  private Optional<Handling> http() {
    given
        .find(UNAVAILABLE_ON)
        .ifPresent(
            unavailable ->
                given.require(
                    DEAD_LETTER_ON,
                    dead -> Collections.disjoint(dead, unavailable),
                    "name no status that is in %s too".formatted(UNAVAILABLE_ON)));
    return given.make(
        HTTP_URL,
        HTTP_TIMEOUT,
        UNAVAILABLE_ON,
        DEAD_LETTER_ON,
        (url, timeout, unavailable, dead) ->
            new Handling.Http(url, timeout, new StatusMeanings(unavailable, dead)));
  }

  private Optional<Handling> datasetHandler() {
    Optional<DatasetSettings> settings = dataset();
    // A record waits for the interval that is running, and may just miss the update at its end.
    settings
        .map(it -> it.registryInterval().multipliedBy(2))
        .ifPresent(
            least ->
                given.require(
                    HANDLER_TIMEOUT,
                    timeout -> timeout.compareTo(least) >= 0,
                    "a record may wait to be listed for twice %s=%s; give %s at least, or make that shorter"
                        .formatted(
                            REGISTRY_INTERVAL,
                            given.text(REGISTRY_INTERVAL),
                            Syntax.LENGTH.text(least))));
    return settings.map(Handling.Dataset::new);
  }

  private Optional<DatasetSettings> dataset() {
    requireApartFromTheClaims();
    return given.make(
        DATASET_BUCKET,
        DATASET_PREFIX,
        MULTIPART_THRESHOLD,
        REGISTRY_INTERVAL,
        (bucket, prefix, threshold, interval) ->
            new DatasetSettings(bucket, prefix, Math.toIntExact(threshold), interval));
  }

  /** Claims expire, and so does whatever else is under their prefix. */
  private void requireApartFromTheClaims() {
    if (given.find(BACKEND).filter(BackendName.S3::equals).isEmpty()
        || !given.areRight(S3_BUCKET, S3_PREFIX, DATASET_BUCKET, DATASET_PREFIX)
        || !given.get(S3_BUCKET).equals(given.get(DATASET_BUCKET))) {
      return;
    }
    String claims = given.get(S3_PREFIX);
    String prefix = given.get(DATASET_PREFIX);
    List.of(prefix + "datasets/", prefix + "metastore/").stream()
        .filter(folder -> folder.startsWith(claims) || claims.startsWith(folder))
        .findFirst()
        .ifPresent(
            folder ->
                given.wrong(
                    DATASET_PREFIX,
                    prefix,
                    "%s must be apart from %s=%s, where objects expire"
                        .formatted(folder, S3_PREFIX, claims)));
  }

  private boolean isTraced() {
    return given.get(TRACES_EXPORTER) == TracesExporter.OTLP && !given.get(TRACES_OFF);
  }

  /** The topics that are written by what is beside the engine. */
  private void addUses(TopicUses uses, Optional<Handling> handling) {
    if (given.areRight(MODE, APPLICATION, OUTCOMES_TOPIC, AUDIT_ENABLED)
        && given.get(AUDIT_ENABLED)
        && given.get(OUTCOMES_TOPIC).isPresent()) {
      uses.add(APPLICATION, AuditSettings.violationsTopicOf(EngineSettings.applicationOf(given)));
    }
    if (given.areRight(MODE, APPLICATION, TOKEN_FILE) && given.get(TOKEN_FILE).isPresent()) {
      uses.add(APPLICATION, EngineSettings.applicationOf(given) + ".acts");
    }
    if (handling.orElse(null) instanceof Handling.Topic(String name)) {
      uses.add(HANDLER_TOPIC, name);
    }
  }

  /** Checks that what is chosen to keep the audit's state keeps it, and has room for it. */
  private void requireADisk() {
    if (given.areRight(AUDIT_ENABLED, AUDIT_DIRECTORY)
        && given.get(AUDIT_ENABLED)
        && given.isGiven(AUDIT_DIRECTORY)) {
      StateFolder.inMemory(given.get(AUDIT_DIRECTORY))
          .ifPresent(what -> given.wrong(AUDIT_DIRECTORY, what + "; give a folder on a disk"));
    }
  }

  /** The token that other instances are shown is known to this one, too, and may only read. */
  private void requireAReadersToken() {
    if (!given.areRight(TOKEN_FILE, AUDIT_TOKEN_FILE) || given.get(AUDIT_TOKEN_FILE).isEmpty()) {
      return;
    }
    Path file = given.get(AUDIT_TOKEN_FILE).get();
    try {
      String token = TokenFile.token(file);
      Optional<Role> role = given.get(TOKEN_FILE).flatMap(all -> TokenFile.roleIn(all, token));
      if (!role.equals(Optional.of(Role.READER))) {
        given.wrong(
            AUDIT_TOKEN_FILE,
            role.isPresent()
                ? "it is an %s's; give a reader's".formatted(role.get().text())
                : "its token is not in %s: add it with admin token NAME --role reader --add-to FILE"
                    .formatted(TOKEN_FILE.name()));
      }
    } catch (WrongTokenFileException e) {
      given.wrong(AUDIT_TOKEN_FILE, String.valueOf(e.getMessage()));
    }
  }

  private Auditing auditing(EngineSettings engine) {
    ClaimSettings claims = engine.claim().store();
    AuditSettings settings =
        new AuditSettings(
            engine.application(),
            claims.namespace(),
            engine.zone(),
            engine.outcomesTopic().orElseGet(() -> outcomesTopicOf(engine.application())),
            AuditSettings.violationsTopicOf(engine.application()),
            claims.retention(),
            given.get(STUCK_AFTER),
            given.get(AUDIT_ADDRESS),
            given.get(AUDIT_DIRECTORY),
            given.isGiven(AUDIT_DIRECTORY) || given.isGiven(EngineCatalog.INSTANCE),
            engine.kafka());
    if (!given.get(AUDIT_ENABLED)) {
      return new Auditing(
          settings, Optional.of(AUDIT_ENABLED + "=false"), given.get(AUDIT_TOKEN_FILE));
    }
    return new Auditing(
        settings,
        engine.outcomesTopic().isPresent()
            ? Optional.empty()
            : Optional.of(
                "there are no outcomes: %s=%s"
                    .formatted(OUTCOMES_TOPIC, OUTCOMES_TOPIC.text(Optional.empty()))),
        given.get(AUDIT_TOKEN_FILE));
  }

  /** Everything under {@code kafka}. */
  private static Map<String, Object> kafka(Environment environment) {
    Map<String, Object> found = environment.getProperties("kafka");
    return found.entrySet().stream()
        .filter(entry -> !(entry.getValue() instanceof Map))
        // A variable KAFKA_MAX_POLL_RECORDS is read as max.poll.records, max-poll.records, ...
        .filter(
            entry ->
                !entry.getKey().contains("-")
                    || !found.containsKey(entry.getKey().replace('-', '.')))
        .collect(Collectors.toUnmodifiableMap(Map.Entry::getKey, Map.Entry::getValue));
  }

  private Map<String, String> inForce(EngineSettings engine) {
    Map<String, String> inForce = inForce();
    // In shadow mode these are others than were given.
    inForce.put(APPLICATION.name(), engine.application());
    inForce.put(EngineCatalog.GROUP.name(), engine.input().group());
    inForce.put(EngineCatalog.NAMESPACE.name(), engine.claim().store().namespace());
    inForce.put(OUTCOMES_TOPIC.name(), OUTCOMES_TOPIC.text(engine.outcomesTopic()));
    return Collections.unmodifiableMap(inForce);
  }

  private Map<String, String> inForce() {
    Map<String, String> inForce = given.inForce();
    new TreeMap<>(given.get(KAFKA))
        .forEach(
            (name, value) -> {
              String property = "kafka." + name;
              inForce.put(property, Secrets.shown(property, String.valueOf(value)));
            });
    return inForce;
  }

  /** What was given, and this backend and this handler have not asked for. */
  private List<String> unused() {
    return ServiceCatalog.all().stream()
        .filter(given::isGiven)
        .filter(Predicate.not(given::isUsed))
        .map(Setting::name)
        .toList();
  }
}
