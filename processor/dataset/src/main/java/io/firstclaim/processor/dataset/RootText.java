package io.firstclaim.processor.dataset;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.util.MinimalPrettyPrinter;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * How a root is written, for people too: {@code {"schemaVersion": 2, "version", "updatedAt",
 * "files", "bytes", "partitions": [{"partition", "files", "bytes", "updatedAt", "manifests":
 * [{"name", "files", "bytes", "names", "found"}]}]}}, a line for each partition and each manifest.
 * The counts are computed whenever it is written, and not read.
 *
 * <p>Partitions are a list, and not an object by path as in version 1, so that 0.1.0 refuses a root
 * that it cannot read, rather than take it for one without files.
 */
final class RootText {
  /** The version of the schema that {@link #of} writes. */
  static final int SCHEMA_VERSION = 2;

  private static final Pattern NAME = Pattern.compile("[0-9a-f]{32}");
  private static final Pattern NAMES = Pattern.compile("[0-9a-f]{16}");

  private RootText() {}

  /** What a root can be found as. */
  sealed interface Found {
    /** As it is written now. */
    record Current(Root root) implements Found {}

    /** As 0.1.0 wrote it: the list of all files. */
    record VersionOne(List<DatasetFile> files) implements Found {}
  }

  /** A newline before each partition and each manifest. */
  private static final class Lines extends MinimalPrettyPrinter {
    private static final long serialVersionUID = 1L;

    @Override
    public void writeStartArray(JsonGenerator json) throws IOException {
      json.writeRaw('[');
    }

    @Override
    public void beforeArrayValues(JsonGenerator json) throws IOException {
      json.writeRaw('\n');
    }

    @Override
    public void writeArrayValueSeparator(JsonGenerator json) throws IOException {
      json.writeRaw(",\n");
    }

    @Override
    public void writeObjectEntrySeparator(JsonGenerator json) throws IOException {
      json.writeRaw(", ");
    }

    @Override
    public void writeObjectFieldValueSeparator(JsonGenerator json) throws IOException {
      json.writeRaw(": ");
    }
  }

  /** A root as text. */
  static String of(Root root) {
    StringWriter text = new StringWriter();
    try (JsonGenerator json = RegistryJson.MAPPER.getFactory().createGenerator(text)) {
      json.setPrettyPrinter(new Lines());
      json.writeStartObject();
      json.writeNumberField("schemaVersion", SCHEMA_VERSION);
      json.writeNumberField("version", root.version());
      json.writeStringField("updatedAt", root.updatedAt().toString());
      json.writeNumberField("files", root.files());
      json.writeNumberField("bytes", root.bytes());
      json.writeArrayFieldStart("partitions");
      for (Map.Entry<String, Root.Partition> partition : root.partitions().entrySet()) {
        write(json, partition.getKey(), partition.getValue());
      }
      json.writeEndArray();
      json.writeEndObject();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return text.toString();
  }

  private static void write(JsonGenerator json, String path, Root.Partition partition)
      throws IOException {
    json.writeStartObject();
    json.writeStringField("partition", path);
    json.writeNumberField("files", partition.files());
    json.writeNumberField("bytes", partition.bytes());
    json.writeStringField("updatedAt", partition.updatedAt().toString());
    json.writeArrayFieldStart("manifests");
    for (Manifest manifest : partition.manifests()) {
      json.writeStartObject();
      json.writeStringField("name", manifest.name());
      json.writeNumberField("files", manifest.files());
      json.writeNumberField("bytes", manifest.bytes());
      json.writeStringField("names", HexFormat.of().toHexDigits(manifest.names()));
      if (manifest.found() > 0) {
        json.writeNumberField("found", manifest.found());
      }
      json.writeEndObject();
    }
    json.writeEndArray();
    json.writeEndObject();
  }

  /**
   * The root that this text is.
   *
   * @throws IllegalArgumentException if it is neither; the message does not quote it
   */
  static Found parse(String text) {
    JsonNode json = RegistryJson.object(text);
    JsonNode schemaVersion = json.path("schemaVersion");
    if (schemaVersion.isMissingNode()) {
      return new Found.VersionOne(VersionOne.files(json));
    }
    if (schemaVersion.isIntegralNumber()
        && schemaVersion.canConvertToLong()
        && schemaVersion.asLong() > SCHEMA_VERSION) {
      throw new NewerVersionException(schemaVersion.asLong());
    }
    if (schemaVersion.asInt() != SCHEMA_VERSION || !json.path("partitions").isArray()) {
      throw new IllegalArgumentException("it has no schema version and partitions of one");
    }
    SortedMap<String, Root.Partition> partitions = new TreeMap<>();
    for (JsonNode partition : json.path("partitions")) {
      String path = partition.path("partition").asText();
      if (!DatasetFile.isPartition(path)) {
        throw new IllegalArgumentException("it has a partition that cannot be one");
      }
      if (partitions.put(path, partition(partition)) != null) {
        throw new IllegalArgumentException("it has a partition twice");
      }
    }
    return new Found.Current(
        new Root(
            RegistryJson.count(json, "version"), RegistryJson.time(json, "updatedAt"), partitions));
  }

  private static Root.Partition partition(JsonNode json) {
    List<Manifest> manifests = new ArrayList<>();
    for (JsonNode manifest : json.path("manifests")) {
      manifests.add(manifest(manifest));
    }
    if (manifests.isEmpty()) {
      throw new IllegalArgumentException("it has a partition without a manifest");
    }
    return new Root.Partition(RegistryJson.time(json, "updatedAt"), List.copyOf(manifests));
  }

  private static Manifest manifest(JsonNode json) {
    String name = json.path("name").asText();
    String names = json.path("names").asText();
    if (!NAME.matcher(name).matches() || !NAMES.matcher(names).matches()) {
      throw new IllegalArgumentException("it names a manifest that cannot be one");
    }
    return new Manifest(
        name,
        RegistryJson.count(json, "files"),
        RegistryJson.count(json, "bytes"),
        HexFormat.fromHexDigitsToLong(names),
        json.has("found") ? RegistryJson.count(json, "found") : 0);
  }

  /** A root that a later version wrote, which this one must not touch. */
  static final class NewerVersionException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    NewerVersionException(long version) {
      super(
          "it is of schema version %d, and this version of firstclaim knows %d: update it"
              .formatted(version, SCHEMA_VERSION));
    }
  }
}
