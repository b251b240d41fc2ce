package io.firstclaim.processor.dataset;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * How a manifest is written: a line of JSON that says what it is, {@code {"schemaVersion": 2,
 * "partition", "files", "bytes"}}, and one for each file, {@code {"name", "bytes", "sha256", "id",
 * "timestamp"}}, of which the last three may be missing.
 */
final class ManifestText {
  static final int SCHEMA_VERSION = 2;

  /** A file's name is a hash of its ID; so a longer one can be left out. */
  private static final int LONGEST_ID = 200;

  private ManifestText() {}

  /** The manifest that lists these files of a partition. */
  static byte[] of(String partition, List<ListedFile> files) {
    ByteArrayOutputStream text = new ByteArrayOutputStream(200 * (files.size() + 1));
    try (JsonGenerator json = RegistryJson.MAPPER.getFactory().createGenerator(text)) {
      json.setRootValueSeparator(null);
      json.writeStartObject();
      json.writeNumberField("schemaVersion", SCHEMA_VERSION);
      json.writeStringField("partition", partition);
      json.writeNumberField("files", files.size());
      json.writeNumberField("bytes", files.stream().mapToLong(one -> one.file().bytes()).sum());
      json.writeEndObject();
      for (ListedFile file : files) {
        json.writeRaw('\n');
        write(json, file);
      }
      json.writeRaw('\n');
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return text.toByteArray();
  }

  private static void write(JsonGenerator json, ListedFile file) throws IOException {
    json.writeStartObject();
    json.writeStringField("name", file.file().name());
    json.writeNumberField("bytes", file.file().bytes());
    if (file.sha256() != null) {
      json.writeStringField("sha256", file.sha256());
    }
    if (file.id() != null && file.id().length() <= LONGEST_ID) {
      json.writeStringField("id", file.id());
    }
    if (file.timestamp() != null) {
      json.writeStringField("timestamp", file.timestamp().toString());
    }
    json.writeEndObject();
  }

  /**
   * The files that a manifest of this partition lists.
   *
   * @throws IllegalArgumentException if it is not one, or not whole
   */
  static List<ListedFile> parse(String partition, byte[] text) {
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(new ByteArrayInputStream(text), StandardCharsets.UTF_8))) {
      JsonNode head = RegistryJson.object(Objects.requireNonNullElse(lines.readLine(), ""));
      if (head.path("schemaVersion").asInt() != SCHEMA_VERSION
          || !head.path("partition").asText().equals(partition)) {
        throw new IllegalArgumentException("it is not a manifest of this partition");
      }
      List<ListedFile> files = new ArrayList<>();
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        files.add(file(partition, RegistryJson.object(line)));
      }
      if (files.size() != head.path("files").asInt(-1)) {
        throw new IllegalArgumentException("it has not as many files as it says");
      }
      return files;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static ListedFile file(String partition, JsonNode line) {
    String name = line.path("name").asText();
    if (!DatasetFile.isHash(name)) {
      throw new IllegalArgumentException("it lists a file that cannot be one");
    }
    String sha256 = text(line, "sha256");
    if (sha256 != null && !DatasetFile.isHash(sha256)) {
      throw new IllegalArgumentException("it has a hash that cannot be one");
    }
    return new ListedFile(
        new DatasetFile(partition, name, RegistryJson.count(line, "bytes")),
        sha256,
        text(line, "id"),
        line.has("timestamp") ? RegistryJson.time(line, "timestamp") : null);
  }

  private static @Nullable String text(JsonNode line, String field) {
    JsonNode value = line.get(field);
    return value == null ? null : value.asText();
  }
}
