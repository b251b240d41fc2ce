package io.firstclaim.processor.service.config;

import io.firstclaim.lock.dynamodb.DynamoDbClaimStore;
import io.firstclaim.processor.engine.api.EngineSettings.OnMismatch;
import io.firstclaim.processor.engine.api.EngineSettings.Ordering;
import io.firstclaim.processor.engine.api.EngineSettings.Trust;
import io.firstclaim.processor.engine.api.RecordIdSource;
import io.firstclaim.processor.engine.api.ResourceSource;
import io.micronaut.context.annotation.ConfigurationProperties;
import io.micronaut.core.annotation.Introspected;
import io.micronaut.core.bind.annotation.Bindable;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotEmpty;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Pattern;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The properties of the service as they are given: names, defaults, meanings and what each may be.
 * {@link SettingsReader} checks them against each other.
 */
final class Properties {
  /** All rooms of properties, in the order in which people see them. */
  static final List<Class<?>> ALL =
      List.of(
          Names.class,
          Zones.class,
          Input.class,
          Claim.class,
          DynamoDb.class,
          S3.class,
          Handler.class,
          Http.class,
          Topic.class,
          Dataset.class,
          Retry.class,
          DeadLetter.class,
          Outcomes.class,
          Audit.class,
          Admin.class,
          Shutdown.class);

  private static final String NAME = "[!-~]{1,128}";

  private static final String BATCH_REMEDY =
      "give a number from 1, for each write in its own request, to 25";

  private static final String NAME_REMEDY = "give 1 to 128 printable ASCII characters, no blanks";
  private static final String TOPIC = "(?!\\.{1,2}$)[a-zA-Z0-9._-]{1,249}";
  private static final String TOPIC_REMEDY = "a topic has 1 to 249 of a-z A-Z 0-9 . _ -";
  private static final String BUCKET = "[a-zA-Z0-9._-]{3,63}";
  private static final String BUCKET_REMEDY = "a bucket has 3 to 63 of a-z A-Z 0-9 . _ -";
  private static final String STATUS = "[345]\\d\\d";
  private static final String STATUS_REMEDY =
      "give statuses from 300 to 599, comma-separated, such as 404,500";
  private static final String ZONE = "[a-z0-9-]{1,32}";
  private static final int MAX_RECORDS = 1_000_000;

  private Properties() {}

  /** Where claims are kept. */
  enum BackendName {
    DYNAMODB,
    S3,
    MEMORY
  }

  @Introspected
  @ConfigurationProperties("firstclaim")
  record Names(
      @Meaning("names what two applications must not share: group, outcomes topic, namespace")
          @Bindable(defaultValue = "firstclaim")
          @Pattern(
              regexp = "[a-zA-Z0-9._-]{1,100}",
              message = "an application has 1 to 100 of a-z A-Z 0-9 . _ -")
          String application,
      @Meaning(
              value = "unique for each process; two with one name are still safe",
              otherwise = "host name + random")
          @Pattern(regexp = NAME, message = NAME_REMEDY)
          @Nullable String instance) {}

  @Introspected
  @ConfigurationProperties("firstclaim")
  record Zones(
      @Meaning("this deployment's zone: 1 to 32 of `a-z0-9-`")
          @NotEmpty(message = "name this deployment's zone, such as a")
          @Pattern(regexp = ZONE, message = "a zone has 1 to 32 of a-z, 0-9 and -")
          String zone,
      @Meaning(
              value =
                  "all zones, comma-separated; with it, each record has a preferred zone by hash",
              otherwise = "none")
          @Nullable
              List<
                  @Pattern(
                      regexp = ZONE,
                      message = "give each zone once, of a-z, 0-9 and -, such as a,b")
                  String>
              zones) {}

  @Introspected
  @ConfigurationProperties("firstclaim.input")
  record Input(
      @Meaning("the input topics, comma-separated")
          @NotEmpty(message = "name the input topics, comma-separated")
          List<@Pattern(regexp = TOPIC, message = TOPIC_REMEDY) String> topics,
      @Meaning(
              value = "consumer group: one for each zone, so that every zone receives everything",
              otherwise = "`<application>-<zone>`")
          @Nullable String group,
      @Meaning(
              "where a record's ID is, comma-separated, the first one found: `header:NAME`, `key`,"
                  + " `json:/pointer`, `sha256:value`, `offset`; a CloudEvents ID is combined with"
                  + " `ce_source`")
          @NotEmpty(
              message =
                  "say where a record's ID is: header:NAME, key, json:/pointer, sha256:value or"
                      + " offset. There is no safe guess: two records with one ID count as one,"
                      + " and a key is often an entity's, not an event's")
          List<RecordIdSource> recordId,
      @Meaning("which records wait for each other: `unordered`, `key` or `partition`")
          @Bindable(defaultValue = "unordered")
          Ordering ordering,
      @Meaning("records being claimed or handled at once; polling pauses past it")
          @Bindable(defaultValue = "1000")
          @Min(value = 1, message = Text.COUNT)
          @Max(value = MAX_RECORDS, message = Text.COUNT)
          int maxInFlight,
      @Meaning("records waiting for another holder, a retry, their head start or their turn")
          @Bindable(defaultValue = "10000")
          @Min(value = 1, message = Text.COUNT)
          @Max(value = MAX_RECORDS, message = Text.COUNT)
          int maxParked,
      @Meaning(
              value =
                  "bytes of records in memory, such as `64MB`: keys, values and headers; polling"
                      + " pauses past it, and one record always enters",
              otherwise = "a sixth of the heap")
          Text.@Nullable Memory maxBuffered,
      @Meaning(
              value = "how far back the input may ever be rewound",
              otherwise = "the topic's retention")
          @NotZero
          @Nullable Duration replayHorizon) {}

  @Introspected
  @ConfigurationProperties("firstclaim.claim")
  record Claim(
      @Meaning("`dynamodb`, `s3`, or `memory` for one process only")
          @Bindable(defaultValue = "dynamodb")
          BackendName backend,
      @Meaning(
              value = "separates applications that share a table or bucket",
              otherwise = "`<application>`")
          @Pattern(regexp = NAME, message = NAME_REMEDY)
          @Nullable String namespace,
      @Meaning("length of a lease; at least three times `max-skew`")
          @Bindable(defaultValue = "30s")
          @NotZero
          Duration lease,
      @Meaning("renew at a third of the lease, while the handler runs")
          @Bindable(defaultValue = "true")
          boolean renew,
      @Meaning(
              "declared bound on how far the clocks of the store's own machines differ; at least"
                  + " `500ms`")
          @Bindable(defaultValue = "1s")
          Duration maxSkew,
      @Meaning(
              "how long the other zones leave a record to its preferred zone; `auto`: as long as they"
                  + " see it need, up to a third of the lease")
          @Bindable(defaultValue = "auto")
          Text.HeadStart headStart,
      @Meaning("how long finished claims are kept; at least the replay horizon + 1 day")
          @Bindable(defaultValue = "8d")
          @NotZero
          Duration retention,
      @Meaning("same ID, different payload: `dead-letter` or `skip`")
          @Bindable(defaultValue = "dead-letter")
          OnMismatch onMismatch,
      @Meaning(
              value =
                  "what a record touches, such as `json:/from,json:/to`, comma-separated:"
                      + " `json:/pointer` (`*` for each element of an array), `header:NAME`, `key`;"
                      + " all that they yield, up to 20, is claimed with the record, so that of two"
                      + " records that touch one thing one waits for the other",
              otherwise = "none")
          @Nullable List<ResourceSource> resources,
      @Meaning("create the table or bucket at start if it is missing")
          @Bindable(defaultValue = "false")
          boolean create) {}

  @Introspected
  @ConfigurationProperties("firstclaim.claim.dynamodb")
  record DynamoDb(
      @Meaning("the table that claims are kept in")
          @Bindable(defaultValue = "firstclaim")
          @Pattern(
              regexp = "[a-zA-Z0-9._-]{3,255}",
              message = "a table has 3 to 255 of a-z A-Z 0-9 . _ -")
          String table,
      @Meaning("conditional writes in one request; `1`: each in its own")
          @Bindable(defaultValue = "25")
          @Min(value = 1, message = BATCH_REMEDY)
          @Max(value = DynamoDbClaimStore.BATCH, message = BATCH_REMEDY)
          int batch) {}

  @Introspected
  @ConfigurationProperties("firstclaim.claim.s3")
  record S3(
      @Meaning(
              value = "the general purpose bucket that claims are kept in",
              otherwise = "required with `s3`")
          @NotEmpty(message = "name the bucket that claims are kept in")
          @Pattern(regexp = BUCKET, message = BUCKET_REMEDY)
          String bucket,
      @Meaning("nothing but claims may be under it")
          @Bindable(defaultValue = "claims/")
          @Pattern(
              regexp = "(?=.{1,200}$)([a-zA-Z0-9._-]+/)+",
              message =
                  "give up to 200 of a-z A-Z 0-9 . _ - in parts that end in /, such as claims/")
          String prefix,
      @Meaning(
              "how often one of the instances deletes claims past their retention; `0s`: left to the"
                  + " bucket's lifecycle rule")
          @Bindable(defaultValue = "1d")
          Duration sweep) {}

  @Introspected
  @ConfigurationProperties("firstclaim.handler")
  record Handler(
      @Meaning(
              value =
                  "`log`, `http`, `topic`, `dataset`, or the name of a `RecordHandler` of yours",
              otherwise = "required")
          @Nullable String type,
      @Meaning("how long until the handler is interrupted and the attempt fails")
          @Bindable(defaultValue = "5m")
          @NotZero
          Duration timeout,
      @Meaning(value = "folder of jars with your own handlers", otherwise = "none")
          @Nullable String path) {}

  @Introspected
  @ConfigurationProperties("firstclaim.handler.http")
  record Http(
      @Meaning(value = "where records are posted to", otherwise = "required with `http`")
          @NotNull(message = "the http handler needs the URL to post to")
          URI url,
      @Meaning("how long to wait for an answer") @Bindable(defaultValue = "30s") @NotZero
          Duration timeout,
      @Meaning(
              value =
                  "statuses, comma-separated, that mean that the service is not there; besides 3xx,"
                      + " 401, 403, 407, 429, 502, 503 and 504",
              otherwise = "none")
          @Nullable List<@Pattern(regexp = STATUS, message = STATUS_REMEDY) String> unavailableOn,
      @Meaning(
              value =
                  "statuses, comma-separated, that make the record a dead letter at once; besides"
                      + " other 4xx",
              otherwise = "none")
          @Nullable List<@Pattern(regexp = STATUS, message = STATUS_REMEDY) String> deadLetterOn) {}

  @Introspected
  @ConfigurationProperties("firstclaim.handler.topic")
  record Topic(
      @Meaning(value = "where records are published to", otherwise = "required with `topic`")
          @NotEmpty(message = "the topic handler needs the topic to publish to")
          @Pattern(regexp = TOPIC, message = TOPIC_REMEDY)
          String name) {}

  @Introspected
  @ConfigurationProperties("firstclaim.handler.dataset")
  record Dataset(
      @Meaning(
              value = "the bucket of the dataset, which must be there",
              otherwise = "the claims' bucket; required if claims are not on S3")
          @Pattern(regexp = BUCKET, message = BUCKET_REMEDY)
          @Nullable String bucket,
      @Meaning(
              value =
                  "prefix of all the dataset's objects, such as `lake/`; apart from the claims'",
              otherwise = "none")
          @Pattern(
              regexp = "(?=.{1,200}$)((?!\\.{1,2}/)[a-zA-Z0-9._-]+/)+",
              message = "give up to 200 of a-z A-Z 0-9 . _ - in parts that end in /, such as lake/")
          @Nullable String prefix,
      @Meaning("larger values are uploaded in parts of this size; `5MB` to `1024MB`")
          @Bindable(defaultValue = "8MB")
          Text.Size multipartThreshold,
      @Meaning(
              "time between two registry updates by one instance, less when many files come; at"
                  + " most `10s`")
          @Bindable(defaultValue = "1s")
          @NotZero
          Duration registryInterval) {}

  @Introspected
  @ConfigurationProperties("firstclaim.retry")
  record Retry(
      @Meaning("how many attempts before the record is a dead letter")
          @Bindable(defaultValue = "5")
          @Min(value = 1, message = Text.COUNT)
          @Max(value = MAX_RECORDS, message = Text.COUNT)
          int maxAttempts,
      @Meaning("pause before the second attempt; doubles from there, with jitter")
          @Bindable(defaultValue = "1s")
          @NotZero
          Duration backoff,
      @Meaning("where the doubling ends") @Bindable(defaultValue = "1m") @NotZero
          Duration maxBackoff) {}

  @Introspected
  @ConfigurationProperties("firstclaim.dead-letter")
  record DeadLetter(
      @Meaning(value = "created if missing; kept for ever", otherwise = "`<topic>.dlt`")
          @Pattern(regexp = TOPIC, message = TOPIC_REMEDY)
          @Nullable String topic) {}

  @Introspected
  @ConfigurationProperties("firstclaim.outcomes")
  record Outcomes(
      @Meaning(
              value = "created if missing; `none`: no outcomes, the store is asked instead",
              otherwise = "`<application>.outcomes`")
          @Pattern(regexp = TOPIC, message = TOPIC_REMEDY)
          @Nullable String topic,
      @Meaning(
              "what an outcome heard is worth: `topic`: its record is skipped; `verify`: only after"
                  + " the store was asked, for when others may write to the topic")
          @Bindable(defaultValue = "topic")
          Trust trust) {}

  @Introspected
  @ConfigurationProperties("firstclaim.audit")
  record Audit(
      @Meaning(
              "audit by Kafka Streams: what became of each record, and what must not have happened,"
                  + " which goes to the topic `<application>.violations`; needs outcomes")
          @Bindable(defaultValue = "true")
          boolean enabled,
      @Meaning(
              value = "a record that was begun is stuck when it is not settled for so long",
              otherwise = "ten leases, `5m` at least")
          @NotZero
          @Nullable Duration stuckAfter,
      @Meaning(
              value =
                  "folder for the audit's state, of no other process; what is lost there is"
                      + " restored from Kafka",
              otherwise = "under the folder for temporary files")
          @Nullable String directory,
      @Meaning(
              value =
                  "`host:port` at which the other instances of the zone reach this one's HTTP"
                      + " server, to ask for the records whose audit it keeps",
              otherwise = "that of `micronaut.server`")
          @Pattern(
              regexp = "[a-zA-Z0-9._-]{1,253}:[1-9]\\d{0,4}",
              message = "give host:port, such as processor-1:8080")
          @Nullable String address) {}

  @Introspected
  @ConfigurationProperties("firstclaim.admin")
  record Admin(
      @Meaning(
              value =
                  "file of bearer tokens, one a line: `NAME ROLE SHA256-OF-THE-TOKEN` in hex, role"
                      + " `reader` or `operator`, `#` begins a comment; read again when it changes",
              otherwise = "`/api` answers this machine only, and changes nothing")
          @Nullable String tokenFile) {}

  @Introspected
  @ConfigurationProperties("firstclaim.shutdown")
  record Shutdown(
      @Meaning(
              "how long handlers may finish at SIGTERM; the rest is released for the other zone, and"
                  + " all is over at most 9 s later")
          @Bindable(defaultValue = "20s")
          @NotZero
          Duration grace) {}
}
