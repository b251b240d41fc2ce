package io.firstclaim.processor.audit.topology;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstclaim.lock.OneLine;
import io.firstclaim.processor.audit.api.AuditSettings;
import io.firstclaim.processor.audit.api.Minute;
import io.firstclaim.processor.audit.api.Violation;
import io.firstclaim.processor.engine.api.Outcome;
import io.firstclaim.processor.engine.api.OutcomeMessage;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.regex.Pattern;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.WindowStore;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes note of each outcome of this application, its namespace and its store; all others say
 * nothing of its records. Judges by the stream's time, which never goes back. One for each
 * partition; used by one thread.
 */
final class Judge implements Processor<byte[], byte[], byte[], byte[]> {
  private static final Logger LOG = LoggerFactory.getLogger(Judge.class);
  private static final ObjectMapper JSON = new ObjectMapper();

  /** Empty where the holder's name says no zone, as that of one who claims over HTTP may. */
  private static final Pattern ZONE_OR_NONE = Pattern.compile("[a-z0-9-]{0,32}");

  /** How many bytes are kept of an outcome; one that is longer is cut. */
  private static final int MAX_JSON = 2048;

  /** How much is kept of a name where an outcome is cut. */
  static final int MAX_NAME = 249;

  private static final int MAX_CAUSE = 500;

  private static final Duration SWEPT_EVERY = Duration.ofMinutes(1);

  /** Lists are short; of one that is not, a part at a time. */
  private static final int SWEPT_AT_ONCE = 10_000;

  private final AuditSettings settings;
  private final String store;
  private ProcessorContext<byte[], byte[]> context;
  private WindowStore<byte[], byte[]> records;
  private WindowStore<byte[], byte[]> minutes;
  private KeyValueStore<byte[], byte[]> open;
  private KeyValueStore<byte[], byte[]> dead;
  private KeyValueStore<byte[], byte[]> violations;

  @SuppressWarnings("NullAway.Init") // Kafka Streams calls init before anything else
  Judge(AuditSettings settings, String store) {
    this.settings = settings;
    this.store = store;
  }

  @Override
  public void init(ProcessorContext<byte[], byte[]> given) {
    context = given;
    records = given.getStateStore(Stores.RECORDS);
    minutes = given.getStateStore(Stores.MINUTES);
    open = given.getStateStore(Stores.OPEN);
    dead = given.getStateStore(Stores.DEAD);
    violations = given.getStateStore(Stores.VIOLATIONS);
    List<Sweep> sweeps = List.of(new Sweep(open), new Sweep(dead), new Sweep(violations));
    var _ =
        given.schedule(
            SWEPT_EVERY,
            PunctuationType.WALL_CLOCK_TIME,
            now -> {
              // This machine's clock may be ahead for a while, and what is deleted does not come
              // back: the outcomes must have come as far, too.
              long passed = Math.min(now, context.currentStreamTimeMs());
              long before = passed - settings.retention().toMillis();
              sweeps.forEach(sweep -> sweep.go(before));
            });
  }

  @Override
  public void process(Record<byte[], byte[]> message) {
    if (message.timestamp() < context.currentStreamTimeMs() - settings.retention().toMillis()) {
      return; // so late, its ID may be new again, and it would count as if it were of now
    }
    OutcomeMessage.read(message.key(), message.value(), message.headers())
        .filter(this::isOurs)
        .ifPresent(read -> note(read, kept(read.outcome(), message.value()), message.timestamp()));
  }

  private boolean isOurs(OutcomeMessage message) {
    return message.application().equals(settings.application())
        && message.namespace().equals(settings.namespace())
        && message.store().equals(store)
        && ZONE_OR_NONE.matcher(message.outcome().zone()).matches();
  }

  private void note(OutcomeMessage message, byte[] json, long published) {
    long now = context.currentStreamTimeMs();
    byte[] id = message.id().bytes();
    RecordState before = Stores.record(records, id, now, settings.retention());
    RecordState.Change change = before.with(message, json, now, settings.retention());
    if (change.known()) {
      return;
    }
    RecordState after = change.state();
    records.put(id, after.bytes(), Stores.bucketOf(now, settings.retention()));
    list(id, before, after, message.outcome().kind(), json, now);
    if (!message.outcome().zone().isEmpty()) {
      count(message.outcome(), published);
    }
    change.found().ifPresent(found -> tell(message, found, now));
  }

  /** Keeps the lists up to date; most records are never in one, which costs nothing. */
  private void list(
      byte[] id, RecordState before, RecordState after, Outcome.Kind kind, byte[] json, long now) {
    if (after.openSince() != 0) {
      open.put(id, new Stores.Listed(after.openSince(), json).bytes());
    } else if (before.openSince() != 0) {
      byte[] _ = open.delete(id);
    }
    if (after.isDead() && kind == Outcome.Kind.DEAD) {
      dead.put(id, new Stores.Listed(now, json).bytes());
    } else if (before.isDead() && !after.isDead()) {
      byte[] _ = dead.delete(id);
    }
  }

  private void count(Outcome outcome, long published) {
    long start = published - Math.floorMod(published, Stores.MINUTE.toMillis());
    byte[] zone = outcome.zone().getBytes(UTF_8);
    Minute minute =
        Stores.minute(outcome.zone(), Instant.ofEpochMilli(start), minutes.fetch(zone, start));
    minutes.put(zone, Stores.bytes(minute.plus(row(minute, outcome))), start);
  }

  private static Minute row(Minute minute, Outcome outcome) {
    Outcome.Kind kind = outcome.kind();
    Minute empty = Minute.empty(minute.zone(), minute.start());
    return new Minute(
        minute.zone(),
        minute.start(),
        one(kind == Outcome.Kind.COMPLETED),
        one(kind == Outcome.Kind.TAKEN_OVER),
        one(kind == Outcome.Kind.FAILED),
        one(kind == Outcome.Kind.DEAD),
        one(kind == Outcome.Kind.MISMATCH),
        one(kind == Outcome.Kind.LEASE_LOST),
        kind == Outcome.Kind.COMPLETED
            ? empty.latencies().plus(outcome.took())
            : empty.latencies());
  }

  private static int one(boolean is) {
    return is ? 1 : 0;
  }

  private void tell(OutcomeMessage message, Lane.Found found, long now) {
    Outcome outcome = brief(message.outcome());
    Violation violation =
        new Violation(
            message.id(), found.verdict(), outcome, found.otherToken(), Instant.ofEpochMilli(now));
    LOG.error(
        "{} of {}: {} with token {} by zone {}, instance {}, against token {}",
        found.verdict(),
        message.id(),
        outcome.kind(),
        outcome.token(),
        outcome.zone(),
        outcome.instance(),
        found.otherToken());
    byte[] id = message.id().bytes();
    violations.put(id, Stores.bytes(violation));
    context.forward(new Record<>(id, wire(violation), now, headers()));
  }

  /** Fields as those of an outcome, and what is wrong with it. */
  private static byte[] wire(Violation violation) {
    Outcome outcome = violation.outcome();
    ObjectNode json = JSON.createObjectNode();
    json.put("id", violation.id().text()).put("verdict", violation.verdict().name());
    json.put("outcome", outcome.kind().name());
    json.put("zone", outcome.zone()).put("instance", outcome.instance());
    json.put("token", outcome.token()).put("otherToken", violation.otherToken());
    json.put("attempt", outcome.attempt()).put("topic", outcome.topic());
    json.put("partition", outcome.partition()).put("offset", outcome.offset());
    json.put("at", outcome.at().toString());
    try {
      return JSON.writeValueAsBytes(json);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a tree of texts and numbers is always JSON", e);
    }
  }

  private Headers headers() {
    Headers headers = new RecordHeaders();
    headers.add(OutcomeMessage.APPLICATION, settings.application().getBytes(UTF_8));
    headers.add(OutcomeMessage.NAMESPACE, settings.namespace().getBytes(UTF_8));
    headers.add(OutcomeMessage.STORE, store.getBytes(UTF_8));
    return headers;
  }

  /** An outcome as it came, unless it is long. */
  private static byte[] kept(Outcome outcome, byte[] json) {
    return json.length > MAX_JSON ? brief(outcome).json() : json;
  }

  /** Anybody may write to the topic: each text is cut, and resources are left out. */
  private static Outcome brief(Outcome outcome) {
    String cause = outcome.cause();
    return new Outcome(
        OneLine.of(outcome.id(), MAX_NAME),
        outcome.kind(),
        outcome.zone(),
        OneLine.of(outcome.instance(), MAX_NAME),
        outcome.token(),
        outcome.attempt(),
        OneLine.of(outcome.topic(), MAX_NAME),
        outcome.partition(),
        outcome.offset(),
        outcome.at(),
        outcome.took(),
        cause == null ? null : OneLine.of(cause, MAX_CAUSE),
        outcome.retryAt(),
        List.of());
  }

  /** Forgets what the lock store has forgotten. */
  private static final class Sweep {
    private final KeyValueStore<byte[], byte[]> list;
    private byte @Nullable [] from;

    Sweep(KeyValueStore<byte[], byte[]> list) {
      this.list = list;
    }

    /** Looks at the next part of the list, and begins it again at its end. */
    void go(long before) {
      int left = SWEPT_AT_ONCE;
      try (KeyValueIterator<byte[], byte[]> rest = list.range(from, null)) {
        from = null;
        while (rest.hasNext()) {
          KeyValue<byte[], byte[]> entry = rest.next();
          if (left-- == 0) {
            from = entry.key;
            return;
          }
          if (Stores.time(entry.value) < before) {
            byte[] _ = list.delete(entry.key);
          }
        }
      }
    }
  }
}
