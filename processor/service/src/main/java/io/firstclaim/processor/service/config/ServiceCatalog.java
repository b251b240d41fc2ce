package io.firstclaim.processor.service.config;

import static io.firstclaim.processor.engine.setting.Syntax.FLAG;
import static io.firstclaim.processor.engine.setting.Syntax.TEXT;
import static io.firstclaim.processor.engine.setting.Syntax.TOPIC;

import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.dynamodb.DynamoDbClaimStore;
import io.firstclaim.processor.audit.api.Address;
import io.firstclaim.processor.engine.api.EngineCatalog;
import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.engine.setting.Catalog;
import io.firstclaim.processor.engine.setting.HostName;
import io.firstclaim.processor.engine.setting.Setting;
import io.firstclaim.processor.engine.setting.Settings;
import io.firstclaim.processor.engine.setting.Syntax;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The service's own settings, beside the engine's: the one place that has their names, their
 * defaults, what they may be and what they mean. What must hold between two of them is in {@link
 * SettingsReader}.
 */
public final class ServiceCatalog {
  private static final Catalog CATALOG = new Catalog();

  /** What claims are kept in. */
  enum BackendName {
    DYNAMODB,
    S3,
    MEMORY
  }

  static final Setting<BackendName> BACKEND =
      CATALOG.withDefault(
          "firstclaim.claim.backend",
          Syntax.choice(BackendName.class),
          BackendName.DYNAMODB,
          "`dynamodb`, `s3`, or `memory` for one process only");

  static final Setting<Boolean> CREATE =
      CATALOG.withDefault(
          "firstclaim.claim.create",
          FLAG,
          false,
          "create the table or bucket at start if it is missing");

  static final Setting<String> TABLE =
      CATALOG.withDefault(
          "firstclaim.claim.dynamodb.table",
          Syntax.text("[a-zA-Z0-9._-]{3,255}", "a table has 3 to 255 of a-z A-Z 0-9 . _ -"),
          "firstclaim",
          "the table that claims are kept in");

  static final Setting<Integer> BATCH =
      CATALOG.withDefault(
          "firstclaim.claim.dynamodb.batch",
          Syntax.number(
              1,
              DynamoDbClaimStore.BATCH,
              "give a number from 1, for each write in its own request, to 25"),
          DynamoDbClaimStore.BATCH,
          "conditional writes in one request; `1`: each in its own");

  static final Setting<Duration> SWEEP =
      CATALOG.withDefault(
          "firstclaim.claim.dynamodb.sweep",
          Syntax.DURATION,
          Duration.ofDays(1),
          "how often one of the instances deletes claims past their retention, where no TTL does;"
              + " `0s`: never");

  static final Setting<String> S3_BUCKET =
      CATALOG.requiredWhere(
          "firstclaim.claim.s3.bucket",
          ServiceSyntax.BUCKET,
          "required with `s3`",
          "name the bucket that claims are kept in",
          "the general purpose bucket that claims are kept in");

  static final Setting<String> S3_PREFIX =
      CATALOG.withDefault(
          "firstclaim.claim.s3.prefix",
          Syntax.text(
              "(?=.{1,200}$)([a-zA-Z0-9._-]+/)+",
              "give up to 200 of a-z A-Z 0-9 . _ - in parts that end in /, such as claims/"),
          "claims/",
          "nothing but claims may be under it");

  static final Setting<Duration> S3_SWEEP =
      CATALOG.withDefault(
          "firstclaim.claim.s3.sweep",
          Syntax.DURATION,
          Duration.ofDays(1),
          "how often one of the instances deletes claims past their retention, where no lifecycle"
              + " rule does; `0s`: never");

  static final Setting<Optional<String>> HANDLER_TYPE =
      CATALOG.derived(
          "firstclaim.handler.type",
          Syntax.optional("", TEXT),
          "required",
          _ -> Optional.empty(),
          HandlerName.all("`%s`"::formatted)
              + ", or the name of a `RecordHandler` of yours; not asked for with"
              + " `firstclaim.mode=shadow`");

  static final Setting<Optional<String>> HANDLER_PATH =
      CATALOG.derived(
          "firstclaim.handler.path",
          Syntax.optional("", TEXT),
          "none",
          _ -> Optional.empty(),
          "folder of jars with your own handlers");

  static final Setting<URI> HTTP_URL =
      CATALOG.requiredWhere(
          "firstclaim.handler.http.url",
          ServiceSyntax.HTTP_URL,
          "required with `http`",
          "the http handler needs the URL to post to",
          "where records are posted to");

  static final Setting<Duration> HTTP_TIMEOUT =
      CATALOG.withDefault(
          "firstclaim.handler.http.timeout",
          Syntax.LENGTH,
          Duration.ofSeconds(30),
          "how long to wait for an answer");

  static final Setting<Set<Integer>> UNAVAILABLE_ON =
      CATALOG.derived(
          "firstclaim.handler.http.unavailable-on",
          ServiceSyntax.STATUSES,
          "none",
          _ -> Set.of(),
          "statuses, comma-separated, that mean that the service is not there; besides 3xx, 401,"
              + " 403, 407, 429, 502, 503 and 504");

  static final Setting<Set<Integer>> DEAD_LETTER_ON =
      CATALOG.derived(
          "firstclaim.handler.http.dead-letter-on",
          ServiceSyntax.STATUSES,
          "none",
          _ -> Set.of(),
          "statuses, comma-separated, that make the record a dead letter at once; besides other"
              + " 4xx");

  static final Setting<String> HANDLER_TOPIC =
      CATALOG.requiredWhere(
          "firstclaim.handler.topic.name",
          TOPIC,
          "required with `topic`",
          "the topic handler needs the topic to publish to",
          "where records are published to");

  static final Setting<String> DATASET_BUCKET =
      CATALOG.derived(
          "firstclaim.handler.dataset.bucket",
          ServiceSyntax.BUCKET,
          "the claims' bucket; required if claims are not on S3",
          ServiceCatalog::claimsBucket,
          "name the bucket that the dataset is kept in",
          "the bucket of the dataset, which must be there");

  static final Setting<String> DATASET_PREFIX =
      CATALOG.derived(
          "firstclaim.handler.dataset.prefix",
          Syntax.text(
              "|(?=.{1,200}$)((?!\\.{1,2}/)[a-zA-Z0-9._-]+/)+",
              "give up to 200 of a-z A-Z 0-9 . _ - in parts that end in /, such as lake/"),
          "none",
          _ -> "",
          "prefix of all the dataset's objects, such as `lake/`; apart from the claims'");

  static final Setting<Long> MULTIPART_THRESHOLD =
      CATALOG.withDefault(
          "firstclaim.handler.dataset.multipart-threshold",
          ServiceSyntax.PART_SIZE,
          8L << 20,
          "larger values are uploaded in parts of this size; `5MB` to `1024MB`");

  static final Setting<Duration> REGISTRY_INTERVAL =
      CATALOG.withDefault(
          "firstclaim.handler.dataset.registry-interval",
          Syntax.LENGTH.where(
              interval -> interval.compareTo(Duration.ofSeconds(10)) <= 0,
              "each record waits as long; give 10s at most, such as 1s"),
          Duration.ofSeconds(1),
          "time between two registry updates by one instance, less when many files come; at most"
              + " `10s`, and half of `firstclaim.handler.timeout`");

  static final Setting<Boolean> AUDIT_ENABLED =
      CATALOG.withDefault(
          "firstclaim.audit.enabled",
          FLAG,
          true,
          "audit by Kafka Streams: what became of each record, and what must not have happened,"
              + " which goes to the topic `<application>.violations`; needs outcomes");

  /** Nobody needs to hear of ordinary trouble, such as a handler that takes long. */
  private static final Duration LEAST_STUCK = Duration.ofMinutes(5);

  static final Setting<Duration> STUCK_AFTER =
      CATALOG.derived(
          "firstclaim.audit.stuck-after",
          Syntax.LENGTH,
          "ten leases, `5m` at least",
          given -> longer(given.get(EngineCatalog.LEASE).multipliedBy(10), LEAST_STUCK),
          "a record that was begun is stuck when it is not settled for so long");

  static final Setting<Path> AUDIT_DIRECTORY =
      CATALOG.derived(
          "firstclaim.audit.directory",
          ServiceSyntax.FOLDER,
          "under the folder for temporary files",
          ServiceCatalog::temporary,
          "folder for the audit's state, of no other process, on a disk; what is lost there is"
              + " restored from Kafka. Some 412 bytes a record, for one and a half times"
              + " `firstclaim.claim.retention` at most: 5 to 8 GB for a zone with 10 records a second"
              + " and 15 days, shared by its instances");

  static final Setting<Address> AUDIT_ADDRESS =
      CATALOG.derived(
          "firstclaim.audit.address",
          ServiceSyntax.ADDRESS,
          "that of `micronaut.server`",
          ServiceCatalog::httpServer,
          "`host:port` at which the other instances of the zone reach this one's HTTP server, to"
              + " ask for the records whose audit it keeps");

  static final Setting<Optional<Path>> AUDIT_TOKEN_FILE =
      CATALOG.derived(
          "firstclaim.audit.token-file",
          Syntax.optional("", ServiceSyntax.FILE),
          "none",
          _ -> Optional.empty(),
          "file with the token itself, a reader's, with which this instance asks the others of its"
              + " zone; needed where those have a `firstclaim.admin.token-file`, which has its hash");

  static final Setting<Optional<Path>> TOKEN_FILE =
      CATALOG.derived(
          "firstclaim.admin.token-file",
          Syntax.optional("", ServiceSyntax.TOKEN_FILE),
          "`/api` answers this machine only, and changes nothing",
          _ -> Optional.empty(),
          "file of bearer tokens, one a line: `NAME ROLE SHA256-OF-THE-TOKEN` in hex, role"
              + " `reader`, `operator` or `claimer`, `#` begins a comment; read again when it changes");

  static final Setting<Boolean> CLAIMS_HTTP =
      CATALOG.withDefault(
          "firstclaim.claims.http",
          FLAG,
          false,
          "serve claims, locks and documents over HTTP to who has a `claimer`'s token; without"
              + " `firstclaim.input.topics` nothing else is done, and neither zone, handler nor"
              + " Kafka is asked for");

  private static final Catalog OTHERS = new Catalog();

  static {
    OTHERS.derived(
        "AWS_*",
        TEXT,
        "the AWS SDK's",
        _ -> "",
        "`AWS_REGION`, profiles (assumed roles and SSO too), roles of EKS (service account or Pod Identity),"
            + " ECS and EC2, `AWS_ENDPOINT_URL_DYNAMODB`, `AWS_ENDPOINT_URL_S3`");
    OTHERS.derived(
        "otel.*",
        TEXT,
        "nothing is traced",
        _ -> "",
        "OpenTelemetry's own: `OTEL_TRACES_EXPORTER=otlp` traces each delivery and sends the"
            + " spans to `OTEL_EXPORTER_OTLP_ENDPOINT`, by default `http://localhost:4317`; see"
            + " Tracing below");
  }

  static final Setting<String> SERVER_HOST =
      OTHERS.withDefault(
          "micronaut.server.host",
          TEXT,
          "127.0.0.1",
          "of health, metrics, the admin API and its page");

  static final Setting<Integer> SERVER_PORT =
      OTHERS.withDefault(
          "micronaut.server.port",
          Syntax.number(-1, 65_535, "give a port"),
          8080,
          "of health, metrics, the admin API and its page");

  /** Read before everything else, as an environment variable alone. */
  public static final Setting<String> LOG_FORMAT =
      OTHERS.withDefault(
          "FIRSTCLAIM_LOG_FORMAT",
          Syntax.text("plain|json", "give plain or json"),
          "plain",
          "`plain` or `json`; environment variable only");

  /** Read before everything else, as an environment variable alone. */
  public static final Setting<String> LOG_LEVEL =
      OTHERS.withDefault(
          "FIRSTCLAIM_LOG_LEVEL",
          Syntax.text(
              "(?i)TRACE|DEBUG|INFO|WARN|ERROR|OFF|ALL",
              "give one of TRACE, DEBUG, INFO, WARN, ERROR, OFF, ALL"),
          "INFO",
          "`TRACE`, `DEBUG`, `INFO`, `WARN`, `ERROR` or `OFF`; environment variable only");

  private static final Catalog NOT_DOCUMENTED = new Catalog();

  static final Setting<Boolean> SERVER_TLS =
      NOT_DOCUMENTED.withDefault("micronaut.server.ssl.enabled", FLAG, false, "");

  static final Setting<Integer> SERVER_TLS_PORT =
      NOT_DOCUMENTED.withDefault(
          "micronaut.server.ssl.port", Syntax.number(-1, 65_535, "give a port"), 8443, "");

  /** OpenTelemetry's own, which decides whether it is there at all. */
  static final Setting<TracesExporter> TRACES_EXPORTER =
      NOT_DOCUMENTED.withDefault(
          "otel.traces.exporter",
          Syntax.choice(TracesExporter.class, "give otlp, or none to trace nothing"),
          TracesExporter.NONE,
          "");

  static final Setting<Boolean> TRACES_OFF =
      NOT_DOCUMENTED.withDefault("otel.sdk.disabled", FLAG, false, "");

  /** Where traces go. */
  enum TracesExporter {
    NONE,
    OTLP
  }

  private ServiceCatalog() {}

  /** All settings of the service and its engine, those of one thing side by side. */
  public static List<Setting<?>> all() {
    List<Setting<?>> all =
        Stream.concat(EngineCatalog.all().stream(), CATALOG.all().stream())
            .filter(setting -> setting.name().startsWith("firstclaim."))
            .toList();
    List<String> things = all.stream().map(setting -> thing(setting, 2)).distinct().toList();
    List<String> parts = all.stream().map(setting -> thing(setting, 3)).distinct().toList();
    return all.stream()
        .sorted(
            Comparator.<Setting<?>>comparingInt(setting -> things.indexOf(thing(setting, 2)))
                .thenComparingInt(setting -> parts.indexOf(thing(setting, 3))))
        .toList();
  }

  /** Settings of others that matter: Kafka's clients, the AWS SDK, OpenTelemetry, Micronaut. */
  public static List<Setting<?>> ofOthers() {
    return Stream.concat(
            EngineCatalog.all().stream()
                .filter(setting -> !setting.name().startsWith("firstclaim.")),
            OTHERS.all().stream())
        .toList();
  }

  /** What a setting is of: the parts of its name before the last one, so many at most. */
  private static String thing(Setting<?> setting, int most) {
    List<String> parts = List.of(setting.name().split("\\."));
    return String.join(".", parts.subList(0, Math.min(most, parts.size() - 1)));
  }

  private static Optional<String> claimsBucket(Settings given) {
    return given.get(BACKEND) == BackendName.S3
        ? Optional.of(given.get(S3_BUCKET))
        : Optional.empty();
  }

  private static Duration longer(Duration one, Duration other) {
    return one.compareTo(other) < 0 ? other : one;
  }

  /**
   * The folder by default. An instance's name may hold anything, so not every name is put into it.
   */
  private static Path temporary(Settings given) {
    String instance = given.get(EngineCatalog.INSTANCE);
    boolean plain = instance.matches("[a-zA-Z0-9][a-zA-Z0-9._-]*");
    return Path.of(
        System.getProperty("java.io.tmpdir"),
        "firstclaim",
        "%s-audit-%s-%s"
            .formatted(
                EngineSettings.applicationOf(given),
                given.get(EngineCatalog.ZONE),
                plain ? instance : Fingerprint.of(instance.getBytes(StandardCharsets.UTF_8))));
  }

  private static Address httpServer(Settings given) {
    String host = given.get(SERVER_HOST);
    boolean everywhere = host.equals("0.0.0.0") || host.contains(":");
    return new Address(
        everywhere ? HostName.find().orElse("127.0.0.1") : host,
        given.get(given.get(SERVER_TLS) ? SERVER_TLS_PORT : SERVER_PORT));
  }
}
