package io.firstclaim.stack;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.TextNode;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A file with one JSON document per line. Identical lines are one event.
 *
 * @param digested how many events have no {@code id}, so that the SHA-256 of the line is their
 *     record ID
 */
record EventFile(String name, List<Event> events, int digested) {
  /** An event and the first line that has it. */
  private record Found(int line, Event event) {}

  private static final String SAMPLE = "earthquakes.jsonl";
  private static final ObjectReader JSON =
      JsonMapper.builder().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS).build().reader();

  /** The sample that comes with this module. */
  static EventFile sample() {
    try (InputStream in = EventFile.class.getResourceAsStream(SAMPLE)) {
      if (in == null) {
        throw new JobFailure(SAMPLE + " is missing from local-stack");
      }
      return read(SAMPLE, in);
    } catch (IOException e) {
      throw new JobFailure(SAMPLE + " cannot be read: " + e.getMessage(), e);
    }
  }

  static EventFile of(Path path) {
    try (InputStream in = Files.newInputStream(path)) {
      return read(path.toString(), in);
    } catch (NoSuchFileException e) {
      throw new JobFailure("input=" + path + ": there is no such file", e);
    } catch (IOException e) {
      throw new JobFailure("input=" + path + " cannot be read: " + e.getMessage(), e);
    }
  }

  private static EventFile read(String name, InputStream in) throws IOException {
    Map<String, Found> found = new LinkedHashMap<>();
    int digested = 0;
    byte[] bytes = in.readAllBytes();
    int number = 0;
    int end;
    for (int start = 0; start < bytes.length; start = end + 1) {
      end = endOfLine(bytes, start);
      number++;
      String line = decode(name, number, ByteBuffer.wrap(bytes, start, end - start));
      if (line.isBlank()) {
        continue;
      }
      String id = id(name, number, line);
      if (id.isEmpty()) {
        id = sha256(line);
        digested += found.containsKey(id) ? 0 : 1;
      }
      Found earlier = found.get(id);
      if (earlier == null) {
        found.put(id, new Found(number, new Event(id, line)));
      } else if (earlier.event().json().equals(line)) {
        found.put(id, new Found(earlier.line(), earlier.event().again()));
      } else {
        throw new JobFailure(
            ("%s:%d: another document has the ID %s in line %d, and a zone would dead-letter this one;"
                    + " give it an ID of its own, or leave it out")
                .formatted(name, number, TextNode.valueOf(id), earlier.line()));
      }
    }
    if (found.isEmpty()) {
      throw new JobFailure(name + ": there is no document in it");
    }
    return new EventFile(name, found.values().stream().map(Found::event).toList(), digested);
  }

  /** How many lines are the same as an earlier one. */
  int repeatedLines() {
    return events.stream().mapToInt(event -> event.lines() - 1).sum();
  }

  private static int endOfLine(byte[] bytes, int start) {
    int end = start;
    while (end < bytes.length && bytes[end] != '\n') {
      end++;
    }
    return end;
  }

  private static String decode(String name, int number, ByteBuffer line) {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(line).toString().strip();
    } catch (CharacterCodingException e) {
      throw new JobFailure("%s:%d: not UTF-8".formatted(name, number), e);
    }
  }

  /** The document's {@code id}, empty if it has none. */
  private static String id(String name, int number, String line) {
    try {
      JsonNode id = JSON.readTree(line).path("id");
      return id.isTextual() || id.isNumber() ? id.asText() : "";
    } catch (JsonProcessingException e) {
      throw new JobFailure(
          "%s:%d: not a JSON document: %s".formatted(name, number, e.getOriginalMessage()), e);
    }
  }

  private static String sha256(String line) {
    try {
      byte[] hash =
          MessageDigest.getInstance("SHA-256").digest(line.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(hash);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }
}
