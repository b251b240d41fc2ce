package io.firstclaim.processor.engine.api;

import static io.firstclaim.processor.engine.setting.Syntax.COUNT;
import static io.firstclaim.processor.engine.setting.Syntax.DURATION;
import static io.firstclaim.processor.engine.setting.Syntax.FLAG;
import static io.firstclaim.processor.engine.setting.Syntax.LENGTH;
import static io.firstclaim.processor.engine.setting.Syntax.TEXT;
import static io.firstclaim.processor.engine.setting.Syntax.TOPIC;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.processor.engine.api.EngineSettings.Mode;
import io.firstclaim.processor.engine.api.EngineSettings.OnMismatch;
import io.firstclaim.processor.engine.api.EngineSettings.Ordering;
import io.firstclaim.processor.engine.api.EngineSettings.TooOld;
import io.firstclaim.processor.engine.api.EngineSettings.Trust;
import io.firstclaim.processor.engine.setting.Catalog;
import io.firstclaim.processor.engine.setting.HostName;
import io.firstclaim.processor.engine.setting.Setting;
import io.firstclaim.processor.engine.setting.Syntax;
import java.time.Duration;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;

/**
 * The engine's settings: the one place that has their names, their defaults, what they may be and
 * what they mean. What must hold between two of them is in {@link EngineSettings}.
 */
public final class EngineCatalog {
  private static final Catalog CATALOG = new Catalog();

  private static final Syntax<String> NAME =
      Syntax.text("[!-~]{1,128}", "give 1 to 128 printable ASCII characters, no blanks");

  /** Handlers need some multiple of what they are given, and Kafka's client fetches ahead. */
  private static final int SHARE_OF_HEAP = 6;

  /** {@code firstclaim.application}. */
  public static final Setting<String> APPLICATION =
      CATALOG.withDefault(
          "firstclaim.application",
          Syntax.text("[a-zA-Z0-9._-]{1,100}", "an application has 1 to 100 of a-z A-Z 0-9 . _ -"),
          "firstclaim",
          "names what two applications must not share: group, outcomes topic, namespace");

  /** {@code firstclaim.mode}. */
  public static final Setting<Mode> MODE =
      CATALOG.withDefault(
          "firstclaim.mode",
          Syntax.choice(Mode.class),
          Mode.PROCESS,
          "`process`, or `shadow`: beside what is there, claims records, calls no handler and tells"
              + " which it would have skipped; application, group, namespace and outcomes topic"
              + " then end in `-shadow`, also where they are given");

  /** {@code firstclaim.instance}. */
  public static final Setting<String> INSTANCE =
      CATALOG.derived(
          "firstclaim.instance",
          NAME,
          "host name + random",
          _ -> HostName.find().orElse("unknown-host") + "-" + random(),
          "unique for each process; two with one name are still safe");

  /** {@code firstclaim.zone}. */
  public static final Setting<String> ZONE =
      CATALOG.required(
          "firstclaim.zone",
          Syntax.text("[a-z0-9-]{1,32}", "a zone has 1 to 32 of a-z, 0-9 and -"),
          "name this deployment's zone, such as a",
          "this deployment's zone: 1 to 32 of `a-z0-9-`");

  private static final String EACH_ZONE = "give each zone once, of a-z, 0-9 and -, such as a,b";

  /** {@code firstclaim.zones}. */
  public static final Setting<List<String>> ZONES =
      CATALOG.derived(
          "firstclaim.zones",
          Syntax.list(Syntax.text("[a-z0-9-]{1,32}", EACH_ZONE))
              .where(zones -> new HashSet<>(zones).size() == zones.size(), EACH_ZONE),
          "none",
          _ -> List.of(),
          "all zones, comma-separated; with it, each record has a preferred zone by hash");

  /** {@code firstclaim.input.topics}. */
  public static final Setting<List<String>> TOPICS =
      CATALOG.required(
          "firstclaim.input.topics",
          Syntax.list(TOPIC)
              .where(topics -> !topics.isEmpty(), "name the input topics, comma-separated"),
          "name the input topics, comma-separated",
          "the input topics, comma-separated");

  /** {@code firstclaim.input.group}. */
  public static final Setting<String> GROUP =
      CATALOG.derived(
          "firstclaim.input.group",
          TEXT.where(group -> !group.isBlank(), "give a name that is not blank"),
          "`<application>-<zone>`",
          given -> given.get(APPLICATION) + "-" + given.get(ZONE),
          "consumer group: one for each zone, so that every zone receives everything");

  private static final String NO_RECORD_ID =
      "say where a record's ID is: header:NAME, key, json:/pointer, sha256:value or offset. There"
          + " is no safe guess: two records with one ID count as one, and a key is often an"
          + " entity's, not an event's";

  /** {@code firstclaim.input.record-id}. */
  public static final Setting<List<RecordIdSource>> RECORD_ID =
      CATALOG.required(
          "firstclaim.input.record-id",
          new Syntax<List<RecordIdSource>>(
                  RecordIdSource::parseList,
                  sources ->
                      sources.stream().map(RecordIdSource::text).collect(Collectors.joining(",")))
              .where(sources -> !sources.isEmpty(), NO_RECORD_ID),
          NO_RECORD_ID,
          "where a record's ID is, comma-separated, the first one found: `header:NAME`, `key`,"
              + " `json:/pointer`, `sha256:value`, `offset`; a CloudEvents ID is combined with"
              + " `ce_source`");

  /** {@code firstclaim.input.ordering}. */
  public static final Setting<Ordering> ORDERING =
      CATALOG.withDefault(
          "firstclaim.input.ordering",
          Syntax.choice(Ordering.class),
          Ordering.UNORDERED,
          "which records wait for each other: `unordered`, `key` or `partition`");

  /** {@code firstclaim.input.max-in-flight}. */
  public static final Setting<Integer> MAX_IN_FLIGHT =
      CATALOG.withDefault(
          "firstclaim.input.max-in-flight",
          COUNT,
          1000,
          "records being claimed or handled at once; polling pauses past it");

  /** {@code firstclaim.input.max-parked}. */
  public static final Setting<Integer> MAX_PARKED =
      CATALOG.withDefault(
          "firstclaim.input.max-parked",
          COUNT,
          10_000,
          "records waiting for another holder, a retry, their head start or their turn");

  /** {@code firstclaim.input.max-buffered}, in bytes. */
  public static final Setting<Long> MAX_BUFFERED =
      CATALOG.derived(
          "firstclaim.input.max-buffered",
          Syntax.size("give a size from 1MB to 999999MB, such as 64MB"),
          "a sixth of the heap",
          _ -> Runtime.getRuntime().maxMemory() / SHARE_OF_HEAP,
          "bytes of records in memory, such as `64MB`: keys, values and headers, and for an eighth"
              + " the IDs of those that are known to have ended; polling pauses past the rest, and"
              + " one record always enters");

  /** {@code firstclaim.input.replay-horizon}. */
  public static final Setting<Optional<Duration>> REPLAY_HORIZON =
      CATALOG.derived(
          "firstclaim.input.replay-horizon",
          Syntax.optional("", LENGTH),
          "the topic's `retention.ms` + `segment.ms`",
          _ -> Optional.empty(),
          "how far back the input may ever be rewound");

  /** {@code firstclaim.input.too-old}. */
  public static final Setting<TooOld> TOO_OLD =
      CATALOG.withDefault(
          "firstclaim.input.too-old",
          Syntax.choice(TooOld.class),
          TooOld.PROCESS,
          "a record whose own time is longer ago than `firstclaim.claim.retention`, of which claims"
              + " may have forgotten that it was handled: `process` (counted and warned of) or"
              + " `dead-letter`");

  /** {@code firstclaim.claim.namespace}. */
  public static final Setting<String> NAMESPACE =
      CATALOG.derived(
          "firstclaim.claim.namespace",
          NAME,
          "`<application>`",
          given -> given.get(APPLICATION),
          "separates applications that share a table or bucket");

  /** {@code firstclaim.claim.lease}. */
  public static final Setting<Duration> LEASE =
      CATALOG.withDefault(
          "firstclaim.claim.lease",
          LENGTH,
          ClaimSettings.DEFAULT_LEASE,
          "length of a lease; at least three times `max-skew`");

  /** {@code firstclaim.claim.renew}. */
  public static final Setting<Boolean> RENEW =
      CATALOG.withDefault(
          "firstclaim.claim.renew",
          FLAG,
          true,
          "renew at a third of the lease, while the handler runs");

  /** {@code firstclaim.claim.max-skew}. */
  public static final Setting<Duration> MAX_SKEW =
      CATALOG.withDefault(
          "firstclaim.claim.max-skew",
          DURATION.where(
              skew -> skew.compareTo(ClaimSettings.LEAST_SKEW) >= 0, "give 500ms or more"),
          ClaimSettings.DEFAULT_MAX_SKEW,
          "declared bound on how far the clocks of the store's own machines differ; at least"
              + " `500ms`");

  /** {@code firstclaim.claim.head-start}; if empty, as long as the other zones see it need. */
  public static final Setting<Optional<Duration>> HEAD_START =
      CATALOG.withDefault(
          "firstclaim.claim.head-start",
          Syntax.optional("auto", DURATION),
          Optional.empty(),
          "how long the other zones leave a record to its preferred zone; `auto`: as long as they"
              + " see it need, up to a third of the lease");

  /** {@code firstclaim.claim.retention}. */
  public static final Setting<Duration> RETENTION =
      CATALOG.withDefault(
          "firstclaim.claim.retention",
          LENGTH,
          ClaimSettings.DEFAULT_RETENTION,
          "how long finished claims are kept; at least the replay horizon + 1 day, where that is not set"
              + " the topic's `retention.ms` + `segment.ms` + 1 day");

  /** {@code firstclaim.claim.on-mismatch}. */
  public static final Setting<OnMismatch> ON_MISMATCH =
      CATALOG.withDefault(
          "firstclaim.claim.on-mismatch",
          Syntax.choice(OnMismatch.class),
          OnMismatch.DEAD_LETTER,
          "same ID, different payload: `dead-letter` or `skip`");

  /** {@code firstclaim.claim.resources}. */
  public static final Setting<List<ResourceSource>> RESOURCES =
      CATALOG.derived(
          "firstclaim.claim.resources",
          new Syntax<>(
              ResourceSource::parseList,
              sources -> sources.stream().map(String::valueOf).collect(Collectors.joining(","))),
          "none",
          _ -> List.of(),
          "what a record touches, such as `json:/from,json:/to`, comma-separated: `json:/pointer`"
              + " (`*` for each element of an array), `header:NAME`, `key`; all that they yield,"
              + " up to 20, is claimed with the record, so that of two records that touch one"
              + " thing one waits for the other");

  /** {@code firstclaim.handler.timeout}. */
  public static final Setting<Duration> HANDLER_TIMEOUT =
      CATALOG.withDefault(
          "firstclaim.handler.timeout",
          LENGTH,
          Duration.ofMinutes(5),
          "how long until the handler is interrupted and the attempt fails");

  /** {@code firstclaim.handler.rate}; empty if there is no limit. */
  public static final Setting<Optional<Integer>> HANDLER_RATE =
      CATALOG.withDefault(
          "firstclaim.handler.rate",
          Syntax.optional("none", COUNT),
          Optional.empty(),
          "how many handlers may begin in a second, in this instance; records wait before they are"
              + " claimed");

  /** {@code firstclaim.retry.max-attempts}. */
  public static final Setting<Integer> MAX_ATTEMPTS =
      CATALOG.withDefault(
          "firstclaim.retry.max-attempts",
          COUNT,
          5,
          "how many attempts before the record is a dead letter");

  /** {@code firstclaim.retry.backoff}. */
  public static final Setting<Duration> BACKOFF =
      CATALOG.withDefault(
          "firstclaim.retry.backoff",
          LENGTH,
          Duration.ofSeconds(1),
          "pause before the second attempt; doubles from there, with jitter");

  /** {@code firstclaim.retry.max-backoff}. */
  public static final Setting<Duration> MAX_BACKOFF =
      CATALOG.withDefault(
          "firstclaim.retry.max-backoff", LENGTH, Duration.ofMinutes(1), "where the doubling ends");

  /** {@code firstclaim.dead-letter.topic}; if empty, {@code <topic>.dlt} for each input topic. */
  public static final Setting<Optional<String>> DEAD_LETTER_TOPIC =
      CATALOG.derived(
          "firstclaim.dead-letter.topic",
          Syntax.optional("", TOPIC),
          "`<topic>.dlt`",
          _ -> Optional.empty(),
          "created if missing; kept for ever");

  /** {@code firstclaim.outcomes.topic}; empty if there are no outcomes. */
  public static final Setting<Optional<String>> OUTCOMES_TOPIC =
      CATALOG.derived(
          "firstclaim.outcomes.topic",
          Syntax.optional("none", TOPIC),
          "`<application>.outcomes`",
          given -> Optional.of(outcomesTopicOf(given.get(APPLICATION))),
          "created if missing; `none`: no outcomes, the store is asked instead");

  /** {@code firstclaim.outcomes.trust}. */
  public static final Setting<Trust> OUTCOMES_TRUST =
      CATALOG.withDefault(
          "firstclaim.outcomes.trust",
          Syntax.choice(Trust.class),
          Trust.TOPIC,
          "what an outcome heard is worth: `topic`: its record is skipped; `verify`: only after"
              + " the store was asked, for when others may write to the topic");

  /** {@code firstclaim.shutdown.grace}. */
  public static final Setting<Duration> SHUTDOWN_GRACE =
      CATALOG.withDefault(
          "firstclaim.shutdown.grace",
          LENGTH,
          Duration.ofSeconds(20),
          "how long handlers may finish at SIGTERM; the rest is released for the other zone, and"
              + " all is over at most 9 s later");

  /** Everything under {@code kafka}, without that prefix; holds secrets. */
  public static final Setting<Map<String, Object>> KAFKA =
      CATALOG.derived(
          "kafka.*",
          new Syntax<>(
              _ -> {
                throw new IllegalArgumentException("give each setting of Kafka by itself");
              },
              _ -> ""),
          "`kafka.bootstrap.servers` is required",
          _ -> Map.of(),
          "passed to the Kafka clients as they are, such as `KAFKA_BOOTSTRAP_SERVERS`, SASL, TLS;"
              + " `KAFKA_GROUP_PROTOCOL=consumer` for KIP-848");

  private EngineCatalog() {}

  /** All settings, in the order in which they stand here. */
  public static List<Setting<?>> all() {
    return CATALOG.all();
  }

  /** The topic of an application's outcomes, unless another is set. */
  public static String outcomesTopicOf(String application) {
    return application + ".outcomes";
  }

  private static String random() {
    return HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextInt());
  }
}
