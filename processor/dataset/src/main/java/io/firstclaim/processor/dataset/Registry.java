package io.firstclaim.processor.dataset;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The files of the dataset, as the registry lists them: {@code {"updatedAt", "files", "bytes",
 * "partitions": {PARTITION: {"files", "bytes", "sizes": {NAME: bytes}}}}}. The counts are computed
 * from the list whenever it is written, so they always agree with it. For one thread.
 */
final class Registry {
  private static final JsonFactory JSON = new JsonFactory();
  private static final ObjectMapper MAPPER = new ObjectMapper(JSON);

  /** The sizes in bytes, by partition and name. */
  private final SortedMap<String, SortedMap<String, Long>> partitions = new TreeMap<>();

  /** A registry that lists nothing. */
  Registry() {}

  /**
   * The registry in this text.
   *
   * @throws IllegalArgumentException if the text is not one
   */
  static Registry parse(String text) {
    Registry registry = new Registry();
    for (Map.Entry<String, JsonNode> partition : read(text).path("partitions").properties()) {
      for (Map.Entry<String, JsonNode> file : partition.getValue().path("sizes").properties()) {
        String path = partition.getKey() + "/" + file.getKey();
        JsonNode size = file.getValue();
        long bytes = size.isIntegralNumber() && size.canConvertToLong() ? size.asLong() : -1;
        registry.add(
            DatasetFile.parse(path, bytes)
                .filter(parsed -> parsed.bytes() >= 0)
                .orElseThrow(
                    () -> new IllegalArgumentException("it lists a file that cannot be one")));
      }
    }
    return registry;
  }

  private static JsonNode read(String text) {
    try {
      JsonNode json = MAPPER.readTree(text);
      if (json.path("partitions").isObject()) {
        return json;
      }
    } catch (JsonProcessingException _) {
      // Its message would quote the text; the one for any other JSON will do.
    }
    throw new IllegalArgumentException("it is not a JSON object with partitions");
  }

  /** Lists a file; false if it was listed already. */
  boolean add(DatasetFile file) {
    @Nullable Long before =
        partitions
            .computeIfAbsent(file.partition(), _ -> new TreeMap<>())
            .put(file.name(), file.bytes());
    return before == null || before != file.bytes();
  }

  /** Takes a file off the list; false if it was not listed. */
  boolean remove(DatasetFile file) {
    SortedMap<String, Long> partition = partitions.get(file.partition());
    if (partition == null || partition.remove(file.name()) == null) {
      return false;
    }
    if (partition.isEmpty()) {
      partitions.remove(file.partition());
    }
    return true;
  }

  /** The files that it lists, by path. */
  List<DatasetFile> files() {
    List<DatasetFile> files = new ArrayList<>();
    partitions.forEach(
        (partition, sizes) ->
            sizes.forEach((name, bytes) -> files.add(new DatasetFile(partition, name, bytes))));
    return files;
  }

  /** As JSON. */
  String text(Instant updatedAt) {
    StringWriter text = new StringWriter();
    try (JsonGenerator json = JSON.createGenerator(text)) {
      json.writeStartObject();
      json.writeStringField("updatedAt", updatedAt.toString());
      writeCounts(json, files().stream().map(DatasetFile::bytes).toList());
      json.writeObjectFieldStart("partitions");
      for (Map.Entry<String, SortedMap<String, Long>> partition : partitions.entrySet()) {
        json.writeObjectFieldStart(partition.getKey());
        writeCounts(json, partition.getValue().values());
        json.writeObjectFieldStart("sizes");
        for (Map.Entry<String, Long> file : partition.getValue().entrySet()) {
          json.writeNumberField(file.getKey(), file.getValue());
        }
        json.writeEndObject();
        json.writeEndObject();
      }
      json.writeEndObject();
      json.writeEndObject();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return text.toString();
  }

  private static void writeCounts(JsonGenerator json, Iterable<Long> sizes) throws IOException {
    long files = 0;
    long bytes = 0;
    for (long size : sizes) {
      files++;
      bytes += size;
    }
    json.writeNumberField("files", files);
    json.writeNumberField("bytes", bytes);
  }
}
