package io.firstclaim.processor.engine.identity;

import static java.util.stream.Collectors.joining;

import com.fasterxml.jackson.core.JsonPointer;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.RedriveId;
import io.firstclaim.processor.engine.api.RecordIdSource;
import io.firstclaim.processor.engine.api.ResourceSource;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/**
 * Finds a record's ID: the first source that yields one decides, and an ID that is found but cannot
 * be used makes the record {@link Identity.Missing}, whatever the sources after it say. An empty ID
 * counts as none.
 *
 * <p>IDs are bytes and stay what they are, valid UTF-8 or not; sources share one space of IDs. The
 * ID of a CloudEvent, in the header {@code ce_id}, is unique only for its {@code ce_source} and is
 * combined with it, see {@link CloudEventId}.
 *
 * <p>Finds what the record touches, too: all sources of resources contribute, and what cannot be
 * claimed makes the record {@link Identity.Unclaimable}. Immutable.
 */
public final class Identifier {
  private static final String STAND_IN = "unidentified:";

  /** Prefixes of IDs that the engine itself makes up; no record may bring one. */
  private static final List<String> RESERVED = List.of(STAND_IN, "mismatch:");

  private final List<RecordIdSource> sources;
  private final List<ResourceSource> resources;
  private final List<JsonPointer> resourcesInValue;
  private final String application;
  private final Function<ConsumerRecord<?, ?>, Optional<String>> refusal;

  /**
   * An identifier that asks these sources in their order.
   *
   * @param resources where the resources are
   * @param application whose redriven records are heeded
   * @param refusal why a record that was not redriven is to be given up, whatever its ID
   * @throws IllegalArgumentException if there are none
   */
  public Identifier(
      List<RecordIdSource> sources,
      List<ResourceSource> resources,
      String application,
      Function<ConsumerRecord<?, ?>, Optional<String>> refusal) {
    if (sources.isEmpty()) {
      throw new IllegalArgumentException("at least one source of record IDs is needed");
    }
    this.sources = List.copyOf(sources);
    this.resources = List.copyOf(resources);
    this.resourcesInValue =
        resources.stream()
            .filter(ResourceSource.JsonFields.class::isInstance)
            .map(source -> ((ResourceSource.JsonFields) source).pointer())
            .toList();
    this.application = application;
    this.refusal = refusal;
  }

  /** An identifier that refuses no record. */
  public Identifier(
      List<RecordIdSource> sources, List<ResourceSource> resources, String application) {
    this(sources, resources, application, _ -> Optional.empty());
  }

  /**
   * The redrive by which this record is delivered again, after it was given up; null for all that
   * come for the first time, or once more from their source.
   */
  public @Nullable RedriveId redriveOf(ConsumerRecord<byte[], byte[]> record) {
    Redriven redriven = Redriven.of(record.headers(), application);
    return redriven == null ? null : redriven.by();
  }

  /**
   * The identity of this record. That of a redriven one is what it was given up under, as its place
   * and the settings may be others by now. Never throws, whatever the record holds.
   *
   * @param topicId of the topic it comes from: one that is made later under its name is another
   */
  public Identity identify(ConsumerRecord<byte[], byte[]> record, String topicId) {
    Redriven redriven = Redriven.of(record.headers(), application);
    return redriven == null
        ? unlessRefused(bySources(record, topicId), record)
        : again(redriven, record, topicId);
  }

  private Identity unlessRefused(Identity identity, ConsumerRecord<byte[], byte[]> record) {
    return identity instanceof Identity.Found(RecordId id, _)
        ? refusal
            .apply(record)
            .<Identity>map(why -> new Identity.Unclaimable(id, why))
            .orElse(identity)
        : identity;
  }

  private Identity again(Redriven redriven, ConsumerRecord<byte[], byte[]> record, String topicId) {
    RecordId id = redriven.id();
    if (id == null) {
      return missing(record, topicId, "a redriven record's header firstclaim-id names no ID");
    }
    if (startsWith(id.bytes(), STAND_IN)) {
      // It had no ID, and a redrive gives it none: it is given up again under the same stand-in.
      return new Identity.Missing(id, "the record has no ID, and a redrive gives it none");
    }
    return usable(id.bytes(), "header firstclaim-id", record, topicId);
  }

  private Identity bySources(ConsumerRecord<byte[], byte[]> record, String topicId) {
    for (RecordIdSource source : sources) {
      byte[] id = idFrom(source, record, topicId);
      if (id != null && id.length > 0) {
        return usable(id, source.text(), record, topicId);
      }
    }
    return missing(
        record,
        topicId,
        "the record has no ID; tried: "
            + sources.stream().map(RecordIdSource::text).collect(joining(", ")));
  }

  private Identity usable(
      byte[] id, String source, ConsumerRecord<byte[], byte[]> record, String topicId) {
    if (id.length > RecordId.MAX_BYTES) {
      return missing(
          record,
          topicId,
          "the ID from %s has %d bytes, more than %d"
              .formatted(source, id.length, RecordId.MAX_BYTES));
    }
    for (String prefix : RESERVED) {
      if (startsWith(id, prefix)) {
        return missing(
            record,
            topicId,
            "the ID from %s begins with '%s', which is reserved".formatted(source, prefix));
      }
    }
    return resources.isEmpty()
        ? new Identity.Found(RecordId.of(id))
        : withResources(RecordId.of(id), record);
  }

  private Identity withResources(RecordId id, ConsumerRecord<byte[], byte[]> record) {
    Resources found = new Resources();
    for (ResourceSource source : resources) {
      byte[] name =
          switch (source) {
            case ResourceSource.Header(String header) -> last(header, record.headers());
            case ResourceSource.Key() -> record.key();
            case ResourceSource.JsonFields _ -> null; // these are read below, all at once
          };
      if (name != null) {
        found.add(name);
      }
    }
    if (!resourcesInValue.isEmpty() && record.value() != null) {
      JsonResources.find(record.value(), resourcesInValue, found);
    }
    String fault = found.fault();
    return fault == null
        ? new Identity.Found(id, found.ids())
        : new Identity.Unclaimable(id, fault);
  }

  private static Identity missing(
      ConsumerRecord<byte[], byte[]> record, String topicId, String cause) {
    return new Identity.Missing(
        RecordId.of(
            "%s%s:%s:%d:%d"
                .formatted(STAND_IN, record.topic(), topicId, record.partition(), record.offset())),
        cause);
  }

  private byte @Nullable [] idFrom(
      RecordIdSource source, ConsumerRecord<byte[], byte[]> record, String topicId) {
    byte @Nullable [] value = record.value();
    return switch (source) {
      case RecordIdSource.Header(String name) -> fromHeader(name, record.headers());
      case RecordIdSource.Key() -> record.key();
      case RecordIdSource.JsonField(var pointer) ->
          value == null ? null : JsonId.find(value, pointer);
      case RecordIdSource.ValueHash() ->
          value == null ? null : ascii("sha256:" + Fingerprint.of(value));
      case RecordIdSource.Offset() ->
          ascii(
              "%s-%s-%d-%d"
                  .formatted(record.topic(), topicId, record.partition(), record.offset()));
    };
  }

  private static byte @Nullable [] fromHeader(String name, Headers headers) {
    byte[] id = last(name, headers);
    return id == null || id.length == 0 || !name.equals(CloudEventId.ID_HEADER)
        ? id
        : CloudEventId.of(last(CloudEventId.SOURCE_HEADER, headers), id);
  }

  private static byte @Nullable [] last(String name, Headers headers) {
    @Nullable Header header = headers.lastHeader(name);
    return header == null ? null : header.value();
  }

  private static boolean startsWith(byte[] id, String ascii) {
    if (id.length < ascii.length()) {
      return false;
    }
    for (int i = 0; i < ascii.length(); i++) {
      if (id[i] != ascii.charAt(i)) {
        return false;
      }
    }
    return true;
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}
